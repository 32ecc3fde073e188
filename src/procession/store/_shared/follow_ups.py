"""The follow-ups that a store writes itself when a message or signal meets what waits for it. Encoding, no rules."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from procession.core.commands import Correlate, Send, StartByEvent
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobKind
from procession.store.rows import NewJob, Row, StoredSubscription

_encode = msgspec.json.Encoder().encode


class Offered(Row):
    """A message or (``key`` 0) a signal on its way to whatever takes it."""

    key: int
    name: str
    correlation_key: str
    variables: bytes  # JSON
    expires_at: int
    tenant: str = ""


def correlate_job(key: int, offered: Offered, subscription: StoredSubscription) -> NewJob:
    """The job, with this key, that gives a message or signal to the instance that subscribed."""
    command = Correlate(
        subscription=subscription.key,
        name=offered.name,
        variables=_as_they_are(offered.variables),
        message=offered.key,
        correlation_key=offered.correlation_key,
        expires=offered.expires_at,
    )
    return NewJob(
        key=key,
        kind=JobKind.FOLLOW_UP,
        queue=FOLLOW_UP_QUEUE,
        type="",
        instance=subscription.instance,
        element_instance=subscription.element_instance,
        element=subscription.element,
        args=_encode(Send(instance=subscription.instance, command=command)),
        tenant=subscription.tenant,
    )


def start_job(key: int, instance: int, offered: Offered, start: StoredSubscription) -> NewJob:
    """The job, with this key, that starts ``instance`` at a message or signal start event."""
    follow_up = StartByEvent(
        instance=instance,
        definition=start.definition,
        start=start.element,
        variables=_as_they_are(offered.variables),
        start_channel=offered.correlation_key,
        message=offered.key,
        event=offered.name,
        subscription=start.key if offered.key else 0,
    )
    return NewJob(
        key=key,
        kind=JobKind.FOLLOW_UP,
        queue=FOLLOW_UP_QUEUE,
        type="",
        instance=instance,
        element=start.element,
        definition=start.definition,
        args=_encode(follow_up),
        tenant=start.tenant,
    )


def _as_they_are(variables: bytes) -> dict[str, Any]:
    """JSON that is copied into the follow-up without being read."""
    return cast("dict[str, Any]", msgspec.Raw(variables or b"{}"))
