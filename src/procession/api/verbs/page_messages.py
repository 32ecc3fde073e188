"""Why a message did, or would not, reach anybody: who waits for it, what differs, what is buffered.

It publishes nothing. A message that reached somebody leaves no row: then the history of that instance tells it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from difflib import SequenceMatcher

from procession.api.endpoints import Call, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role, tenant_id_of
from procession.api.search import Record, Request
from procession.api.words import text_or_none, when
from procession.core.state import Status
from procession.errors import InvalidModel, NotFound
from procession.limits import PAGE_MAX
from procession.model import Static
from procession.model.definition import Definition, Kind, Trigger
from procession.store.rows import StoredDefinition, StoredSubscription

GROUP = "Message"
SHOWN_MAX = 50
DEFINITIONS_MAX = 200
ALIKE = 0.7  # of two texts, before one is taken for a slip of the other


class ExplainMessage(Request):
    """A message as it was, or would be, published."""

    name: str
    correlation_key: str = ""
    tenant_id: str = ""


class Waiting(Record):
    """A subscription, and why the message does not reach it; null: it does."""

    subscription_key: str
    process_instance_key: str | None
    process_definition_id: str
    element_id: str
    name: str
    correlation_key: str | None
    tenant_id: str
    state: str | None
    differs: str | None


class BufferedMessage(Record):
    """A message that waits for somebody to wait for it."""

    message_key: str
    name: str
    correlation_key: str
    message_id: str | None
    published_date: datetime | None
    expires_date: datetime | None
    is_same: bool
    differs: str | None


class Receiver(Record):
    """An element of a deployed process that waits for messages of this name when a token stands there."""

    process_definition_id: str
    process_definition_key: str
    version: int
    element_id: str
    element_name: str | None
    starts: bool
    correlation_key_expression: str | None


class MessageExplained(Record):
    """The answer in a sentence or two, and what it is drawn from."""

    verdict: str
    matches: bool
    matching: list[Waiting]
    near_misses: list[Waiting]
    buffered: list[BufferedMessage]
    receivers: list[Receiver]
    similar_names: list[str]
    has_more: bool


async def explain_message(call: Call) -> MessageExplained:
    """Whom the message would reach now, and if nobody, what comes nearest."""
    body: ExplainMessage = call.body
    return await explain(call, body.name, body.correlation_key, body.tenant_id)


async def explain_query(call: Call) -> MessageExplained:
    """The same, for an address that can be shared."""
    query = call.query
    return await explain(call, query.get("name", ""), query.get("correlationKey", ""), query.get("tenantId", ""))


async def explain(call: Call, name: str, key: str, tenant_id: str) -> MessageExplained:
    """The explanation. Raises Problem for a message without a name."""
    if not name:
        raise Problem(400, "Expected the name of a message, found none")
    tenant = call.desk.tenant(call.who, tenant_id or None)
    rows, has_more = await _subscriptions(call, name)
    receivers = await _receivers(call, name, tenant)
    matching = await call.desk.rows.waiting_for(name, key, tenant=tenant, limit=SHOWN_MAX + 1)
    matching += [row for row in rows if row.name == name and not row.instance and row.tenant == tenant]
    met = {row.key for row in matching}
    near = [row for row in rows if row.name == name and row.key not in met]
    near.sort(key=lambda row: (-_likeness(row.correlation_key, key), row.key))
    states = await call.desk.instances(row.instance for row in [*matching, *near[:SHOWN_MAX]])
    names = _similar(name, (row.name for row in rows))
    buffered = await _buffered(call, name, key, tenant)

    def shown(row: StoredSubscription) -> Waiting:
        instance = states.get(row.instance)
        return Waiting(
            subscription_key=str(row.key),
            process_instance_key=str(row.instance) if row.instance else None,
            process_definition_id=row.process_id,
            element_id=row.element,
            name=row.name,
            correlation_key=text_or_none(row.correlation_key),
            tenant_id=tenant_id_of(row.tenant),
            state=Status(instance.status).name if instance is not None else None,
            differs=_difference(row, key, tenant),
        )

    return MessageExplained(
        verdict=_verdict(name, key, matching, near, names, receivers),
        matches=bool(matching),
        matching=[shown(row) for row in matching[:SHOWN_MAX]],
        near_misses=[shown(row) for row in near[:SHOWN_MAX]],
        buffered=buffered,
        receivers=receivers,
        similar_names=names,
        has_more=has_more or len(matching) > SHOWN_MAX or len(near) > SHOWN_MAX,
    )


async def _subscriptions(call: Call, name: str) -> tuple[list[StoredSubscription], bool]:
    """The first subscriptions to messages of this name, and the first of any, as far as they are visible."""
    named = await call.desk.rows.list_subscriptions(name=name, limit=PAGE_MAX)
    others = await call.desk.rows.list_subscriptions(limit=PAGE_MAX)
    found = {row.key: row for row in (*named, *others)}
    rows = [row for row in found.values() if row.trigger == Trigger.MESSAGE and call.who.sees(row.tenant)]
    return rows, len(named) == PAGE_MAX


def _difference(row: StoredSubscription, key: str, tenant: str) -> str | None:
    """Why a message of this subscription's name does not reach it."""
    if row.tenant != tenant:
        return f"it is another tenant's: '{tenant_id_of(row.tenant)}', not '{tenant_id_of(tenant)}'"
    if not row.instance or row.correlation_key == key:
        return None
    return f"its key is '{row.correlation_key}', not '{key}'{_slip(row.correlation_key, key)}"


def _slip(one: str, other: str) -> str:
    """What two texts that are not the same differ in, where that is easily overlooked."""
    if one.strip() == other.strip():
        return ": white space differs"
    if one.casefold() == other.casefold():
        return ": upper and lower case differ"
    if one.strip('"') == other.strip('"'):
        return ": one of them has quotation marks"
    try:
        if float(one) == float(other):
            return ": the same number, written in another way"
    except ValueError:
        pass
    return ""


def _likeness(one: str, other: str) -> float:
    """From 0 to 1."""
    return SequenceMatcher(None, one[:100].casefold(), other[:100].casefold()).ratio()


def _similar(name: str, names: Iterable[str]) -> list[str]:
    """Names that are not this one and look like it, the likest first."""
    found = {other: _likeness(name, other) for other in set(names) if other != name}
    alike = [other for other, likeness in found.items() if likeness >= ALIKE]
    return sorted(alike, key=lambda other: (-found[other], other))[:5]


def _verdict(
    name: str,
    key: str,
    matching: list[StoredSubscription],
    near: list[StoredSubscription],
    names: list[str],
    receivers: list[Receiver],
) -> str:
    """The answer in a sentence or two."""
    what = f"message '{name}'" + (f" with key '{key}'" if key else " without a key")
    waiting = [row for row in matching if row.instance]
    if waiting:
        first = waiting[0]
        more = f", and {len(waiting) - 1} more wait for it" if len(waiting) > 1 else ""
        return f"The {what} reaches instance {first.instance} at '{first.element}'{more}."
    if matching:
        return f"The {what} starts an instance of '{matching[0].process_id}' at '{matching[0].element}'."
    if near:
        nearest = near[0]
        slip = _slip(nearest.correlation_key, key)
        instances = "1 instance waits" if len(near) == 1 else f"{len(near)} instances wait"
        return (
            f"Nobody waits for the {what}. {instances} for one of this name; the nearest, at '{nearest.element}', "
            f"with key '{nearest.correlation_key}'{slip}."
        )
    if receivers:
        where = receivers[0]
        return (
            f"Nobody waits for the {what} now. A process that would is deployed ('{where.process_definition_id}', "
            f"element '{where.element_id}'), but no instance stands there. With a time to live the message is buffered "
            "until one does."
        )
    if names:
        return f"Nobody waits for a message '{name}', and no deployed process names one. A similar name: '{names[0]}'."
    return f"Nobody waits for a message '{name}', and no deployed process names one."


async def _buffered(call: Call, name: str, key: str, tenant: str) -> list[BufferedMessage]:
    """Buffered messages of this name, those with this key first."""
    rows = await call.desk.rows.list_messages(name=name, limit=PAGE_MAX)
    found = [
        BufferedMessage(
            message_key=str(row.key),
            name=row.name,
            correlation_key=row.correlation_key,
            message_id=text_or_none(row.message_id),
            published_date=when(row.published_at),
            expires_date=when(row.expires_at),
            is_same=row.correlation_key == key and row.tenant == tenant,
            differs=None
            if row.correlation_key == key
            else f"its key is '{row.correlation_key}', not '{key}'{_slip(row.correlation_key, key)}",
        )
        for row in rows
        if call.who.sees(row.tenant)
    ]
    found.sort(key=lambda each: (not each.is_same, -_likeness(each.correlation_key, key)))
    return found[:SHOWN_MAX]


async def _receivers(call: Call, name: str, tenant: str) -> list[Receiver]:
    """Elements of the latest versions that wait for messages of this name, as far as the name is written out."""
    rows = [row for row in await call.desk.rows.list_definitions() if row.tenant == tenant]
    latest = {row.process_id: row for row in reversed(rows)}
    found: list[Receiver] = []
    for row in list(latest.values())[:DEFINITIONS_MAX]:
        try:
            definition = await call.desk.app.compiled(row.key)
        except (NotFound, InvalidModel):
            continue
        found += _receivers_of(definition, row, name)
    return found


def _receivers_of(definition: Definition, row: StoredDefinition, name: str) -> list[Receiver]:
    """Those of one version."""
    return [
        Receiver(
            process_definition_id=row.process_id,
            process_definition_key=str(row.key),
            version=row.version,
            element_id=element.id,
            element_name=text_or_none(element.name),
            starts=element.kind == Kind.START_EVENT and element.scope == 0,
            correlation_key_expression=event.correlation_key.text if event.correlation_key is not None else None,
        )
        for element in definition.elements
        if element.kind not in (Kind.END_EVENT, Kind.INTERMEDIATE_THROW_EVENT)
        for event in element.events
        if event.trigger == Trigger.MESSAGE and isinstance(event.name, Static) and event.name.value == name
    ]


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/messages/explain",
        operation_id="explainMessageByQuery",
        verb=explain_query,
        role=Role.READER,
        summary="Whom a message would reach, and what differs where it reaches nobody",
        group=GROUP,
        answer=MessageExplained,
        queries=("name", "correlationKey", "tenantId"),
        problems=(400,),
    ),
    Endpoint(
        method="POST",
        path="/messages/explain",
        operation_id="explainMessage",
        verb=explain_message,
        role=Role.READER,
        summary="Whom a message would reach, and what differs where it reaches nobody",
        group=GROUP,
        body=ExplainMessage,
        answer=MessageExplained,
    ),
)
