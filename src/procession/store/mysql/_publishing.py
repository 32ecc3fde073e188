"""Messages and signals on their way to whatever waits for them: correlate or buffer, in one transaction.

Channels are locked first, so no subscription opens and no message is buffered on them between our reading and our
commit. A subscription may close meanwhile (its instance does not need the lock for that): then the follow-up finds
nothing to correlate with, and the engine offers the message again.

All that can be asked is known beforehand, so a call is two round trips: lock and read; write and COMMIT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from procession.ids import Keys
from procession.store._shared.follow_ups import Offered, correlate_job, start_job
from procession.store._shared.matching import MESSAGE, Changes, Waiting, channel_of, in_order, place
from procession.store._shared.refusals import check_messages, check_text, check_variables
from procession.store.mysql._channels import identity_of, number_of, number_of_signal, put_locks
from procession.store.mysql._jobs import closed_of, put_close, put_jobs
from procession.store.mysql._matching import put_changes
from procession.store.mysql._sessions import Answer, Session, Sessions
from procession.store.mysql._statements import blob
from procession.store.rows import JobFence, NewJob, NewMessage, PublishResult, StoredSubscription

_SIGNAL: Final = 3  # model.Trigger.SIGNAL
_decode_texts: Final = msgspec.json.Decoder(list[str]).decode


async def publish(sessions: Sessions, messages: Sequence[NewMessage], keys: Keys) -> list[PublishResult]:
    """Correlate or buffer messages; one answer per message, in order."""
    check_messages(list(messages))
    if not messages:
        return []

    async def work(session: Session) -> list[PublishResult]:
        put_locks(session, {number_of(channel_of(message)) for message in messages})
        now = session.put("now_of_transaction")
        fences = [message.closes for message in messages if message.closes is not None]
        held = put_close(session, fences) if fences else None
        waiting = await _read(session, messages)
        closed = closed_of(held, fences) if held else set[int]()
        changes = Changes()
        results = [
            place(message, waiting, keys, changes, now.value())
            if message.closes is None or message.closes.key in closed
            else PublishResult(fenced=True)
            for message in messages
        ]
        put_changes(session, changes, frozenset(waiting.kept))
        return results

    return await sessions.transact(work)


async def broadcast(
    sessions: Sessions, name: str, variables: bytes, keys: Keys, tenant: str, closes: JobFence | None = None
) -> list[int]:
    """Give a signal to everything that waits for it; the instances reached, those that it starts included."""
    check_text(name, "name")
    check_variables(variables)
    offered = Offered(key=0, name=name, correlation_key="", variables=variables, expires_at=0, tenant=tenant)

    async def work(session: Session) -> list[int]:
        held = put_close(session, [closes]) if closes is not None else None
        waits = session.put(
            "find_signal_subscriptions", channel=number_of_signal(tenant, name), name=name, tenant=tenant
        )
        starts = session.put("find_starts", names=[name], tenants=[tenant], trigger=_SIGNAL)
        await session.send()
        if closes is not None and held is not None and not closed_of(held, [closes]):
            return []
        reached: list[int] = []
        jobs: list[NewJob] = []
        for each in in_order([*map(stored_subscription, waits.rows), *map(_start, starts.rows)]):
            reached.append(each.instance or keys.take())
            key = keys.take()
            jobs.append(
                correlate_job(key, offered, each) if each.instance else start_job(key, reached[-1], offered, each)
            )
        put_jobs(session, jobs)
        return reached

    return await sessions.transact(work)


async def expire(sessions: Sessions, limit: int) -> int:
    """Delete messages and ids whose time to live is over; how many messages."""

    async def work(session: Session) -> int:
        messages = session.put("find_expired_messages", limit=limit)
        ids = session.put("find_expired_message_ids", limit=limit)
        await session.send()
        if messages.rows:
            session.put("delete_messages", keys=sorted(row[0] for row in messages.rows))
        if ids.rows:
            session.put("delete_message_ids", [(blob(row[0]),) for row in sorted(ids.rows)])
        return len(messages.rows)

    return await sessions.transact(work)


def stored_subscription(row: Sequence[Any]) -> StoredSubscription:
    """A row of the listings of subscriptions."""
    return StoredSubscription(
        key=row[0],
        instance=row[1],
        element_instance=row[2],
        element=row[3],
        definition=row[4],
        process_id=row[5],
        trigger=row[6],
        name=row[7],
        correlation_key=row[8],
        once=bool(row[9]),
        tenant=row[10],
    )


async def _read(session: Session, messages: Sequence[NewMessage]) -> Waiting:
    """What waits on the messages' channels; sends what was gathered before."""
    counts = Counter(channel_of(message) for message in messages)
    open_ones = session.put(
        "find_waiting", channels=sorted(map(number_of, counts)), count=max(counts.values(), default=1)
    )
    names = sorted({message.name for message in messages})
    tenants = sorted({message.tenant for message in messages})
    starts = session.put("find_starts", names=names, tenants=tenants, trigger=MESSAGE)
    correlation_keys = sorted({message.correlation_key for message in messages if message.correlation_key})
    held = session.put("find_held_correlation_keys", names=names, correlation_keys=correlation_keys)
    identities = {
        identity_of(*channel_of(message), message.message_id): (*channel_of(message), message.message_id)
        for message in messages
        if message.message_id
    }
    known = _put_ids(session, sorted(identities))
    again = sorted({message.key for message in messages if message.process_id})
    kept = session.put("find_kept_messages", keys=again) if again else None
    await session.send()
    waiting = Waiting()
    for each in map(stored_subscription, open_ones.rows):
        waiting.open[channel_of_stored(each)].setdefault(each.process_id, []).append(each)
    for row in starts.rows:
        waiting.starts[row[6], row[5]].append(_start(row))
    waiting.held = {(row[0], row[1], row[2]) for row in held.rows}
    waiting.known = {identities[bytes(row[0])]: row[1] for row in known.rows} if known else {}
    waiting.kept = {row[0]: (row[1], _decode_texts(row[2])) for row in kept.rows} if kept else {}
    return waiting


def channel_of_stored(each: StoredSubscription) -> tuple[str, str, str]:
    """The channel that an open subscription listens to."""
    return each.tenant, each.name, each.correlation_key


def _put_ids(session: Session, identities: Sequence[bytes]) -> Answer | None:
    return session.put("find_message_ids", [(blob(each),) for each in identities]) if identities else None


def _start(row: Sequence[Any]) -> StoredSubscription:
    """A row of find_starts.sql."""
    return StoredSubscription(
        key=row[0],
        instance=0,
        element_instance=0,
        element=row[1],
        definition=row[2],
        process_id=row[3],
        trigger=row[4],
        name=row[5],
        correlation_key="",
        once=False,
        tenant=row[6],
    )
