"""Buffered messages meet new subscriptions and freed start events, within the step's transaction. It buffers nothing.

The channel's lock is held from before the step's statement to its commit, and by every publisher of that channel, so
a publisher that found no subscription has buffered its message before we look, or looks after us.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.limits import PAGE_MAX
from procession.store._shared.follow_ups import Offered, correlate_job, start_job
from procession.store.postgres._columns import encode_json, job_columns
from procession.store.postgres._sessions import Session
from procession.store.rows import NewJob, NewSubscription, Step, StepOutcome, StepResult, StoredSubscription

MESSAGE: Final = 1  # model.Trigger.MESSAGE: a number in the rows, the model itself is no concern of a store
Channel = tuple[str, str, str]  # tenant, name, correlation key


class Changes:
    """What matching writes, gathered while it decides; written by one statement and one insert of jobs."""

    def __init__(self) -> None:
        self.jobs: list[NewJob] = []
        self.taken: list[int] = []  # subscriptions
        self.used: list[int] = []  # messages to delete
        self.kept: list[tuple[int, bytes]] = []  # messages that went to these process ids
        self.held: list[tuple[str, str, str, int]] = []  # tenant, process id, correlation key, instance
        self.buffered: list[tuple[Any, ...]] = []
        self.message_ids: list[tuple[str, str, str, str, int, int]] = []

    async def write(self, session: Session, now: int | None) -> None:
        """Write all of it, within the session's transaction."""
        rest = (self.taken, self.used, self.kept, self.held, self.buffered, self.message_ids)
        if any(rest):
            await session.fetch(
                "match_write",
                sorted(self.taken),
                sorted(self.used),
                *_columns(sorted(self.kept), 2),
                *_columns(sorted(self.held), 4),
                *_columns(self.buffered, 9),
                now,
                *_columns(sorted(self.message_ids), 6),
            )
        if self.jobs:
            await session.fetch("enqueue", now, *job_columns(self.jobs))


class Candidate:
    """A buffered message, and the process ids that it goes to while a batch is matched."""

    def __init__(self, row: Any) -> None:  # noqa: ANN401 - a row of the driver
        self.offered = Offered(
            key=row["key"],
            name=row["name"],
            correlation_key=row["correlation_key"],
            variables=row["variables"],
            expires_at=row["expires_at"],
            tenant=row["tenant"],
        )
        self.delivered: list[str] = list(row["process_ids"])
        self.was_given = False
        self._only: str = row["only"]
        self._starts: list[str] = row["starts"]

    def give_to(self, process_id: str) -> None:
        """It is on its way to an instance of this process id, and goes to no other one of it."""
        self.delivered.append(process_id)
        self.was_given = True

    def is_wanted(self) -> bool:
        """Whether a start event, held up by its running instance, may still get it."""
        return any(process_id not in self.delivered and self._only in ("", process_id) for process_id in self._starts)


def needs_channel(step: Step) -> bool:
    """Whether a step opens a message subscription or frees a start channel."""
    return bool(step.release_channel) or any(each.trigger == MESSAGE for each in step.new_subscriptions)


async def lock_channels(session: Session, steps: Sequence[Step]) -> None:
    """Take the locks of all channels that the steps concern, in the order that everyone takes them."""
    channels = sorted({_channel(each) for step in steps for each in _messages(step)})
    released = [(step.instance, step.release_channel) for step in steps if step.release_channel]
    if released:
        await session.fetch("lock_step_channels", *_columns(channels, 3), *_columns(released, 2))
    else:
        await session.fetch("lock_channels", *_columns(channels, 3))


async def match_new_subscriptions(
    session: Session, applied: Sequence[Step], keys: Keys, now: int | None
) -> dict[int, StepResult]:
    """Give buffered messages to what the applied steps opened; the answers of the steps that got one."""
    opened = sorted((each for step in applied for each in _messages(step)), key=_key_of)
    released = {step.instance: step.release_channel for step in applied if step.release_channel}
    changes, messages = Changes(), dict[int, Candidate]()
    woken: set[int] = set()
    if opened:
        waiting = await _candidates(session, opened, messages, now)
        woken |= _match_opened(opened, _definitions(applied), waiting, keys, changes)
    if released:
        rows = await session.fetch("match_released", list(released), list(released.values()), 1 + len(opened), now)
        woken |= _match_released(rows, messages, keys, changes)
    for candidate in messages.values():
        if candidate.was_given:
            _settle(candidate, changes)
    await changes.write(session, now)
    answer = StepResult(outcome=StepOutcome.APPLIED, woken=[FOLLOW_UP_QUEUE])
    return dict.fromkeys(woken, answer)


async def _candidates(
    session: Session, opened: list[NewSubscription], messages: dict[int, Candidate], now: int | None
) -> dict[tuple[Channel, str], list[Candidate]]:
    counts = Counter[tuple[str, str, str, str]]()
    for each in opened:
        counts[*_channel(each), each.process_id] += 1 if each.once else PAGE_MAX
    rows = await session.fetch(
        "match_subscriptions", *_columns([(*channel, count) for channel, count in sorted(counts.items())], 5), now
    )
    waiting: dict[tuple[Channel, str], list[Candidate]] = defaultdict(list)
    for row in rows:
        candidate = messages.setdefault(row["key"], Candidate(row))
        channel = (row["tenant"], row["name"], row["correlation_key"])
        waiting[channel, row["process_id"]].append(candidate)
    return waiting


def _match_opened(
    opened: list[NewSubscription],
    definitions: dict[int, int],
    waiting: dict[tuple[Channel, str], list[Candidate]],
    keys: Keys,
    changes: Changes,
) -> set[int]:
    woken: set[int] = set()
    for each in opened:
        candidates = waiting[_channel(each), each.process_id]
        if not candidates:
            continue
        subscription = _stored(each, definitions[each.instance])
        used = candidates[:1] if each.once else candidates[:]
        del candidates[: len(used)]
        for candidate in used:
            candidate.give_to(each.process_id)
            changes.jobs.append(correlate_job(keys.take(), candidate.offered, subscription))
        if each.once:
            changes.taken.append(each.key)
        woken.add(each.instance)
    return woken


def _match_released(rows: list[Any], messages: dict[int, Candidate], keys: Keys, changes: Changes) -> set[int]:
    woken: set[int] = set()
    for row in rows:
        candidate = messages.setdefault(row["key"], Candidate(row))
        if row["instance"] in woken or row["process_id"] in candidate.delivered:
            continue
        start = StoredSubscription(
            key=row["subscription"],
            instance=0,
            element_instance=0,
            element=row["element"],
            definition=row["definition"],
            process_id=row["process_id"],
            trigger=MESSAGE,
            name=row["name"],
            correlation_key="",
            once=False,
            tenant=row["tenant"],
        )
        candidate.give_to(start.process_id)
        instance = keys.take()
        changes.jobs.append(start_job(keys.take(), instance, candidate.offered, start))
        changes.held.append((row["tenant"], start.process_id, row["correlation_key"], instance))
        woken.add(row["instance"])
    return woken


def _settle(candidate: Candidate, changes: Changes) -> None:
    if candidate.is_wanted():
        changes.kept.append((candidate.offered.key, encode_json(candidate.delivered)))
    else:
        changes.used.append(candidate.offered.key)


def _messages(step: Step) -> list[NewSubscription]:
    return [each for each in step.new_subscriptions if each.trigger == MESSAGE]


def _channel(each: NewSubscription) -> Channel:
    return each.tenant, each.name, each.correlation_key


def _key_of(each: NewSubscription) -> int:
    return each.key


def _definitions(steps: Sequence[Step]) -> dict[int, int]:
    return {step.instance: step.definition for step in steps}


def _stored(each: NewSubscription, definition: int) -> StoredSubscription:
    return StoredSubscription(
        key=each.key,
        instance=each.instance,
        element_instance=each.element_instance,
        element=each.element,
        definition=definition,
        process_id=each.process_id,
        trigger=each.trigger,
        name=each.name,
        correlation_key=each.correlation_key,
        once=each.once,
        tenant=each.tenant,
    )


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
