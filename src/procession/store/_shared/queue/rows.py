"""The rows that scripts read from the tables and write to them. Plain data and how it is turned; no rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from procession.jobs.kinds import REMOTE, JobState
from procession.jobs.limits import LimitState
from procession.jobs.options import JobOptions, Trait
from procession.store._shared.queue.script import Rows, Script, ask_for, encode

_decode_options: Final = msgspec.json.Decoder(JobOptions).decode
NO_OPTIONS: Final = JobOptions()


class JobRow(msgspec.Struct):
    """A job of the queue: the columns of ``read_jobs`` and of all other statements that find jobs, in order."""

    key: int
    kind: int
    state: int
    queue: str
    type: str
    priority: int
    run_at: int
    attempt: int
    retries: int
    crashes: int
    lease: int
    owner: int
    created_at: int
    instance: int
    traits: int
    batch: int
    deadline_at: int
    tenant: str
    error: str
    waits_for: str
    cancel_reason: str | None
    options_json: str | bytes | None
    ended_at: int = 0  # only written

    @property
    def options(self) -> JobOptions:
        """What it was given beyond a plain job."""
        return read_options(self.options_json) or NO_OPTIONS

    def is_held_by(self, lease: int) -> bool:
        """Whether it runs under this lease."""
        return self.lease == lease and self.state == JobState.RUNNING

    def is_leased_by(self, lease: int) -> bool:
        """Whether somebody has it under this lease, be it a worker that is no process of ours."""
        return self.lease == lease and (self.state == JobState.RUNNING or self.owner == REMOTE)

    def has(self, trait: Trait) -> bool:
        """Whether it has this trait."""
        return bool(self.traits & trait)

    def as_change(self) -> dict[str, object]:
        """The row of ``update_jobs``, which also frees the owner."""
        return {
            "key": self.key,
            "state": int(self.state),
            "run_at": self.run_at,
            "priority": self.priority,
            "attempt": self.attempt,
            "retries": self.retries,
            "crashes": self.crashes,
            "error": self.error or None,
            "waits_for": self.waits_for or None,
            "ended_at": self.ended_at or None,
        }


class BatchRow(msgspec.Struct):
    """A batch of jobs: the columns of ``lock_batches``, in order."""

    key: int
    state: int
    parent: int
    total: int
    succeeded: int
    failed: int
    deleted: int
    created_at: int
    finished_at: int
    title: str
    tenant: str
    is_flow: int = 0  # only written

    @property
    def is_final(self) -> bool:
        """Whether every member is final."""
        return self.total == self.succeeded + self.failed + self.deleted


def read_options(written: str | bytes | None) -> JobOptions | None:
    """Options of a row. What others have written there and nobody can read must not stop the jobs beside it."""
    try:
        return _decode_options(written) if written else None
    except msgspec.MsgspecError:
        return None


def job_rows(rows: Rows) -> list[JobRow]:
    """Jobs of a statement."""
    return [JobRow(*row) for row in rows]


def read_jobs(keys: Iterable[int]) -> Script[dict[int, JobRow]]:
    """Jobs of the queue as they are seen, without a lock."""
    return {job.key: job for job in job_rows((yield from ask_for("read_jobs", sorted(set(keys)))))}


def lock_jobs(keys: Iterable[int]) -> Script[dict[int, JobRow]]:
    """Jobs of the queue, held until the end of the transaction."""
    return {job.key: job for job in job_rows((yield from ask_for("lock_jobs", sorted(set(keys)))))}


def lock_runs(keys: Iterable[int]) -> Script[dict[int, JobRow]]:
    """The same without those that somebody else holds."""
    return {job.key: job for job in job_rows((yield from ask_for("lock_runs", sorted(set(keys)))))}


def lock_limits(keys: Iterable[str]) -> Script[dict[str, LimitState]]:
    """Limits held until the end of the transaction, with their slots counted after that."""
    return (yield from _limits("lock_limits", keys))


def read_limits(keys: Iterable[str]) -> Script[dict[str, LimitState]]:
    """Limits as they are seen, without a lock."""
    return (yield from _limits("read_limits", keys))


def _limits(statement: str, keys: Iterable[str]) -> Script[dict[str, LimitState]]:
    keys = sorted(set(keys))
    found = {row[0]: LimitState(*row) for row in (yield from ask_for(statement, keys))}
    for key, used, parked in (yield from ask_for("count_slots", sorted(found))):
        found[key].used, found[key].parked = used, bool(parked)
    return found


def write_limits(states: Iterable[LimitState]) -> Script[Rows]:
    """Write limits that are held."""
    rows = [
        {
            "key": state.key,
            "most": state.most,
            "rate": state.rate,
            "per_ms": state.per_ms,
            "burst": state.burst,
            "reserved_us": state.reserved_us,
            "started_us": state.started_us,
            "moved_us": state.moved_us,
            "late_us": state.late_us,
        }
        for state in states
    ]
    return (yield from ask_for("update_limits", rows))


def lock_batches(keys: Iterable[int]) -> Script[dict[int, BatchRow]]:
    """Batches of jobs, held until the end of the transaction."""
    return {row[0]: BatchRow(*row) for row in (yield from ask_for("lock_batches", sorted(set(keys))))}


def write_batches(batches: Iterable[BatchRow]) -> Script[Rows]:
    """Write batches that are held."""
    return (yield from ask_for("update_batches", [msgspec.structs.asdict(batch) for batch in batches]))


def write_jobs(jobs: Sequence[JobRow]) -> Script[Rows]:
    """Write jobs that are held; nobody owns them afterwards."""
    return (yield from ask_for("update_jobs", [job.as_change() for job in sorted(jobs, key=key_of)]))


def key_of(row: Any) -> int:  # noqa: ANN401 - any row with a key
    """What rows are written in the order of."""
    return row.key


def options_json(options: JobOptions | None) -> str | None:
    """Options as they are stored."""
    return encode(options).decode() if options is not None else None
