"""Buffered messages meet new subscriptions and freed start events, within the step's transaction.

The channel's lock is held from before the step's look to its commit, and by every publisher of that channel, so a
publisher that found no subscription has buffered its message before we look, or looks after us. Whether anything is
buffered at all is asked together with that look, so that the usual step, which meets nothing, takes no round trip more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from procession.ids import Keys
from procession.limits import PAGE_MAX
from procession.store._shared.matching import (
    MESSAGE,
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
from procession.store.mysql._channels import identity_of, number_of, put_locks
from procession.store.mysql._jobs import CASES_MAX, put_jobs, put_keys, put_rows
from procession.store.mysql._sessions import Answer, Session
from procession.store.mysql._statements import blob, number, quoted, text
from procession.store.rows import Step

_decode_texts: Final = msgspec.json.Decoder(list[str]).decode


class HasTenant(Protocol):
    """Where an instance stands."""

    @property
    def tenant(self) -> str:
        """Its tenant."""
        ...


class Match:
    """What the steps of one transaction ask of message channels."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._starts: dict[int, list[tuple[Any, ...]]] = defaultdict(list)  # per instance that frees a start channel
        self._buffered: Answer | None = None

    async def put_look(self, session: Session) -> None:
        """Gather the locks, first of all, and the question which channels have messages."""
        if not self._steps:
            return
        releasing = {step.instance: step.release_channel for step in self._steps if step.release_channel}
        numbers = {number_of(channel_of(each)) for step in self._steps for each in message_subscriptions(step)}
        if releasing:
            for row in await session.fetch("find_released_starts", keys=sorted(releasing)):
                self._starts[row[0]].append(row)
                numbers.add(number_of((row[6], row[5], releasing[row[0]])))
        if numbers:
            put_locks(session, numbers)
            self._buffered = session.put("find_buffered_channels", channels=sorted(numbers))

    async def put(
        self, session: Session, applied: Sequence[Step], places: Mapping[int, HasTenant], keys: Keys
    ) -> set[int]:
        """Match what the applied steps opened and freed, and gather what that changes; whose step met a message."""
        buffered = {row[0] for row in self._buffered.rows} if self._buffered else set[int]()
        releasing = [step for step in applied if step.release_channel]
        for step in releasing:
            session.put(
                "free_start_channel",
                process_id=step.process_id,
                correlation_key=step.release_channel,
                tenant=places[step.instance].tenant,
                instance=step.instance,
            )
        if not buffered:
            return set()
        return await self._meet(session, applied, releasing, buffered, keys)

    async def _meet(
        self, session: Session, applied: Sequence[Step], releasing: Sequence[Step], buffered: set[int], keys: Keys
    ) -> set[int]:
        opened = sorted((each for step in applied for each in message_subscriptions(step)), key=_key_of)
        counts = Counter[tuple[Channel, str]]()
        for each in opened:
            if number_of(channel_of(each)) in buffered:
                counts[channel_of(each), each.process_id] += 1 if each.once else PAGE_MAX
        found = [(wanted, _put_find(session, *wanted, count)) for wanted, count in sorted(counts.items())]
        freed = [
            (step.instance, row, _put_find(session, (row[6], row[5], step.release_channel), row[4], 1 + len(opened)))
            for step in releasing
            for row in self._starts[step.instance]
            if number_of((row[6], row[5], step.release_channel)) in buffered
        ]
        if not found and not freed:
            return set()
        names = sorted({channel[1] for (channel, _), _ in found} | {row[5] for _, row, _ in freed})
        tenants = sorted({channel[0] for (channel, _), _ in found} | {row[6] for _, row, _ in freed})
        starts = session.put("find_starts", names=names, tenants=tenants, trigger=MESSAGE)
        held = session.put(
            "find_held_channels",
            process_ids=sorted({step.process_id for step in releasing}),
            correlation_keys=sorted({step.release_channel for step in releasing}),
        )
        await session.send()
        return self._decide(session, applied, found, freed, starts, held, keys)

    def _decide(
        self,
        session: Session,
        applied: Sequence[Step],
        found: Sequence[tuple[tuple[Channel, str], Answer]],
        freed: Sequence[tuple[int, tuple[Any, ...], Answer]],
        starts: Answer,
        held: Answer,
        keys: Keys,
    ) -> set[int]:
        processes: dict[tuple[str, str], list[str]] = defaultdict(list)  # by tenant and name
        for row in starts.rows:
            processes[row[6], row[5]].append(row[3])
        changes, messages = Changes(), dict[int, Candidate]()
        waiting: dict[tuple[Channel, str], list[Candidate]] = defaultdict(list)
        for wanted, answer in found:
            for row in answer.rows:
                waiting[wanted].append(messages.setdefault(row[0], Candidate(_fields(row, processes))))
        opened = sorted((each for step in applied for each in message_subscriptions(step)), key=_key_of)
        woken = match_opened(opened, definitions_of(applied), waiting, keys, changes)
        taken = {tuple(row[:3]) for row in held.rows}
        rows = [
            {
                **_fields(row, processes),
                "instance": instance,
                "subscription": start[1],
                "element": start[2],
                "definition": start[3],
                "process_id": start[4],
                "order": (row[8], row[0]),
            }
            for instance, start, answer in freed
            for row in answer.rows
            if (start[6], start[4], row[2]) not in taken
        ]
        rows.sort(key=lambda each: each["order"])
        woken |= match_released(rows, messages, keys, changes)
        for candidate in messages.values():
            if candidate.was_given:
                settle(candidate, changes)
        put_changes(session, changes)
        return woken


def put_changes(session: Session, changes: Changes, kept: frozenset[int] = frozenset()) -> None:
    """Gather what matching decided; ``kept`` are the keys of messages that are buffered already."""
    put_keys(session, "take_subscriptions", changes.taken)
    put_keys(session, "delete_messages", changes.used)
    again = [(row[0], row[7]) for row in changes.buffered if row[0] in kept]
    put_rows(
        session,
        "keep_messages",
        [(number(key), quoted(process_ids)) for key, process_ids in sorted([*changes.kept, *again])],
        CASES_MAX,
    )
    put_rows(
        session,
        "hold_start_channels",
        [(text(row[0]), text(row[1]), text(row[2]), number(row[3])) for row in sorted(changes.held)],
    )
    put_rows(session, "insert_messages", [_message(row) for row in changes.buffered if row[0] not in kept])
    ids = sorted((identity_of(*row[:4]), row[4], row[5]) for row in changes.message_ids)
    put_rows(session, "delete_message_ids", [(blob(row[0]),) for row in ids])  # they are over, or of the same message
    put_rows(session, "insert_message_ids", [(blob(row[0]), number(row[1]), number(row[2])) for row in ids])
    put_jobs(session, changes.jobs)


def _message(row: tuple[int, int, str, str, str, str, str, bytes, bytes]) -> tuple[bytes, ...]:
    """A row of ``Changes.buffered`` as a row of insert_messages.sql."""
    key, expires_at, tenant, name, correlation_key, message_id, only, process_ids, variables = row
    channel = number_of((tenant, name, correlation_key))
    texts = (tenant, name, correlation_key, message_id, only)
    return (number(key), number(expires_at), number(channel), *map(text, texts), quoted(process_ids), quoted(variables))


def _put_find(session: Session, channel: Channel, process_id: str, count: int) -> Answer:
    tenant, name, correlation_key = channel
    return session.put(
        "find_candidates",
        channel=number_of(channel),
        tenant=tenant,
        name=name,
        correlation_key=correlation_key,
        process_id=process_id,
        wanted=msgspec.json.encode(process_id),
        count=count,
    )


def _fields(row: tuple[Any, ...], processes: Mapping[tuple[str, str], list[str]]) -> dict[str, Any]:
    """A row of find_candidates.sql as a ``Candidate`` reads it."""
    return {
        "key": row[0],
        "name": row[1],
        "correlation_key": row[2],
        "variables": row[3].encode(),
        "expires_at": row[4],
        "tenant": row[5],
        "only": row[6],
        "process_ids": _decode_texts(row[7]),
        "starts": processes.get((row[5], row[1]), []),
    }


def _key_of(each: Any) -> int:  # noqa: ANN401 - any row with a key
    return each.key
