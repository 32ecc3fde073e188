"""Messages and signals meet what waits for them. Each function runs to its end without giving way to another call."""

from __future__ import annotations

from procession.ids import Keys
from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.model.definition import Trigger
from procession.store._shared.follow_ups import Offered, correlate_job, start_job
from procession.store.memory._jobs import close_job
from procession.store.memory._tables import Buffered, Tables, Waiting
from procession.store.rows import NewMessage, PublishResult, StoredMessage, StoredSubscription


def publish_message(tables: Tables, new: NewMessage, keys: Keys) -> PublishResult:
    """Give a message to whatever waits for it, or buffer it."""
    if new.closes is not None and not close_job(tables, new.closes):
        return PublishResult(fenced=True)
    now = tables.clock()
    message = tables.messages.get(new.key)
    if message is None and new.message_id and _is_duplicate(tables, new, now):
        return PublishResult(duplicate=True)
    if message is None:
        message = _new_message(new, now)
    else:  # offered again while it is still kept for others
        message.had_by.discard(new.process_id)
        tables.remove_message(new.key, Trigger.MESSAGE)
    instances = _correlate(tables, message, keys, now, only=new.process_id)
    kept = (not instances or _wanted_by_a_start(tables, message)) and new.buffer and message.row.expires_at > now
    message.spent = not kept
    if kept or (instances and message.row.message_id and message.row.expires_at > now):
        tables.keep_message(message, Trigger.MESSAGE)
    return PublishResult(instances=instances, buffered=kept, woken=[FOLLOW_UP_QUEUE] if instances else [])


def broadcast_signal(tables: Tables, name: str, variables: bytes, keys: Keys, tenant: str) -> list[int]:
    """Give a signal to everything that waits for it."""
    now = tables.clock()
    offered = Offered(key=0, name=name, correlation_key="", variables=variables, expires_at=0, tenant=tenant)
    waiting = [
        each
        for (of_tenant, trigger, of_name, _), rows in tables.waiting.items()
        if (of_tenant, trigger, of_name) == (tenant, Trigger.SIGNAL, name)
        for each in rows.values()
        if not each.taken
    ]
    reached: list[int] = []
    for each in sorted(waiting, key=Waiting.age):
        tables.insert_job(correlate_job(keys.take(), offered, each.row), now)
        reached.append(each.row.instance)
    for start in _starts(tables, tenant, Trigger.SIGNAL, name):
        instance = keys.take()
        tables.insert_job(start_job(keys.take(), instance, offered, start), now)
        reached.append(instance)
    return reached


def match_subscription(tables: Tables, waiting: Waiting, keys: Keys, now: int) -> bool:
    """Give buffered messages to a subscription that opens; whether it got any."""
    row = waiting.row
    if row.trigger != Trigger.MESSAGE:
        return False
    buffered = tables.buffered.get((row.tenant, Trigger.MESSAGE, row.name, row.correlation_key), {})
    wanted = [each for each in buffered.values() if _is_open(each, now) and each.may_go_to(row.process_id)]
    wanted.sort(key=Buffered.age)
    for message in wanted[:1] if row.once else wanted:
        _hand_over(tables, waiting, _offer(message), keys.take(), now)
        message.had_by.add(row.process_id)
        _settle(tables, message)
    return bool(wanted)


def release_start_channel(tables: Tables, instance: int, channel: tuple[str, str, str], keys: Keys, now: int) -> bool:
    """Free the channel that an ended instance held and let the oldest message for it start the next one."""
    if tables.start_channels.get(channel) != instance:
        return False
    del tables.start_channels[channel]
    tenant, process_id, correlation_key = channel
    found = [
        (message.age(), message, start)
        for start in tables.starts.get((tenant, process_id), ())
        if start.trigger == Trigger.MESSAGE
        for message in tables.buffered.get((tenant, Trigger.MESSAGE, start.name, correlation_key), {}).values()
        if _is_open(message, now) and message.may_go_to(process_id)
    ]
    if not found:
        return False
    _, message, start = min(found, key=lambda each: each[0])
    _start(tables, message, start, keys, now)
    _settle(tables, message)
    return True


def expire_messages(tables: Tables, limit: int) -> int:
    """Forget messages whose time is over."""
    now = tables.clock()
    over = [key for key, message in tables.messages.items() if message.row.expires_at <= now][:limit]
    for key in over:
        tables.remove_message(key, Trigger.MESSAGE)
    return len(over)


def _is_duplicate(tables: Tables, new: NewMessage, now: int) -> bool:
    channel = (new.tenant, Trigger.MESSAGE, new.name, new.correlation_key)
    same = [each for each in tables.buffered.get(channel, {}).values() if each.row.message_id == new.message_id]
    for message in same:
        if message.row.expires_at > now:
            return True
        tables.remove_message(message.row.key, Trigger.MESSAGE)
    return False


def _new_message(new: NewMessage, now: int) -> Buffered:
    row = StoredMessage(
        key=new.key,
        name=new.name,
        correlation_key=new.correlation_key,
        variables=new.variables,
        message_id=new.message_id,
        published_at=now,
        expires_at=new.expires_at or now + new.ttl_ms,
        tenant=new.tenant,
    )
    return Buffered(row=row, process_id=new.process_id)


def _correlate(tables: Tables, message: Buffered, keys: Keys, now: int, *, only: str) -> list[int]:
    """Give a message to each process that wants it, at most once: the instances."""
    row, offered = message.row, _offer(message)
    channel = (row.tenant, Trigger.MESSAGE, row.name, row.correlation_key)
    instances: list[int] = []
    for waiting in sorted(tables.waiting.get(channel, {}).values(), key=Waiting.age):
        process_id = waiting.row.process_id
        if not waiting.taken and only in ("", process_id) and process_id not in message.had_by:
            _hand_over(tables, waiting, offered, keys.take(), now)
            message.had_by.add(process_id)
            instances.append(waiting.row.instance)
    for start in _starts(tables, row.tenant, Trigger.MESSAGE, row.name):
        held = row.correlation_key and (row.tenant, start.process_id, row.correlation_key) in tables.start_channels
        if not held and only in ("", start.process_id) and start.process_id not in message.had_by:
            instances.append(_start(tables, message, start, keys, now))
    return instances


def _start(tables: Tables, message: Buffered, start: StoredSubscription, keys: Keys, now: int) -> int:
    instance = keys.take()
    tables.insert_job(start_job(keys.take(), instance, _offer(message), start), now)
    message.had_by.add(start.process_id)
    if message.row.correlation_key:
        channel = (start.tenant, start.process_id, message.row.correlation_key)
        tables.start_channels[channel] = instance
    return instance


def _hand_over(tables: Tables, waiting: Waiting, offered: Offered, key: int, now: int) -> None:
    tables.insert_job(correlate_job(key, offered, waiting.row), now)
    if waiting.row.once:
        waiting.taken = True


def _settle(tables: Tables, message: Buffered) -> None:
    """After a match: keep a message only for those who may still want it, or its id for as long as it counts."""
    if _wanted_by_a_start(tables, message):
        return
    if message.row.message_id:
        message.spent = True
    else:
        tables.remove_message(message.row.key, Trigger.MESSAGE)


def _wanted_by_a_start(tables: Tables, message: Buffered) -> bool:
    starts = _starts(tables, message.row.tenant, Trigger.MESSAGE, message.row.name)
    return any(message.may_go_to(start.process_id) for start in starts)


def _starts(tables: Tables, tenant: str, trigger: int, name: str) -> list[StoredSubscription]:
    """The start events of the latest versions with this message or signal, one per process, by process id."""
    found: dict[str, StoredSubscription] = {}
    for (of_tenant, process_id), starts in sorted(tables.starts.items(), key=lambda each: each[0]):
        for start in starts:
            if of_tenant == tenant and (start.trigger, start.name) == (trigger, name):
                found.setdefault(process_id, start)
    return list(found.values())


def _is_open(message: Buffered, now: int) -> bool:
    return not message.spent and message.row.expires_at > now


def _offer(message: Buffered) -> Offered:
    row = message.row
    return Offered(
        key=row.key,
        name=row.name,
        correlation_key=row.correlation_key,
        variables=row.variables,
        expires_at=row.expires_at,
        tenant=row.tenant,
    )
