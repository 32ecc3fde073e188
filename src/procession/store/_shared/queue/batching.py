"""Batches of jobs: opened, sealed, counted; their ends are in ``ending``."""

from __future__ import annotations

from collections import Counter

from procession import limits
from procession.errors import Conflict, InvalidValue, NotFound
from procession.store._shared.queue.ending import end_jobs
from procession.store._shared.queue.rows import BatchRow, lock_batches, write_batches
from procession.store._shared.queue.script import Script, ask_for
from procession.store.rows.queue import JobBatchState, NewJobBatch


def open_batch(batch: NewJobBatch, now: int) -> Script[bool]:
    """Open a batch; within another one it is a member of that."""
    found = yield from lock_batches([batch.key, *([batch.parent] if batch.parent else [])])
    if batch.key in found:
        return False
    if batch.parent:
        parent = found.get(batch.parent)
        if parent is None or parent.state != JobBatchState.OPEN:
            state = "no such batch" if parent is None else f"it {JobBatchState(parent.state).name}"
            raise Conflict(f"Expected batch {batch.parent} to be open for new members, found {state}")
        yield from _check_depth(batch.parent)
        parent.total += 1
        yield from write_batches([parent])
    yield from ask_for("add_batches", [_row(batch, now, is_flow=False)])
    return True


def open_flow(flow: NewJobBatch, now: int) -> Script[BatchRow]:
    """Open a batch that is a flow, for the jobs that come with it."""
    yield from ask_for("add_batches", [_row(flow, now, is_flow=True)])
    return (yield from lock_batches([flow.key]))[flow.key]


def seal_flow(flow: BatchRow, now: int) -> None:
    """All its jobs are counted; one of which all were duplicates is over."""
    flow.state = JobBatchState.SEALED if flow.total else JobBatchState.FINISHED
    flow.finished_at = 0 if flow.total else now


def seal_batch(key: int, now: int) -> Script[list[str]]:
    """Let no more members in; the queues that got jobs to claim by that."""
    batch = (yield from lock_batches([key])).get(key)
    if batch is None:
        raise NotFound(f"Expected a batch of jobs with the key {key}")
    if batch.state != JobBatchState.OPEN:
        return []
    batch.state = JobBatchState.SEALED
    yield from write_batches([batch])
    return sorted((yield from end_jobs([], now, {key: Counter()})))


def _row(batch: NewJobBatch, now: int, *, is_flow: bool) -> dict[str, object]:
    fields = {"key": batch.key, "parent": batch.parent, "created_at": now, "title": batch.title, "tenant": batch.tenant}
    return {**fields, "is_flow": int(is_flow)}


def _check_depth(key: int) -> Script[None]:
    depth = 1
    while key:
        rows = yield from ask_for("batch_parent", [key])
        key = rows[0][0] if rows else 0
        depth += 1
        if depth > limits.BATCH_DEPTH_MAX:
            raise InvalidValue(
                f"Expected batches within batches at most {limits.BATCH_DEPTH_MAX} deep (BATCH_DEPTH_MAX)"
            )
