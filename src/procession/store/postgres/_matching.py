"""Buffered messages meet new subscriptions and freed start events, within the step's transaction. It buffers nothing.

The channel's lock is held from before the step's statement to its commit, and by every publisher of that channel, so
a publisher that found no subscription has buffered its message before we look, or looks after us.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.limits import PAGE_MAX
from procession.store._shared.matching import (
    Candidate,
    Changes,
    Channel,
    channel_of,
    definitions_of,
    match_opened,
    match_released,
    message_subscriptions,
    settle,
)
from procession.store.postgres._columns import job_columns
from procession.store.postgres._sessions import Session
from procession.store.rows import NewSubscription, Step, StepOutcome, StepResult


async def write_changes(session: Session, changes: Changes, now: int | None) -> None:
    """Write what matching decided, within the session's transaction: one statement and one insert of jobs."""
    rest = (changes.taken, changes.used, changes.kept, changes.held, changes.buffered, changes.message_ids)
    if any(rest):
        await session.fetch(
            "match_write",
            sorted(changes.taken),
            sorted(changes.used),
            *_columns(sorted(changes.kept), 2),
            *_columns(sorted(changes.held), 4),
            *_columns(changes.buffered, 9),
            now,
            *_columns(sorted(changes.message_ids), 6),
        )
    if changes.jobs:
        await session.fetch("enqueue", now, *job_columns(changes.jobs))


async def lock_channels(session: Session, steps: Sequence[Step]) -> None:
    """Take the locks of all channels that the steps concern, in the order that everyone takes them."""
    channels = sorted({channel_of(each) for step in steps for each in message_subscriptions(step)})
    released = [(step.instance, step.release_channel) for step in steps if step.release_channel]
    if released:
        await session.fetch("lock_step_channels", *_columns(channels, 3), *_columns(released, 2))
    else:
        await session.fetch("lock_channels", *_columns(channels, 3))


async def match_new_subscriptions(
    session: Session, applied: Sequence[Step], keys: Keys, now: int | None
) -> dict[int, StepResult]:
    """Give buffered messages to what the applied steps opened; the answers of the steps that got one."""
    opened = sorted((each for step in applied for each in message_subscriptions(step)), key=_key_of)
    released = {step.instance: step.release_channel for step in applied if step.release_channel}
    changes, messages = Changes(), dict[int, Candidate]()
    woken: set[int] = set()
    if opened:
        waiting = await _candidates(session, opened, messages, now)
        woken |= match_opened(opened, definitions_of(applied), waiting, keys, changes)
    if released:
        rows = await session.fetch("match_released", list(released), list(released.values()), 1 + len(opened), now)
        woken |= match_released(rows, messages, keys, changes)
    for candidate in messages.values():
        if candidate.was_given:
            settle(candidate, changes)
    await write_changes(session, changes, now)
    answer = StepResult(outcome=StepOutcome.APPLIED, woken=[FOLLOW_UP_QUEUE])
    return dict.fromkeys(woken, answer)


async def _candidates(
    session: Session, opened: list[NewSubscription], messages: dict[int, Candidate], now: int | None
) -> dict[tuple[Channel, str], list[Candidate]]:
    counts = Counter[tuple[str, str, str, str]]()
    for each in opened:
        counts[*channel_of(each), each.process_id] += 1 if each.once else PAGE_MAX
    rows = await session.fetch(
        "match_subscriptions", *_columns([(*channel, count) for channel, count in sorted(counts.items())], 5), now
    )
    waiting: dict[tuple[Channel, str], list[Candidate]] = defaultdict(list)
    for row in rows:
        candidate = messages.setdefault(row["key"], Candidate(row))
        channel = (row["tenant"], row["name"], row["correlation_key"])
        waiting[channel, row["process_id"]].append(candidate)
    return waiting


def _key_of(each: NewSubscription) -> int:
    return each.key


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
