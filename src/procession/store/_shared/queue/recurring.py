"""Recurring jobs: kept, changed by declaration, fired once per version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from procession.jobs.kinds import JobKind
from procession.jobs.transitions import FINAL
from procession.limits import FIRING_JOBS_SHOWN_MAX, FIRINGS_KEPT_MAX
from procession.store._shared.queue.rows import read_jobs
from procession.store._shared.queue.script import Script, as_bytes, ask_for, encode
from procession.store._shared.queue.submitting import submit
from procession.store.rows import NewJob
from procession.store.rows.queue import Fired, Firing, RecurringJob, Submitted
from procession.store.rows.queue_reading import PastFiring, StoredRecurring


class Template(msgspec.Struct):
    """A job's JSON, with its arguments as text."""

    job: NewJob
    args: str


_decode: Final = msgspec.json.Decoder(Template).decode
_decode_firings: Final = msgspec.json.Decoder(list[PastFiring]).decode
Row = dict[str, object]


def put(jobs: Sequence[RecurringJob], group: str | None, tenant: str, now: int) -> Script[tuple[list[str], list[str]]]:
    """Insert or change recurring jobs, and remove those of the group that are not among them."""
    names: list[Row] = [{"tenant": each.tenant, "name": each.name} for each in sorted(jobs, key=_name_of)]
    found = {(row[0], row[1]): _stored(row) for row in (yield from ask_for("lock_recurring", names))}
    new: list[Row] = []
    changed: list[Row] = []
    for each in sorted(jobs, key=_name_of):
        before = found.get((each.tenant, each.name))
        row = _row(each, now)
        if before is None:
            new.append(row)
        elif _row_of(before, now) != {**row, "next_at": 0}:
            changed.append({**row, "next_at": each.next_at if each.cycle != before.cycle else before.next_at})
    yield from ask_for("add_recurring", new)
    yield from ask_for("change_recurring", changed)
    removed: list[str] = []
    if group is not None:
        kept = {each.name for each in jobs if each.tenant == tenant}
        rows = yield from ask_for("recurring_group", [group], tenant)
        removed = sorted(row[0] for row in rows if row[0] not in kept)
        yield from ask_for("remove_recurring", [{"tenant": tenant, "name": name} for name in removed])
    return sorted(str(row["name"]) for row in (*new, *changed)), removed


def remove(name: str, tenant: str) -> Script[bool]:
    """Remove one."""
    names: list[Row] = [{"tenant": tenant, "name": name}]
    found = yield from ask_for("lock_recurring", names)
    yield from ask_for("remove_recurring", names if found else [])
    return bool(found)


def due(limit: int, now: int) -> Script[tuple[list[StoredRecurring], int]]:
    """What is due, and the instant of the next one that is not."""
    found = [_stored(row) for row in (yield from ask_for("due_recurring", [limit], now))]
    rows = yield from ask_for("next_recurring", [now])
    return found, (rows[0][0] or 0) if rows else 0


def fire(firing: Firing, now: int) -> Script[Fired]:
    """Advance one recurring job and insert what is due, if it has the version that was looked at."""
    names: list[Row] = [{"tenant": firing.tenant, "name": firing.name}]
    found = [_stored(row) for row in (yield from ask_for("lock_recurring", names))]
    if not found or (not firing.manual and (found[0].version != firing.version or found[0].paused)):
        return Fired(applied=False)
    before = found[0]
    jobs = list(firing.jobs)
    if jobs and not before.overlap and not firing.manual and (yield from _is_alive(before.last_job)):
        jobs = []
    if not before.overlap and not firing.manual:
        del jobs[1:]  # what is made up for at once would overlap
    submitted = (yield from submit(jobs, now)) if jobs else []
    change: Row = {
        "tenant": firing.tenant,
        "name": firing.name,
        "next_at": before.next_at if firing.manual else firing.next_at,
        "last_at": firing.last_at or before.last_at,
        "last_job": submitted[-1].key if submitted else before.last_job,
        "fired": before.fired + len(submitted),
        "firings": encode(_firings(before, firing, submitted, now)).decode(),
    }
    yield from ask_for("advance_recurring", [change])
    return Fired(applied=True, submitted=submitted)


def _firings(before: StoredRecurring, firing: Firing, submitted: list[Submitted], now: int) -> list[PastFiring]:
    """The last firings, with this one; one that only ends a cycle is none."""
    if not firing.jobs:
        return before.firings
    due_at = 0 if firing.manual else firing.last_at
    past = PastFiring(at=now, due_at=due_at, jobs=[each.key for each in submitted[-FIRING_JOBS_SHOWN_MAX:]])
    return [*before.firings, past][-FIRINGS_KEPT_MAX:]


def pause(name: str, tenant: str, *, paused: bool, next_at: int) -> Script[bool]:
    """Pause or resume one."""
    names: list[Row] = [{"tenant": tenant, "name": name}]
    found = [_stored(row) for row in (yield from ask_for("lock_recurring", names))]
    if not found:
        return False
    if found[0].paused != paused:
        at = found[0].next_at if paused or not next_at else next_at
        change: Row = {"tenant": tenant, "name": name, "paused": int(paused), "next_at": at}
        yield from ask_for("pause_recurring", [change])
    return True


def listed(name: str, group: str | None, tenant: str, after: str, limit: int) -> Script[list[StoredRecurring]]:
    """A page, by name."""
    which = {"name": name, "group": group, "tenant": tenant, "after": after, "limit": limit}
    return [_stored(row) for row in (yield from ask_for("list_recurring", [which]))]


def _is_alive(key: int) -> Script[bool]:
    job = (yield from read_jobs([key] if key else [])).get(key)
    return job is not None and job.state not in FINAL


def _name_of(each: RecurringJob) -> tuple[str, str]:
    return each.tenant, each.name


def _row(each: RecurringJob, now: int) -> Row:
    return {
        "tenant": each.tenant,
        "name": each.name,
        "next_at": each.next_at,
        "missed": int(each.missed),
        "overlap": int(each.overlap),
        "created_at": now,
        "cycle": each.cycle,
        "sync_group": each.group,
        "job": _template(each.job),
    }


def _row_of(stored: StoredRecurring, now: int) -> Row:
    """A stored one as it would be written, without its next firing."""
    return {
        "tenant": stored.tenant,
        "name": stored.name,
        "next_at": 0,
        "missed": stored.missed,
        "overlap": int(stored.overlap),
        "created_at": now,
        "cycle": stored.cycle,
        "sync_group": stored.group,
        "job": _template(stored.job),
    }


def _template(job: NewJob) -> str:
    bare = msgspec.structs.replace(job, key=0, args=b"", run_at=0, delay_ms=0, owner=0)
    return encode(Template(bare, job.args.decode())).decode()


def _stored(row: Any) -> StoredRecurring:  # noqa: ANN401 - a row of a statement
    error = ""
    try:
        template = _decode(as_bytes(row[12]))
    except msgspec.MsgspecError as unreadable:  # one that others have written: it must not stop those beside it
        template, error = Template(NewJob(key=0, kind=JobKind.TASK, queue="", type=""), ""), str(unreadable)
    return StoredRecurring(
        tenant=row[0],
        name=row[1],
        next_at=row[2],
        last_at=row[3],
        last_job=row[4],
        fired=row[5],
        version=row[6],
        missed=row[7],
        overlap=bool(row[8]),
        paused=bool(row[9]),
        cycle=row[10],
        group=row[11],
        job=msgspec.structs.replace(template.job, args=template.args.encode()),
        created_at=row[13],
        firings=_decode_firings(as_bytes(row[14])) if row[14] else [],
        error=error,
    )
