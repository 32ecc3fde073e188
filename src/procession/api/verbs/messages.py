"""Messages and signals: publish, correlate, broadcast, and who waits for what."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from procession.api.endpoints import Call, Endpoint, Load
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Date, Found, Number, Record, Request, Rows, Search, Source, Text, search
from procession.api.words import SUBSCRIPTION_STATES, SUBSCRIPTION_TYPES, key_of, key_or_none, text_or_none, when
from procession.app import Procession
from procession.errors import NotFound
from procession.limits import MESSAGE_TTL_MS_MAX
from procession.model.definition import Trigger
from procession.store.rows import StoredSubscription

Variables = dict[str, Any]


class PublishMessage(Request):
    """A message to whoever waits for it, now or within its time to live."""

    name: Annotated[str, Meta(min_length=1)]
    correlation_key: str = ""
    time_to_live: Annotated[int, Meta(ge=0, le=MESSAGE_TTL_MS_MAX)] = 0
    message_id: str | None = ""
    variables: Variables | None = None
    tenant_id: str | UnsetType = UNSET
    business_id: str | None = None


class PublishedMessage(Record):
    """It was taken."""

    message_key: str
    tenant_id: str


class CorrelateMessage(Request):
    """A message to whoever waits for it now."""

    name: Annotated[str, Meta(min_length=1)]
    correlation_key: str = ""
    variables: Variables | None = None
    tenant_id: str | UnsetType = UNSET
    business_id: str | None = None


class CorrelatedMessage(Record):
    """Whom it went to."""

    message_key: str
    process_instance_key: str
    tenant_id: str


class BroadcastSignal(Request):
    """A signal to everybody who waits for it."""

    signal_name: Annotated[str, Meta(min_length=1)]
    variables: Variables | None = None
    tenant_id: str | UnsetType = UNSET


class BroadcastedSignal(Record):
    """It was broadcast."""

    signal_key: str
    tenant_id: str


class EvaluateConditionals(Request):
    """Variables that conditional start events are asked about: of all processes, or of one version."""

    variables: Variables
    tenant_id: str | UnsetType = UNSET
    process_definition_key: str | UnsetType = UNSET


class StartedInstance(Record):
    """An instance that a condition has started."""

    process_definition_key: str
    process_instance_key: str


class ConditionalsEvaluated(Record):
    """What began, perhaps nothing."""

    conditional_evaluation_key: str
    tenant_id: str
    process_instances: list[StartedInstance]


class MessageSubscription(Record):
    """Who waits for a message: an instance, or a start event."""

    message_subscription_key: str
    process_definition_id: str
    process_definition_key: str | None
    process_definition_name: str | None
    process_definition_version: int | None
    process_instance_key: str | None
    root_process_instance_key: str | None
    element_id: str
    element_instance_key: str | None
    message_subscription_state: str
    message_subscription_type: str
    last_updated_date: datetime | None  # of what it belongs to: when the instance started, or the version came
    message_name: str
    correlation_key: str | None
    business_id: str | None
    tool_name: str | None
    tool_properties: dict[str, str]
    inbound_connector_type: str | None
    tenant_id: str


class SubscriptionFilter(Request):
    """Which subscriptions."""

    WORDS = {"message_subscription_state": SUBSCRIPTION_STATES, "message_subscription_type": SUBSCRIPTION_TYPES}

    business_id: Text = UNSET
    message_subscription_key: Text = UNSET
    process_definition_key: Text = UNSET
    process_definition_id: Text = UNSET
    process_definition_name: Text = UNSET
    process_definition_version: Number = UNSET
    process_instance_key: Text = UNSET
    element_id: Text = UNSET
    element_instance_key: Text = UNSET
    message_subscription_state: Text = UNSET
    message_subscription_type: Text = UNSET
    last_updated_date: Date = UNSET
    message_name: Text = UNSET
    correlation_key: Text = UNSET
    tenant_id: Text = UNSET
    tool_name: Text = UNSET
    inbound_connector_type: Text = UNSET


async def publish_message(call: Call) -> PublishedMessage:
    """Correlate or buffer. Raises Problem for an id that is there already."""
    body: PublishMessage = call.body
    tenant = call.desk.tenant(call.who, body.tenant_id)
    published = await call.desk.app_of(tenant).publish(
        body.name,
        correlation_key=body.correlation_key,
        variables=body.variables,
        ttl=f"{body.time_to_live}ms",
        message_id=body.message_id or "",
    )
    call.about.update(name=body.name, message_key=published.message_key)
    if published.duplicate:
        raise Problem(
            409,
            f"Expected a message with a new id, but one with id '{body.message_id}' was published already",
            title="ALREADY_EXISTS",
        )
    return PublishedMessage(message_key=str(published.message_key), tenant_id=tenant_id_of(tenant))


async def correlate_message(call: Call) -> CorrelatedMessage:
    """Correlate now or not at all. Raises NotFound."""
    body: CorrelateMessage = call.body
    tenant = call.desk.tenant(call.who, body.tenant_id)
    published = await call.desk.app_of(tenant).correlate(
        body.name, correlation_key=body.correlation_key, variables=body.variables
    )
    call.about.update(name=body.name, process_instance_keys=published.process_instance_keys)
    if not published.process_instance_keys:
        raise NotFound(
            f"Expected somebody to wait for message '{body.name}' with correlation key '{body.correlation_key}', "
            "found nobody"
        )
    return CorrelatedMessage(
        message_key=str(published.message_key),
        process_instance_key=str(published.process_instance_keys[0]),
        tenant_id=tenant_id_of(tenant),
    )


async def broadcast_signal(call: Call) -> BroadcastedSignal:
    """To everybody who waits, now."""
    body: BroadcastSignal = call.body
    tenant = call.desk.tenant(call.who, body.tenant_id)
    app = call.desk.app_of(tenant)
    reached = await app.broadcast(body.signal_name, body.variables)
    call.about.update(name=body.signal_name, reached=len(reached))
    return BroadcastedSignal(signal_key=str(await app.new_key()), tenant_id=tenant_id_of(tenant))


async def evaluate_conditionals(call: Call) -> ConditionalsEvaluated:
    """Start an instance at every conditional start event that the variables fulfil, of latest versions."""
    body: EvaluateConditionals = call.body
    tenant = call.desk.tenant(call.who, body.tenant_id)
    app = call.desk.app_of(tenant)
    key = body.process_definition_key
    only = key_of(key, "processDefinitionKey") if isinstance(key, str) else 0
    if only and (await call.desk.definition(call.who, only)).tenant != tenant:
        raise NotFound(f"Expected a process definition with key {only} of this tenant, found none")
    latest: dict[str, int] = {}
    for row in await call.desk.rows.list_definitions(tenant=tenant):
        if row.tenant == tenant:
            latest.setdefault(row.process_id, row.key)
    if only and only not in latest.values():
        raise NotFound(
            f"Expected {only} to be the latest version of its process: older ones are not started by conditions"
        )
    started: list[StartedInstance] = []
    for process_id, definition in latest.items():
        if only in (0, definition) and await _has_conditional_start(app, definition):
            keys = await app.start_by_conditions(process_id, body.variables)
            started += [
                StartedInstance(process_definition_key=str(definition), process_instance_key=str(each)) for each in keys
            ]
    call.about.update(process_instance_keys=[each.process_instance_key for each in started])
    return ConditionalsEvaluated(
        conditional_evaluation_key=str(await app.new_key()), tenant_id=tenant_id_of(tenant), process_instances=started
    )


async def _has_conditional_start(app: Procession, definition: int) -> bool:
    compiled = await app.compiled(definition)
    starts = (compiled.elements[index] for index in compiled.start_events)
    return any(spec.trigger == Trigger.CONDITIONAL for start in starts for spec in start.events)


async def search_subscriptions(call: Call) -> Found[MessageSubscription]:
    """Open subscriptions to messages, the oldest first unless sorted."""
    query: Search[SubscriptionFilter] = call.body
    chosen = query.filter
    instance = chosen.process_instance_key if chosen is not None else UNSET
    name = chosen.message_name if chosen is not None else UNSET

    async def fetch(after: int, limit: int) -> Rows:
        rows = await call.desk.rows.list_subscriptions(
            instance=key_of(instance, "processInstanceKey") if isinstance(instance, str) else 0,
            name=name if isinstance(name, str) else "",
            after=after,
            limit=limit,
        )
        seen = [row for row in rows if row.trigger == Trigger.MESSAGE and call.who.sees(row.tenant)]
        return Rows(await _records(call, seen), rows[-1].key if len(rows) == limit else 0)

    return await search(query, Source(fetch, "message_subscription_key"), MessageSubscription)


async def _records(call: Call, rows: list[StoredSubscription]) -> list[MessageSubscription]:
    definitions = await call.desk.definitions(row.definition for row in rows if row.definition)
    instances = await call.desk.instances(row.instance for row in rows)
    records: list[MessageSubscription] = []
    for row in rows:
        definition, instance = definitions.get(row.definition), instances.get(row.instance)
        opened = (
            instance.started_at if instance is not None else definition.deployed_at if definition is not None else 0
        )
        records.append(
            MessageSubscription(
                message_subscription_key=str(row.key),
                process_definition_id=row.process_id,
                process_definition_key=key_or_none(row.definition),
                process_definition_name=text_or_none(definition.name) if definition is not None else None,
                process_definition_version=definition.version if definition is not None else None,
                process_instance_key=key_or_none(row.instance),
                root_process_instance_key=None,
                element_id=row.element,
                element_instance_key=key_or_none(row.element_instance),
                message_subscription_state="CREATED",
                message_subscription_type="PROCESS_EVENT" if row.instance else "START_EVENT",
                last_updated_date=when(opened),
                message_name=row.name,
                correlation_key=text_or_none(row.correlation_key),
                business_id=None,
                tool_name=None,
                tool_properties={},
                inbound_connector_type=None,
                tenant_id=tenant_id_of(row.tenant),
            )
        )
    return records


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/messages/publication",
        operation_id="publishMessage",
        verb=publish_message,
        role=Role.OPERATOR,
        summary="Publish a message: correlate it, or keep it for its time to live",
        group="Message",
        body=PublishMessage,
        answer=PublishedMessage,
        problems=(409,),
        load=Load.COMMAND,
        entity="MESSAGE",
    ),
    Endpoint(
        method="POST",
        path="/messages/correlation",
        operation_id="correlateMessage",
        verb=correlate_message,
        role=Role.OPERATOR,
        summary="Correlate a message now",
        group="Message",
        body=CorrelateMessage,
        answer=CorrelatedMessage,
        problems=(404,),
        load=Load.COMMAND,
        entity="MESSAGE",
    ),
    Endpoint(
        method="POST",
        path="/message-subscriptions/search",
        operation_id="searchMessageSubscriptions",
        verb=search_subscriptions,
        role=Role.READER,
        summary="Search open subscriptions to messages",
        group="Message subscription",
        body=Search[SubscriptionFilter],
        optional=True,
        answer=Found[MessageSubscription],
    ),
    Endpoint(
        method="POST",
        path="/signals/broadcast",
        operation_id="broadcastSignal",
        verb=broadcast_signal,
        role=Role.OPERATOR,
        summary="Broadcast a signal",
        group="Signal",
        body=BroadcastSignal,
        answer=BroadcastedSignal,
        load=Load.COMMAND,
        entity="SIGNAL",
    ),
    Endpoint(
        method="POST",
        path="/conditionals/evaluation",
        operation_id="evaluateConditionals",
        verb=evaluate_conditionals,
        role=Role.OPERATOR,
        summary="Start what a condition on these variables starts",
        group="Conditional",
        body=EvaluateConditionals,
        answer=ConditionalsEvaluated,
        problems=(404,),
        load=Load.COMMAND,
        entity="PROCESS_INSTANCE",
    ),
)
