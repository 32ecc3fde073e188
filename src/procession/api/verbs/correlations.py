"""Which message was given to which subscription, as the history of the instances tells it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec
from msgspec import UNSET

from procession.api.endpoints import Call, Endpoint
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Date, Found, Number, Record, Request, Search, Text, by_position
from procession.api.words import key_of, key_or_none, text_or_none
from procession.core import events as e
from procession.jobs.schedule import to_datetime
from procession.store.rows import HistoryRow, StoredInstance
from procession.store.rows.watching import InstanceSearch

INSTANCES_MAX: Final = 1_000  # that are looked at where none is named, the newest

_events: Final = msgspec.json.Decoder(list[e.AnyEvent]).decode


class CorrelatedSubscription(Record):
    """A message, and where it went."""

    business_id: str | None
    correlation_key: str | None
    correlation_time: datetime
    element_id: str
    element_instance_key: str | None
    message_key: str
    message_name: str
    partition_id: int
    process_definition_id: str
    process_definition_key: str | None
    process_instance_key: str
    root_process_instance_key: str | None
    subscription_key: str
    tenant_id: str


class CorrelatedFilter(Request):
    """Which of them."""

    business_id: Text = UNSET
    correlation_key: Text = UNSET
    correlation_time: Date = UNSET
    element_id: Text = UNSET
    element_instance_key: Text = UNSET
    message_key: Text = UNSET
    message_name: Text = UNSET
    partition_id: Number = UNSET
    process_definition_id: Text = UNSET
    process_definition_key: Text = UNSET
    process_instance_key: Text = UNSET
    subscription_key: Text = UNSET
    tenant_id: Text = UNSET


async def search_correlated(call: Call) -> Found[CorrelatedSubscription]:
    """Messages that reached somebody, those of the newest instances first unless sorted; within one, in their order."""
    query: Search[CorrelatedFilter] = call.body
    chosen = query.filter or CorrelatedFilter()
    if isinstance(chosen.process_instance_key, str):
        rows = await call.desk.rows.load([key_of(chosen.process_instance_key, "processInstanceKey")])
    else:
        which = InstanceSearch(limit=INSTANCES_MAX, look=INSTANCES_MAX)
        if call.who.tenants is not None:
            which.tenants = sorted(call.who.tenants)
        rows = (await call.desk.rows.find_instances(which)).instances
    seen = {row.key: row for row in rows if call.who.sees(row.tenant)}
    items = await _correlations(call, seen) if seen else []
    return by_position(query, items, CorrelatedSubscription)


async def _correlations(call: Call, instances: dict[int, StoredInstance]) -> list[CorrelatedSubscription]:
    """Everything that these instances were given, as far as their history kept it."""
    roots = await call.desk.roots(instances.values())
    found: dict[int, list[CorrelatedSubscription]] = {key: [] for key in instances}
    for row in await call.desk.rows.histories(list(instances), containing='"correlated"'):
        compiled = await call.desk.app.compiled(row.definition)
        for event in _events(row.events):
            if isinstance(event, e.Correlated):
                instance = instances[row.instance]
                element = compiled.elements[event.element].id
                found[row.instance].append(_record(instance, roots[row.instance], row, event, element))
    return [each for key in instances for each in found[key]]


def _record(
    instance: StoredInstance, root: int, row: HistoryRow, event: e.Correlated, element: str
) -> CorrelatedSubscription:
    return CorrelatedSubscription(
        business_id=text_or_none(instance.business_id),
        correlation_key=text_or_none(event.correlation_key),
        correlation_time=to_datetime(row.at),
        element_id=element,
        element_instance_key=key_or_none(event.element_instance),
        message_key=str(event.message),
        message_name=event.name,
        partition_id=1,
        process_definition_id=instance.process_id,
        process_definition_key=str(row.definition),
        process_instance_key=str(instance.key),
        root_process_instance_key=str(root),
        subscription_key=str(event.subscription),
        tenant_id=tenant_id_of(instance.tenant),
    )


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/correlated-message-subscriptions/search",
        operation_id="searchCorrelatedMessageSubscriptions",
        verb=search_correlated,
        role=Role.READER,
        summary="Search messages that reached an instance",
        group="Message subscription",
        body=Search[CorrelatedFilter],
        optional=True,
        answer=Found[CorrelatedSubscription],
    ),
)
