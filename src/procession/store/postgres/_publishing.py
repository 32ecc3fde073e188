"""Messages and signals on their way to whatever waits for them: correlate or buffer, in one transaction.

Channels are locked first, so no subscription opens and no message is buffered on them between our reading and our
commit. A subscription may close meanwhile (its instance does not need the lock for that): then the follow-up finds
nothing to correlate with, and the engine offers the message again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from procession.errors import InvalidValue
from procession.ids import Keys
from procession.store._shared.follow_ups import Offered, correlate_job, start_job
from procession.store._shared.matching import Changes, Waiting, channel_of, in_order, place, start_of
from procession.store._shared.refusals import check_messages, check_text, check_variables
from procession.store.postgres._columns import job_columns, refusal_of_json
from procession.store.postgres._matching import write_changes
from procession.store.postgres._reading import stored_subscription
from procession.store.postgres._sessions import Session, Sessions
from procession.store.rows import JobFence, NewJob, NewMessage, PublishResult


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
        channels = sorted({channel_of(message) for message in messages})
        await session.fetch("lock_channels", *_columns(channels, 3))
        clock = now if now is not None else (await session.fetch("now"))[0][0]
        closed = await _close(session, [message.closes for message in messages if message.closes is not None])
        waiting = await _read(session, messages, now)
        changes = Changes()
        results = [
            place(message, waiting, keys, changes, clock)
            if message.closes is None or message.closes.key in closed
            else PublishResult(fenced=True)
            for message in messages
        ]
        await write_changes(session, changes, now)
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
        waiting = in_order([stored_subscription(row) for row in await session.fetch("broadcast_waiting", tenant, name)])
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


async def _read(session: Session, messages: Sequence[NewMessage], now: int | None) -> Waiting:
    waiting = Waiting()
    counts = Counter(channel_of(message) for message in messages)
    rows = await session.fetch(
        "publish_waiting", *_columns([(*channel, count) for channel, count in sorted(counts.items())], 4)
    )
    for each in map(stored_subscription, rows):
        by_process = waiting.open[each.tenant, each.name, each.correlation_key]
        by_process.setdefault(each.process_id, []).append(each)
    correlation_keys = sorted({message.correlation_key for message in messages if message.correlation_key})
    names = sorted({(message.tenant, message.name) for message in messages})
    for row in await session.fetch("publish_starts", *_columns(names, 2), correlation_keys):
        waiting.starts[row["tenant"], row["name"]].append(start_of(row))
        waiting.held.update((row["tenant"], row["process_id"], key) for key in row["held"])
    ids = sorted({(*channel_of(message), message.message_id) for message in messages if message.message_id})
    if ids:
        waiting.known = {tuple(row[:4]): row[4] for row in await session.fetch("publish_known", *_columns(ids, 4), now)}
    again = sorted({message.key for message in messages if message.process_id})
    if again:
        waiting.kept = {row[0]: (row[1], list(row[2])) for row in await session.fetch("publish_kept", again)}
    return waiting


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
