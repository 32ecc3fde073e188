"""Messages and signals meet what waits for them. The single writer is the channels' lock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from procession.jobs.kinds import FOLLOW_UP_QUEUE
from procession.model.definition import Trigger
from procession.store._shared.follow_ups import Offered, correlate_job, start_job
from procession.store.rows import (
    JobFence,
    NewJob,
    NewMessage,
    NewSubscription,
    PublishResult,
    Row,
    Step,
    StoredMessage,
    StoredSubscription,
)
from procession.store.sqlite._jobs import close_jobs, insert_jobs
from procession.store.sqlite._session import Session, as_json

_MESSAGE, _SIGNAL = int(Trigger.MESSAGE), int(Trigger.SIGNAL)
_decode_texts = msgspec.json.Decoder(list[str]).decode


class _Kept(Row):
    """A row of the message table."""

    row: StoredMessage
    process_id: str  # only this process may have it
    taken_by: list[str]  # process ids that have had it
    is_stored: bool

    def may_go_to(self, process_id: str) -> bool:
        """Whether this process has not had it and is not shut out."""
        return process_id not in self.taken_by and self.process_id in ("", process_id)

    def offered(self) -> Offered:
        """What a follow-up carries of it."""
        row = self.row
        return Offered(
            key=row.key,
            name=row.name,
            correlation_key=row.correlation_key,
            variables=row.variables,
            expires_at=row.expires_at,
            tenant=row.tenant,
        )


class Mail:
    """Matches within one transaction; ``send`` writes the follow-ups that they made."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._jobs: list[NewJob] = []

    def send(self) -> None:
        """Insert the follow-ups."""
        insert_jobs(self._session, self._jobs)
        self._jobs = []

    def publish(self, new: NewMessage) -> PublishResult:
        """Give a message to whatever waits for it, or buffer it."""
        session, now = self._session, self._session.now
        message = self._stored_message(new.key)
        if message is None:
            if new.message_id and self._is_duplicate(new):
                return PublishResult(duplicate=True)
            message = _kept(new, now)
        elif new.process_id in message.taken_by:  # offered again while it is still kept for others
            message.taken_by.remove(new.process_id)
        instances = self._correlate(message, only=new.process_id)
        alive = message.row.expires_at > now
        kept = (not instances or self._is_wanted_by_a_start(message)) and new.buffer and alive
        if kept or (instances and message.row.message_id and alive):
            self._keep(message, spent=not kept)
        elif message.is_stored:
            session.run("delete_message", key=new.key)
        return PublishResult(instances=instances, buffered=kept, woken=[FOLLOW_UP_QUEUE] if instances else [])

    def broadcast(self, name: str, variables: bytes, tenant: str) -> list[int]:
        """Give a signal to everything that waits for it: the instances."""
        offered = Offered(key=0, name=name, correlation_key="", variables=variables, expires_at=0, tenant=tenant)
        reached: list[int] = []
        for subscription in _subscriptions(self._session.rows("find_signal_subscriptions", name=name, tenant=tenant)):
            self._jobs.append(correlate_job(self._take_key(), offered, subscription))
            reached.append(subscription.instance)
        for start in self._starts(name, tenant, _SIGNAL):
            instance = self._take_key()
            self._jobs.append(start_job(self._take_key(), instance, offered, start))
            reached.append(instance)
        return reached

    def match_subscription(self, new: NewSubscription, definition: int) -> bool:
        """Give buffered messages to a subscription that opens; whether it got any."""
        if new.trigger != _MESSAGE:
            return False
        subscription = StoredSubscription(
            key=new.key,
            instance=new.instance,
            element_instance=new.element_instance,
            element=new.element,
            definition=definition,
            process_id=new.process_id,
            trigger=new.trigger,
            name=new.name,
            correlation_key=new.correlation_key,
            once=new.once,
            tenant=new.tenant,
        )
        found = self._buffered(new.name, new.correlation_key, new.tenant)
        wanted = [message for message in found if message.may_go_to(new.process_id)]
        for message in wanted[:1] if new.once else wanted:
            self._hand_over(message.offered(), subscription)
            message.taken_by.append(new.process_id)
            self._settle(message)
        return bool(wanted)

    def release_start_channel(self, step: Step, tenant: str) -> bool:
        """Free the channel that an ended instance held and let the oldest message for it start the next one."""
        session, correlation_key = self._session, step.release_channel
        channel = {"process_id": step.process_id, "correlation_key": correlation_key, "tenant": tenant}
        if session.value("free_start_channel", **channel, instance=step.instance) is None:
            return False
        found = [
            ((message.row.published_at, message.row.key), message, start)
            for start in _starts(session.rows("find_starts_of_process", process_id=step.process_id, tenant=tenant))
            for message in self._buffered(start.name, correlation_key, tenant)
            if message.may_go_to(step.process_id)
        ]
        if not found:
            return False
        _, message, start = min(found, key=lambda each: each[0])
        self._start(message, start)
        self._settle(message)
        return True

    # -- parts ----------------------------------------------------------------------------------------------------
    def _correlate(self, message: _Kept, *, only: str) -> list[int]:
        """Give a message to each process that wants it, at most once: the instances."""
        row, offered, session = message.row, message.offered(), self._session
        channel = {"name": row.name, "correlation_key": row.correlation_key, "tenant": row.tenant}
        instances: list[int] = []
        for subscription in _subscriptions(session.rows("find_message_subscriptions", **channel)):
            if only in ("", subscription.process_id) and message.may_go_to(subscription.process_id):
                self._hand_over(offered, subscription)
                message.taken_by.append(subscription.process_id)
                instances.append(subscription.instance)
        for start in self._starts(row.name, row.tenant, _MESSAGE):
            wanted = only in ("", start.process_id) and message.may_go_to(start.process_id)
            if wanted and not self._is_held(start, row.correlation_key):
                instances.append(self._start(message, start))
        return instances

    def _hand_over(self, offered: Offered, subscription: StoredSubscription) -> None:
        self._jobs.append(correlate_job(self._take_key(), offered, subscription))
        if subscription.once:
            self._session.run("take_subscription", key=subscription.key)

    def _start(self, message: _Kept, start: StoredSubscription) -> int:
        instance = self._take_key()
        self._jobs.append(start_job(self._take_key(), instance, message.offered(), start))
        message.taken_by.append(start.process_id)
        if message.row.correlation_key:
            self._session.run(
                "hold_start_channel",
                process_id=start.process_id,
                correlation_key=message.row.correlation_key,
                tenant=start.tenant,
                instance=instance,
            )
        return instance

    def _settle(self, message: _Kept) -> None:
        """After a match: keep a message only for those who may still want it, or its id while that counts."""
        if self._is_wanted_by_a_start(message):
            self._keep(message, spent=False)
        elif message.row.message_id:
            self._keep(message, spent=True)
        else:
            self._session.run("delete_message", key=message.row.key)

    def _keep(self, message: _Kept, *, spent: bool) -> None:
        row = message.row
        self._session.run(
            "keep_message",
            key=row.key,
            published_at=row.published_at,
            expires_at=row.expires_at,
            spent=int(spent),
            name=row.name,
            correlation_key=row.correlation_key,
            tenant=row.tenant,
            message_id=row.message_id,
            process_id=message.process_id,
            taken_by=as_json(message.taken_by),
            variables=row.variables,
        )

    def _is_duplicate(self, new: NewMessage) -> bool:
        same = {
            "message_id": new.message_id,
            "name": new.name,
            "correlation_key": new.correlation_key,
            "tenant": new.tenant,
        }
        self._session.run("delete_same_message_if_over", **same, now=self._session.now)
        return self._session.value("find_same_message", **same) is not None

    def _is_held(self, start: StoredSubscription, correlation_key: str) -> bool:
        if not correlation_key:
            return False
        holder = self._session.value(
            "find_start_channel",
            process_id=start.process_id,
            correlation_key=correlation_key,
            tenant=start.tenant,
        )
        return holder is not None

    def _is_wanted_by_a_start(self, message: _Kept) -> bool:
        starts = self._starts(message.row.name, message.row.tenant, _MESSAGE)
        return any(message.may_go_to(start.process_id) for start in starts)

    def _starts(self, name: str, tenant: str, trigger: int) -> list[StoredSubscription]:
        """The start events of the latest versions, one per process, by process id."""
        found: dict[str, StoredSubscription] = {}
        for start in _starts(self._session.rows("find_starts", name=name, tenant=tenant, trigger=trigger)):
            found.setdefault(start.process_id, start)
        return list(found.values())

    def _buffered(self, name: str, correlation_key: str, tenant: str) -> list[_Kept]:
        rows = self._session.rows(
            "find_messages", name=name, correlation_key=correlation_key, tenant=tenant, now=self._session.now
        )
        return [_read_message(row) for row in rows]

    def _stored_message(self, key: int) -> _Kept | None:
        rows = self._session.rows("find_message", key=key)
        return _read_message(rows[0]) if rows else None

    def _take_key(self) -> int:
        return self._session.take_keys(1).start


def publish_messages(session: Session, messages: Sequence[NewMessage]) -> list[PublishResult]:
    """Publish messages one after the other in one transaction."""
    mail = Mail(session)
    closed = close_jobs(session, [message.closes for message in messages if message.closes is not None])
    results = [
        mail.publish(message) if message.closes is None or message.closes.key in closed else PublishResult(fenced=True)
        for message in messages
    ]
    mail.send()
    return results


def broadcast_signal(
    session: Session, name: str, variables: bytes, tenant: str, closes: JobFence | None = None
) -> list[int]:
    """Broadcast one signal."""
    if closes is not None and not close_jobs(session, [closes]):
        return []
    mail = Mail(session)
    reached = mail.broadcast(name, variables, tenant)
    mail.send()
    return reached


def read_subscription(row: Any) -> StoredSubscription:  # noqa: ANN401 - a row of a query
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


def _subscriptions(rows: list[Any]) -> list[StoredSubscription]:
    return [read_subscription(row) for row in rows]


def _starts(rows: list[Any]) -> list[StoredSubscription]:
    return [
        StoredSubscription(
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
        for row in rows
    ]


def read_message(row: Any) -> StoredMessage:  # noqa: ANN401 - a row of a query
    """The part of a message that listings show."""
    return StoredMessage(
        key=row[0],
        name=row[1],
        correlation_key=row[2],
        variables=row[3],
        message_id=row[4],
        published_at=row[5],
        expires_at=row[6],
        tenant=row[7],
    )


def _read_message(row: Any) -> _Kept:  # noqa: ANN401 - a row of a query
    return _Kept(row=read_message(row), process_id=row[8], taken_by=_decode_texts(row[9]), is_stored=True)


def _kept(new: NewMessage, now: int) -> _Kept:
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
    return _Kept(row=row, process_id=new.process_id, taken_by=[], is_stored=False)
