"""Messages and signals on their way to whatever waits for them: correlate or buffer, in one transaction.

Channels are locked first, so no subscription opens and no message is buffered on them between our reading and our
commit. A subscription may close meanwhile (its instance does not need the lock for that): then the follow-up finds
nothing to correlate with, and the engine offers the message again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store._shared.follow_ups import Offered, correlate_job, start_job
from procession.store._shared.refusals import check_messages, check_text, check_variables
from procession.store.postgres._columns import encode_json, job_columns, refusal_of_json
from procession.store.postgres._matching import Changes, Channel
from procession.store.postgres._reading import stored_subscription
from procession.store.postgres._sessions import Session, Sessions
from procession.store.rows import JobFence, NewJob, NewMessage, PublishResult, StoredSubscription


class Waiting:
    """What waits on the channels of a batch, as it is used up."""

    def __init__(self) -> None:
        self.open: dict[Channel, dict[str, list[StoredSubscription]]] = defaultdict(dict)  # by process id
        self.starts: dict[tuple[str, str], list[StoredSubscription]] = defaultdict(list)  # by tenant and name
        self.held: set[tuple[str, str, str]] = set()  # tenant, process id, correlation key
        self.known: dict[tuple[str, str, str, str], int] = {}  # tenant, name, correlation key, message id -> message
        self.kept: dict[int, tuple[str, list[str]]] = {}  # messages offered again that are buffered: only, process ids


async def publish(
    sessions: Sessions, messages: Sequence[NewMessage], keys: Keys, now: int | None
) -> list[PublishResult]:
    """Correlate or buffer messages; one answer per message, in order."""
    check_messages(list(messages))
    if why := refusal_of_json(message.variables for message in messages):
        raise InvalidValue(f"{why}, got it in the variables of a message")
    if not messages:
        return []
    async with sessions.lend() as session, session.transaction():
        channels = sorted({_channel(message) for message in messages})
        await session.fetch("lock_channels", *_columns(channels, 3))
        clock = now if now is not None else (await session.fetch("now"))[0][0]
        closed = await _close(session, [message.closes for message in messages if message.closes is not None])
        waiting = await _read(session, messages, now)
        changes = Changes()
        results = [
            _place(message, waiting, keys, changes, clock)
            if message.closes is None or message.closes.key in closed
            else PublishResult(fenced=True)
            for message in messages
        ]
        await changes.write(session, now)
    return results


async def _close(session: Session, fences: Sequence[JobFence]) -> set[int]:
    """Delete the jobs that publish, before anything is read: which were held. A rescue that is at it goes first."""
    if not fences:
        return set()
    ordered = sorted(fences, key=lambda fence: fence.key)
    columns = [fence.key for fence in ordered], [fence.lease for fence in ordered]
    return {row[0] for row in await session.fetch("finish_done", *columns)}


async def broadcast(
    sessions: Sessions,
    name: str,
    variables: bytes,
    keys: Keys,
    tenant: str,
    now: int | None,
    closes: JobFence | None = None,
) -> list[int]:
    """Give a signal to everything that waits for it; the instances reached, those that it starts included."""
    check_text(name, "name")
    check_variables(variables)
    if why := refusal_of_json((variables,)):
        raise InvalidValue(f"{why}, got it in the variables of a signal")
    offered = Offered(key=0, name=name, correlation_key="", variables=variables, expires_at=0, tenant=tenant)
    async with sessions.lend() as session, session.transaction():
        if closes is not None and not await _close(session, [closes]):
            return []
        waiting = _order([stored_subscription(row) for row in await session.fetch("broadcast_waiting", tenant, name)])
        reached: list[int] = []
        jobs: list[NewJob] = []
        for each in waiting:
            reached.append(each.instance or keys.take())
            key = keys.take()
            jobs.append(
                correlate_job(key, offered, each) if each.instance else start_job(key, reached[-1], offered, each)
            )
        if jobs:
            await session.fetch("enqueue", now, *job_columns(jobs))
    return reached


def _order(waiting: list[StoredSubscription]) -> list[StoredSubscription]:
    """Instances by age, then one start event per process id."""
    starts: dict[str, StoredSubscription] = {}
    for each in waiting:
        if not each.instance:
            starts.setdefault(each.process_id, each)
    return [each for each in waiting if each.instance] + [starts[process_id] for process_id in sorted(starts)]


async def _read(session: Session, messages: Sequence[NewMessage], now: int | None) -> Waiting:
    waiting = Waiting()
    counts = Counter(_channel(message) for message in messages)
    rows = await session.fetch(
        "publish_waiting", *_columns([(*channel, count) for channel, count in sorted(counts.items())], 4)
    )
    for each in map(stored_subscription, rows):
        by_process = waiting.open[each.tenant, each.name, each.correlation_key]
        by_process.setdefault(each.process_id, []).append(each)
    correlation_keys = sorted({message.correlation_key for message in messages if message.correlation_key})
    names = sorted({(message.tenant, message.name) for message in messages})
    for row in await session.fetch("publish_starts", *_columns(names, 2), correlation_keys):
        waiting.starts[row["tenant"], row["name"]].append(_start_of(row))
        waiting.held.update((row["tenant"], row["process_id"], key) for key in row["held"])
    ids = sorted({(*_channel(message), message.message_id) for message in messages if message.message_id})
    if ids:
        waiting.known = {tuple(row[:4]): row[4] for row in await session.fetch("publish_known", *_columns(ids, 4), now)}
    again = sorted({message.key for message in messages if message.process_id})
    if again:
        waiting.kept = {row[0]: (row[1], list(row[2])) for row in await session.fetch("publish_kept", again)}
    return waiting


def _place(message: NewMessage, waiting: Waiting, keys: Keys, changes: Changes, now: int) -> PublishResult:
    expires_at = message.expires_at or now + message.ttl_ms
    identity = (*_channel(message), message.message_id)
    if message.message_id and waiting.known.get(identity, message.key) != message.key:
        return PublishResult(duplicate=True)
    offered = Offered(
        key=message.key,
        name=message.name,
        correlation_key=message.correlation_key,
        variables=message.variables,
        expires_at=expires_at,
        tenant=message.tenant,
    )
    only, had_by = waiting.kept.get(message.key, (message.process_id, []))
    given = Given([process_id for process_id in had_by if process_id != message.process_id])
    _correlate(message, offered, waiting, given, keys, changes)
    is_held_up = _start(message, offered, waiting, given, keys, changes)
    is_buffered = (is_held_up or not given.instances) and message.buffer and expires_at > now
    if is_buffered:
        identity_columns = (message.key, expires_at, *identity)
        changes.buffered.append((*identity_columns, only, encode_json(given.process_ids), message.variables))
    elif message.key in waiting.kept:
        changes.used.append(message.key)
    if message.message_id and expires_at > now and (given.instances or is_buffered):  # a dropped one may come again
        waiting.known[identity] = message.key
        changes.message_ids.append((*identity, message.key, expires_at))
    return PublishResult(
        instances=given.instances, buffered=is_buffered, woken=[FOLLOW_UP_QUEUE] if given.instances else []
    )


class Given:
    """Where one message goes: each process id gets it at most once."""

    def __init__(self, process_ids: list[str]) -> None:
        self.process_ids = process_ids  # that had it, or have it now
        self.instances: list[int] = []

    def to(self, process_id: str, instance: int) -> None:
        """It goes to this instance."""
        self.process_ids.append(process_id)
        self.instances.append(instance)


def _correlate(
    message: NewMessage, offered: Offered, waiting: Waiting, given: Given, keys: Keys, changes: Changes
) -> None:
    """The oldest open subscription of each process id takes it."""
    chosen: list[StoredSubscription] = []
    for process_id, subscriptions in waiting.open.get(_channel(message), {}).items():
        if subscriptions and message.process_id in ("", process_id) and process_id not in given.process_ids:
            chosen.append(subscriptions[0])
    for each in sorted(chosen, key=_key_of):
        changes.jobs.append(correlate_job(keys.take(), offered, each))
        given.to(each.process_id, each.instance)
        if each.once:
            changes.taken.append(each.key)
            del waiting.open[_channel(message)][each.process_id][0]


def _start(message: NewMessage, offered: Offered, waiting: Waiting, given: Given, keys: Keys, changes: Changes) -> bool:
    """Start events of the other process ids take it; whether one is held up by its running instance."""
    is_held_up = False
    for start in waiting.starts.get((message.tenant, message.name), ()):
        hold = (message.tenant, start.process_id, message.correlation_key)
        if start.process_id in given.process_ids:
            continue
        if hold in waiting.held or message.process_id not in ("", start.process_id):
            is_held_up = is_held_up or _is_still_wanted_by(start.process_id, message, waiting)
            continue
        instance = keys.take()
        changes.jobs.append(start_job(keys.take(), instance, offered, start))
        given.to(start.process_id, instance)
        if message.correlation_key:
            waiting.held.add(hold)
            changes.held.append((*hold, instance))
    return is_held_up


def _is_still_wanted_by(process_id: str, message: NewMessage, waiting: Waiting) -> bool:
    """Whether a buffered message would be offered to this process id."""
    only, _ = waiting.kept.get(message.key, (message.process_id, []))
    return only in ("", process_id)


def _start_of(row: Any) -> StoredSubscription:  # noqa: ANN401 - a row of the driver
    return StoredSubscription(
        key=row["key"],
        instance=0,
        element_instance=0,
        element=row["element"],
        definition=row["definition"],
        process_id=row["process_id"],
        trigger=1,
        name=row["name"],
        correlation_key="",
        once=False,
        tenant=row["tenant"],
    )


def _key_of(subscription: StoredSubscription) -> int:
    return subscription.key


def _channel(message: NewMessage) -> Channel:
    return message.tenant, message.name, message.correlation_key


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
