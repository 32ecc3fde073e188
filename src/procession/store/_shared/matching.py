"""Which buffered message meets which subscription, and what a published message meets: decided in memory, from rows.

Pure: a store reads what is there (holding the channels' locks), this decides, the store writes ``Changes``. A message
goes to at most one instance per process id; a subscription that is taken once gets one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.store._shared.follow_ups import Offered, correlate_job, start_job
from procession.store.rows import NewJob, NewMessage, NewSubscription, PublishResult, Step, StoredSubscription

MESSAGE: Final = 1  # model.Trigger.MESSAGE: a number in the rows, the model itself is no concern of a store
Channel = tuple[str, str, str]  # tenant, name, correlation key
Rows = Sequence[Mapping[str, Any]]

_encode_json = msgspec.json.Encoder().encode


class Changes:
    """What matching changes, gathered while it decides; a store writes it with few statements."""

    def __init__(self) -> None:
        self.jobs: list[NewJob] = []
        self.taken: list[int] = []  # subscriptions
        self.used: list[int] = []  # messages to delete
        self.kept: list[tuple[int, bytes]] = []  # messages that went to these process ids
        self.held: list[tuple[str, str, str, int]] = []  # tenant, process id, correlation key, instance
        # key, end of its time, tenant, name, correlation key, message id, only, process ids, variables
        self.buffered: list[tuple[int, int, str, str, str, str, str, bytes, bytes]] = []
        # tenant, name, correlation key, message id, message, end of its time
        self.message_ids: list[tuple[str, str, str, str, int, int]] = []


class Candidate:
    """A buffered message, and the process ids that it goes to while a batch is matched.

    Its row: key, name, correlation_key, variables, expires_at, tenant, only, process_ids, starts.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
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
        self._starts: Sequence[str] = row["starts"]

    def give_to(self, process_id: str) -> None:
        """It is on its way to an instance of this process id, and goes to no other one of it."""
        self.delivered.append(process_id)
        self.was_given = True

    def is_wanted(self) -> bool:
        """Whether a start event, held up by its running instance, may still get it."""
        return any(process_id not in self.delivered and self._only in ("", process_id) for process_id in self._starts)


class Waiting:
    """What waits on the channels of a batch of messages, as it is used up."""

    def __init__(self) -> None:
        self.open: dict[Channel, dict[str, list[StoredSubscription]]] = defaultdict(dict)  # by process id
        self.starts: dict[tuple[str, str], list[StoredSubscription]] = defaultdict(list)  # by tenant and name
        self.held: set[tuple[str, str, str]] = set()  # tenant, process id, correlation key
        self.known: dict[tuple[str, str, str, str], int] = {}  # tenant, name, correlation key, message id -> message
        self.kept: dict[int, tuple[str, list[str]]] = {}  # messages offered again that are buffered: only, process ids


class Given:
    """Where one message goes: each process id gets it at most once."""

    def __init__(self, process_ids: list[str]) -> None:
        self.process_ids = process_ids  # that had it, or have it now
        self.instances: list[int] = []

    def to(self, process_id: str, instance: int) -> None:
        """It goes to this instance."""
        self.process_ids.append(process_id)
        self.instances.append(instance)


def needs_channel(step: Step) -> bool:
    """Whether a step opens a message subscription or frees a start channel."""
    return bool(step.release_channel) or any(each.trigger == MESSAGE for each in step.new_subscriptions)


def message_subscriptions(step: Step) -> list[NewSubscription]:
    """The message subscriptions that a step opens."""
    return [each for each in step.new_subscriptions if each.trigger == MESSAGE]


def channel_of(each: NewSubscription | NewMessage) -> Channel:
    """The channel that a subscription listens to or a message goes to."""
    return each.tenant, each.name, each.correlation_key


def match_opened(
    opened: list[NewSubscription],
    definitions: dict[int, int],
    waiting: dict[tuple[Channel, str], list[Candidate]],
    keys: Keys,
    changes: Changes,
) -> set[int]:
    """Give the oldest waiting messages to new subscriptions, by (channel, process id); the instances that got one."""
    woken: set[int] = set()
    for each in opened:
        candidates = waiting[channel_of(each), each.process_id]
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


def match_released(rows: Rows, messages: dict[int, Candidate], keys: Keys, changes: Changes) -> set[int]:
    """Let the oldest messages for freed start channels start the next instances; the instances that freed them.

    A row is a ``Candidate``'s, with instance (that ended), subscription, element, definition and process_id (of the
    start event).
    """
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


def settle(candidate: Candidate, changes: Changes) -> None:
    """After a match: keep a message only for those who may still want it."""
    if candidate.is_wanted():
        changes.kept.append((candidate.offered.key, _encode_json(candidate.delivered)))
    else:
        changes.used.append(candidate.offered.key)


def definitions_of(steps: Sequence[Step]) -> dict[int, int]:
    """The definition of each step's instance."""
    return {step.instance: step.definition for step in steps}


def in_order(waiting: Sequence[StoredSubscription]) -> list[StoredSubscription]:
    """Instances by age, then one start event per process id."""
    starts: dict[str, StoredSubscription] = {}
    for each in waiting:
        if not each.instance:
            starts.setdefault(each.process_id, each)
    return [each for each in waiting if each.instance] + [starts[process_id] for process_id in sorted(starts)]


def place(message: NewMessage, waiting: Waiting, keys: Keys, changes: Changes, now: int) -> PublishResult:
    """Give a message to what waits for it, or buffer it; ``waiting`` is used up by it."""
    expires_at = message.expires_at or now + message.ttl_ms
    identity = (*channel_of(message), message.message_id)
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
        changes.buffered.append((*identity_columns, only, _encode_json(given.process_ids), message.variables))
    elif message.key in waiting.kept:
        changes.used.append(message.key)
    if message.message_id and expires_at > now and (given.instances or is_buffered):  # a dropped one may come again
        waiting.known[identity] = message.key
        changes.message_ids.append((*identity, message.key, expires_at))
    return PublishResult(
        instances=given.instances, buffered=is_buffered, woken=[FOLLOW_UP_QUEUE] if given.instances else []
    )


def start_of(row: Mapping[str, Any]) -> StoredSubscription:
    """A message start event, of a row with key, element, definition, process_id, name, tenant."""
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


def _correlate(
    message: NewMessage, offered: Offered, waiting: Waiting, given: Given, keys: Keys, changes: Changes
) -> None:
    """The oldest open subscription of each process id takes it."""
    chosen: list[StoredSubscription] = []
    for process_id, subscriptions in waiting.open.get(channel_of(message), {}).items():
        if subscriptions and message.process_id in ("", process_id) and process_id not in given.process_ids:
            chosen.append(subscriptions[0])
    for each in sorted(chosen, key=_key_of):
        changes.jobs.append(correlate_job(keys.take(), offered, each))
        given.to(each.process_id, each.instance)
        if each.once:
            changes.taken.append(each.key)
            del waiting.open[channel_of(message)][each.process_id][0]


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


def _key_of(subscription: StoredSubscription) -> int:
    return subscription.key
