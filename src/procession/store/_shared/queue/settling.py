"""Runs end, say how they get on, and are lost with their process: for jobs with traits, and with the whole answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from procession import limits
from procession.errors import InvalidValue
from procession.jobs.kinds import JobState
from procession.jobs.options import Trait
from procession.store._shared.queue.ending import End, end_jobs, put_back
from procession.store._shared.queue.rows import (
    JobRow,
    job_rows,
    lock_batches,
    lock_jobs,
    lock_limits,
    lock_runs,
    read_jobs,
)
from procession.store._shared.queue.script import Script, ask_for
from procession.store._shared.refusals import clean_text, refusal_of_json
from procession.store._shared.texts import crash_error
from procession.store.rows import JobEnd, JobOutcome, Rescue
from procession.store.rows.queue import Answer, LogLine, ReportAnswer, RunReport

SHORT = 200  # characters of a worker's name, and of an error's type
DROPPED = "(the lines after this one were dropped: JOB_LOG_LINES_MAX)"


class Settled(msgspec.Struct):
    """The answers to outcomes, and the queues that got jobs to claim."""

    answers: list[Answer]
    woken: set[str]


class Lost(msgspec.Struct):
    """What became of the runs of dead processes."""

    jobs: int = 0
    failed: list[int] = []
    woken: list[str] = []


def settle(outcomes: Sequence[JobOutcome], now: int) -> Script[Settled]:
    """End runs under their leases; one answer each, in order. Of several outcomes of one job the first counts."""
    rejected = {outcome.key for outcome in outcomes if refusal_of_outcome(outcome)}
    seen = yield from read_jobs(outcome.key for outcome in outcomes)
    runs = [seen[each.key] for each in outcomes if each.key in seen and seen[each.key].is_held_by(each.lease)]
    yield from _lock_around(runs)
    held = yield from lock_runs(job.key for job in runs)
    answers: list[Answer] = []
    ends: list[End] = []
    back: list[JobRow] = []
    for outcome in outcomes:
        job, before = held.get(outcome.key), seen.get(outcome.key)
        if before is None or not before.is_held_by(outcome.lease):
            answers.append(Answer.STALE)
        elif outcome.key in rejected:
            answers.append(Answer.REJECTED)
        elif job is None:
            answers.append(Answer.BUSY)
        elif not job.is_held_by(outcome.lease):
            answers.append(Answer.STALE)
        else:
            del held[outcome.key]
            seen.pop(outcome.key)
            answers.append(Answer.APPLIED)
            end = _end_of(job, outcome, now)
            if end is None:
                back.append(job)
            else:
                ends.append(end)
    woken = yield from end_jobs(ends, now)
    woken |= yield from put_back(back, now)
    return Settled(answers, woken)


def report(reports: Sequence[RunReport], now: int) -> Script[list[ReportAnswer]]:
    """Write what runs say, each under its lease."""
    refused = {each.key for each in reports if refusal_of_report(each)}
    seen = yield from read_jobs(each.key for each in reports)
    runs = [each.key for each in reports if each.key in seen and seen[each.key].is_leased_by(each.lease)]
    held = yield from lock_runs(runs)
    answers: list[ReportAnswer] = []
    applied: list[RunReport] = []
    for each in reports:
        before, job = seen.get(each.key), held.get(each.key)
        reason = job.cancel_reason if job is not None else None
        if before is None or not before.is_leased_by(each.lease):
            answers.append(ReportAnswer(answer=Answer.STALE))
        elif each.key in refused:
            answers.append(ReportAnswer(answer=Answer.REJECTED, cancel_reason=reason))
        elif job is None:
            answers.append(ReportAnswer(answer=Answer.BUSY))
        elif not job.is_leased_by(each.lease):
            answers.append(ReportAnswer(answer=Answer.STALE))
        else:
            applied.append(each)
            answers.append(ReportAnswer(answer=Answer.APPLIED, cancel_reason=reason))
    yield from ask_for("report_runs", [_reported(each, held[each.key]) for each in sorted(applied, key=_key_of)])
    yield from _write_logs([each for each in applied if each.log], now)
    yield from _write_attempts([each for each in applied if each.failed is not None], held, now)
    return answers


def rescue_runs(limit: int, now: int, *, crash_budget: int, backoff_ms: int) -> Script[Lost]:
    """Give back the jobs with traits of processes that are gone; the dead ones have no row any more."""
    lost = job_rows((yield from ask_for("find_lost_runs", [limit])))
    yield from _lock_around(lost)
    held = yield from lock_runs(job.key for job in lost)
    result = Lost(0, [], [])
    ends: list[End] = []
    back: list[JobRow] = []
    owners = {job.key: (job.lease, job.owner) for job in lost}
    for key, job in sorted(held.items()):
        if (job.lease, job.owner) != owners[key] or job.state != JobState.RUNNING:
            continue
        result.jobs += 1
        job.crashes += 1
        if job.has(Trait.CANCELING):
            ends.append(End(job, JobState.DELETED, job.cancel_reason or ""))
        elif job.crashes > crash_budget:
            ends.append(End(job, JobState.FAILED, crash_error(job.crashes)))
            result.failed.append(key)
        else:
            if job.crashes > 1 and backoff_ms > 0:
                job.run_at = now + backoff_ms
            else:
                job.run_at = min(job.run_at, now)
            back.append(job)
    woken = yield from end_jobs(ends, now)
    woken |= yield from put_back(back, now)
    result.woken = sorted(woken)
    return result


def with_lost(rescue: Rescue, lost: Lost) -> Rescue:
    """A rescue of jobs without traits, and what became of those with."""
    rescue.jobs += lost.jobs
    rescue.failed = sorted([*rescue.failed, *lost.failed])
    rescue.woken = sorted({*rescue.woken, *lost.woken})
    return rescue


def release_runs(node: int, now: int) -> Script[list[str]]:
    """A process stops: its jobs with traits wait as before their claims."""
    found = job_rows((yield from ask_for("find_runs_of", [node])))
    yield from _lock_around(found)
    held = yield from lock_jobs(job.key for job in found)
    ends: list[End] = []
    back: list[JobRow] = []
    for job in held.values():
        if job.state != JobState.RUNNING or job.owner != node:
            continue
        if job.has(Trait.CANCELING):
            ends.append(End(job, JobState.DELETED, job.cancel_reason or ""))
        else:
            job.attempt -= 1
            back.append(job)
    woken = yield from end_jobs(ends, now)
    woken |= yield from put_back(back, now)
    return sorted(woken)


def expire_jobs(limit: int, now: int) -> Script[tuple[list[int], list[str]]]:
    """Fail what waits beyond its deadline."""
    found = job_rows((yield from ask_for("find_expired", [limit], now)))
    yield from _lock_around(found)
    held = yield from lock_runs(job.key for job in found)
    waiting = (JobState.READY, JobState.SCHEDULED, JobState.AWAITING, JobState.THROTTLED)
    over = [job for _, job in sorted(held.items()) if job.state in waiting and 0 < job.deadline_at <= now]
    words = "Expected the job to be started before its deadline, but nobody did"
    woken = yield from end_jobs([End(job, JobState.FAILED, words) for job in over], now)
    return [job.key for job in over], sorted(woken)


def refusal_of_outcome(outcome: JobOutcome) -> str:
    """Why no store can keep this outcome, or an empty text."""
    return refusal_of_json(outcome.output, "output", limits.JOB_OUTPUT_BYTES_MAX, "JOB_OUTPUT_BYTES_MAX")


def refusal_of_report(each: RunReport) -> str:
    """Why no store can keep this report, or an empty text."""
    if not (each.progress < 0 or 0 <= each.progress <= 1):
        return f"Expected progress between 0 and 1, found {each.progress}"
    return refusal_of_json(each.checkpoint or b"", "checkpoint", limits.CHECKPOINT_BYTES_MAX, "CHECKPOINT_BYTES_MAX")


def check_once(keys: Iterable[int]) -> None:
    """Raise InvalidValue for a job that stands in a call twice."""
    seen: set[int] = set()
    for key in keys:
        if key in seen:
            raise InvalidValue(f"Expected each job once in a call, found job {key} twice")
        seen.add(key)


def _lock_around(jobs: Sequence[JobRow]) -> Script[None]:
    """Lock what comes before jobs in the order of locks: unique keys, limits, batches."""
    yield from ask_for("lock_unique_of", sorted(job.key for job in jobs if job.has(Trait.UNIQUE)))
    limited = [job for job in jobs if job.has(Trait.LIMITED)]
    yield from lock_limits(limit.key for job in limited for limit in job.options.limits)
    yield from lock_batches(job.batch for job in jobs if job.batch)


def _end_of(job: JobRow, outcome: JobOutcome, now: int) -> End | None:
    """The end that an outcome means for its job, or None where it goes on: the job's row is changed then."""
    canceled = job.has(Trait.CANCELING)
    match outcome.end:
        case JobEnd.DONE:
            return End(job, JobState.SUCCEEDED, output=outcome.output, keep_ms=outcome.keep_ms)
        case JobEnd.CANCELED:
            return End(job, JobState.DELETED, outcome.error or job.cancel_reason or "")
        case JobEnd.RETRY | JobEnd.SNOOZE | JobEnd.RELEASE | JobEnd.FAILED if canceled:
            return End(job, JobState.DELETED, job.cancel_reason or "")
        case JobEnd.RETRY | JobEnd.FAILED:
            job.retries = outcome.retries if outcome.retries >= 0 else max(0, job.retries - 1)
            job.crashes = 0
        case JobEnd.SNOOZE:
            job.attempt -= 1
            job.crashes = 0
        case JobEnd.RELEASE:
            job.attempt -= 1
    if outcome.end == JobEnd.FAILED:
        return End(job, JobState.FAILED, outcome.error)
    job.error = clean_text(outcome.error) or job.error
    if outcome.end != JobEnd.RELEASE:
        job.run_at = now + outcome.delay_ms
    elif job.run_at > now:
        job.run_at = now
    return None


def _reported(each: RunReport, job: JobRow) -> dict[str, object]:
    return {
        "key": each.key,
        "progress": each.progress if each.progress >= 0 else None,
        "progress_text": clean_text(each.progress_text) if each.progress_text is not None else None,
        "checkpoint": each.checkpoint.decode() if each.checkpoint is not None else None,
        "traits": int(job.traits | added) if (added := _traits_of(each, job)) else None,
    }


def _traits_of(each: RunReport, job: JobRow) -> int:
    """What goes with the job from now on. A job of a process has no traits: its steps end it, and a sweep forgets."""
    if job.instance:
        return 0
    return (Trait.LOGGED if each.log else 0) | (Trait.TRIED if each.failed is not None else 0)


def _write_attempts(reports: Sequence[RunReport], held: Mapping[int, JobRow], now: int) -> Script[None]:
    rows: list[dict[str, object]] = []
    for each in sorted(reports, key=_key_of):
        failed = each.failed
        if failed is not None:
            texts = {"worker": clean_text(failed.worker)[:SHORT], "type": clean_text(failed.type)[:SHORT]}
            message = clean_text(failed.message)[: limits.JOB_ATTEMPT_CHARS_MAX]
            row = {"job": each.key, "lease": each.lease, "attempt": failed.attempt, "at": now, "message": message}
            rows.append({**row, **texts, "instance": held[each.key].instance or 0})
    yield from ask_for("add_attempts", rows)
    many = [each.key for each in reports if each.lease > limits.JOB_ATTEMPTS_KEPT_MAX]
    yield from ask_for("trim_attempts", sorted(many), limits.JOB_ATTEMPTS_KEPT_MAX)


def _write_logs(reports: Sequence[RunReport], now: int) -> Script[None]:
    counts = {row[0]: row[1] for row in (yield from ask_for("count_log", sorted(each.key for each in reports)))}
    lines: list[dict[str, object]] = []
    for each in sorted(reports, key=_key_of):
        number = counts.get(each.key, 0)
        for line in each.log:
            number += 1
            if number > limits.JOB_LOG_LINES_MAX + 1:
                break
            dropped = number > limits.JOB_LOG_LINES_MAX
            lines.append(_log_row(each.key, number, LogLine(text=DROPPED) if dropped else line, now))
    yield from ask_for("add_log", lines)


def _log_row(job: int, number: int, line: LogLine, now: int) -> dict[str, object]:
    text = clean_text(line.text)[: limits.JOB_LOG_LINE_CHARS_MAX]
    return {"job": job, "number": number, "at": now, "level": line.level, "text": text}


def _key_of(row: RunReport) -> int:
    return row.key
