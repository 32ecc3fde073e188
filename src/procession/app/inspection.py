"""Looking: definitions, instances, jobs, incidents, user tasks, messages, nodes, history. It changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from procession.app import arguments
from procession.app.explain import elements_of
from procession.app.views import (
    DecisionDefinition,
    HistoryEvent,
    Incident,
    InstanceDetails,
    JobInfo,
    Message,
    Node,
    ProcessDefinition,
    ProcessInstance,
    Subscription,
    statuses_of,
)
from procession.core import decode_state
from procession.core.commands import AnyCommand
from procession.core.events import AnyEvent, Migrated
from procession.engine import Engine
from procession.errors import InvalidValue, NotFound
from procession.jobs.kinds import JobKind, JobState
from procession.jobs.schedule import to_datetime
from procession.limits import PAGE_MAX
from procession.store.port import Store
from procession.store.rows import InstanceFilter, JobFilter, StoredIncident, StoredInstance, StoredSubscription

_events = msgspec.json.Decoder(list[AnyEvent])


class Inspection:
    """The looking half of ``Procession``; ``_engine`` is the open engine."""

    _tenant: str

    @property
    def _engine(self) -> Engine:
        raise NotImplementedError

    @property
    def _store(self) -> Store:
        return self._engine.store

    async def _command(self, instance: int, command: AnyCommand, *, fences: dict[int, int] | None = None) -> None:
        """Give a command to an instance, which has to be this tenant's where there is one."""
        await self._engine.command(instance, command, fences=fences, tenant=self._tenant)

    async def definitions(self, process_id: str = "") -> list[ProcessDefinition]:
        """Deployed versions, the newest first within each process id."""
        arguments.text(process_id, "process_id")
        rows = await self._store.list_definitions(process_id=process_id, tenant=self._tenant)
        return [ProcessDefinition.of(row) for row in rows]

    async def definition_xml(self, process_definition_key: int) -> bytes:
        """The BPMN file of a version, byte for byte. Raises NotFound."""
        arguments.key(process_definition_key, "process_definition_key")
        rows = await self._store.definitions([process_definition_key])
        is_theirs = bool(rows) and not rows[0].deleted and self._tenant in ("", rows[0].tenant)
        content = await self._store.resource(rows[0].resource) if is_theirs else None
        if content is None:
            message = f"Expected a process definition with key {process_definition_key}, found none"
            raise NotFound(message)
        return content

    async def decisions(self, decision_id: str = "") -> list[DecisionDefinition]:
        """Deployed versions, the newest first within each decision id."""
        arguments.text(decision_id, "decision_id")
        rows = await self._store.list_decisions(decision_id=decision_id, tenant=self._tenant)
        return [DecisionDefinition.of(row) for row in rows]

    async def decision_xml(self, decision_definition_key: int) -> bytes:
        """The DMN file of a version, byte for byte. Raises NotFound."""
        arguments.key(decision_definition_key, "decision_definition_key")
        rows = await self._store.list_decisions(tenant=self._tenant)
        found = next((row for row in rows if row.key == decision_definition_key), None)
        content = await self._store.resource(found.resource) if found is not None else None
        if content is None:
            message = f"Expected a decision with key {decision_definition_key}, found none"
            raise NotFound(message)
        return content

    async def instance(self, process_instance_key: int) -> InstanceDetails:
        """One instance: state, variables, active elements with why they wait, open incidents. Raises NotFound."""
        arguments.key(process_instance_key, "process_instance_key")
        row = await self._stored_instance(process_instance_key)
        incidents = await self._incidents_of(row.key)
        row.incidents = len(incidents)
        variables: dict[str, Any] = msgspec.json.decode(row.variables or b"{}")
        elements = []
        if row.state:
            definition = await self._engine.definitions.obtain(row.definition)
            subscriptions = await self._subscriptions_of(row.key)
            elements = elements_of(definition, decode_state(row.state, variables), subscriptions)
        return InstanceDetails(
            instance=ProcessInstance.of(row),
            variables=variables,
            elements=elements,
            incidents=[Incident.of(incident) for incident in incidents],
        )

    async def instances(
        self,
        process_id: str = "",
        *,
        state: str | Sequence[str] = "",
        business_id: str = "",
        with_incident: bool = False,
        tag: str = "",
        parent: int = 0,
        after: int = 0,
        limit: int = 100,
    ) -> list[ProcessInstance]:
        """A page of instances, the newest first; ``after`` is the last key of the page before. Raises InvalidValue.

        ``state`` is ACTIVE, COMPLETED, TERMINATED or SUSPENDED, or several of them.
        """
        which = InstanceFilter(
            process_id=arguments.text(process_id, "process_id"),
            statuses=statuses_of(state),
            business_id=arguments.text(business_id, "business_id"),
            with_incident=with_incident,
            tag=arguments.text(tag, "tag"),
            parent=arguments.key_or_none(parent, "parent"),
            tenant=self._tenant,
            after=arguments.key_or_none(after, "after"),
            limit=arguments.page(limit),
        )
        return [ProcessInstance.of(row) for row in await self._store.list_instances(which)]

    async def count_instances(self, process_id: str = "") -> dict[str, int]:
        """How many instances there are per state."""
        counts = await self._store.count_instances(arguments.text(process_id, "process_id"), tenant=self._tenant)
        return {ProcessInstance.state_name(status): count for status, count in sorted(counts.items())}

    async def jobs(
        self,
        *,
        process_instance_key: int = 0,
        state: str = "",
        kind: str = "",
        queue: str = "",
        type: str = "",  # noqa: A002 - Camunda's word for it
        after: int = 0,
        limit: int = 100,
    ) -> list[JobInfo]:
        """A page of jobs, the oldest first; names of states and kinds as in ``jobs.kinds``. Raises InvalidValue."""
        which = JobFilter(
            instance=arguments.key_or_none(process_instance_key, "process_instance_key"),
            state=_member(JobState, state, "job state"),
            kind=_member(JobKind, kind, "job kind"),
            queue=arguments.text(queue, "queue"),
            type=arguments.text(type, "type"),
            tenant=self._tenant,
            after=arguments.key_or_none(after, "after"),
            limit=arguments.page(limit),
        )
        return [JobInfo.of(row) for row in await self._store.list_jobs(which)]

    async def count_jobs(self) -> dict[tuple[str, str], int]:
        """How many jobs there are per (queue, state)."""
        counts = await self._store.count_jobs(tenant=self._tenant)
        return {(queue, JobState(state).name): count for (queue, state), count in counts.items()}

    async def incidents(
        self, *, process_instance_key: int = 0, process_id: str = "", after: int = 0, limit: int = 100
    ) -> list[Incident]:
        """A page of open incidents, the oldest first."""
        rows = await self._store.list_incidents(
            instance=arguments.key_or_none(process_instance_key, "process_instance_key"),
            process_id=arguments.text(process_id, "process_id"),
            tenant=self._tenant,
            after=arguments.key_or_none(after, "after"),
            limit=arguments.page(limit),
        )
        return [Incident.of(row) for row in rows]

    async def messages(self, name: str = "", *, limit: int = 100) -> list[Message]:
        """Buffered messages, the oldest first."""
        arguments.text(name, "the name of a message")
        rows = await self._store.list_messages(name=name, tenant=self._tenant, limit=arguments.page(limit))
        return [Message.of(row) for row in rows]

    async def subscriptions(
        self, *, process_instance_key: int = 0, name: str = "", after: int = 0, limit: int = 100
    ) -> list[Subscription]:
        """A page of what is waited for, by instances and by start events; ``after`` is the last key before."""
        rows = await self._store.list_subscriptions(
            instance=arguments.key_or_none(process_instance_key, "process_instance_key"),
            name=arguments.text(name, "name"),
            tenant=self._tenant,
            after=arguments.key_or_none(after, "after"),
            limit=arguments.page(limit),
        )
        return [Subscription.of(row) for row in rows]

    async def nodes(self) -> list[Node]:
        """The processes that work on this database."""
        return [Node.of(row) for row in await self._store.list_nodes()]

    async def history(self, process_instance_key: int) -> list[HistoryEvent]:
        """Everything that happened to an instance, in order, as far as its history level kept it. Raises NotFound."""
        arguments.key(process_instance_key, "process_instance_key")
        await self._stored_instance(process_instance_key)
        found: list[HistoryEvent] = []
        after, places, version = 0, _Places(), 0
        while page := await self._store.history(process_instance_key, after=after, limit=PAGE_MAX):
            for row in page:
                at = to_datetime(row.at)
                if row.definition != version:
                    version = row.definition
                    stored = await self._store.definitions([version])
                    places.names = stored[0].elements if stored else []
                found += [places.event(row.position, at, event) for event in _events.decode(row.events)]
            after = page[-1].position
        return found

    # -- internal -------------------------------------------------------------------------------------------------
    async def _stored_instance(self, key: int) -> StoredInstance:
        """An instance of this tenant, where there is one. Raises NotFound."""
        row = await self._engine.load(key, self._tenant)
        if row is None:
            message = f"Expected a process instance with key {key}, found none"
            raise NotFound(message)
        return row

    async def _incidents_of(self, instance: int) -> list[StoredIncident]:
        """All open incidents of an instance, however many."""
        rows = page = await self._store.list_incidents(instance=instance, limit=PAGE_MAX)
        while len(page) == PAGE_MAX:
            page = await self._store.list_incidents(instance=instance, after=page[-1].key, limit=PAGE_MAX)
            rows = [*rows, *page]
        return rows

    async def _subscriptions_of(self, instance: int) -> list[StoredSubscription]:
        """All that an instance waits for, however much."""
        rows = page = await self._store.list_subscriptions(instance=instance, limit=PAGE_MAX)
        while len(page) == PAGE_MAX:
            page = await self._store.list_subscriptions(instance=instance, after=page[-1].key, limit=PAGE_MAX)
            rows = [*rows, *page]
        return rows


class _Places:
    """Which element an event belongs to: events after the first name only the element instance's key."""

    def __init__(self) -> None:
        self.names: list[str] = []  # element ids by index, of the version that the next events are of
        self._element: dict[int, int] = {}

    def event(self, position: int, at: datetime, event: AnyEvent) -> HistoryEvent:
        """The event as users read it. After a migration the elements are those of the other version."""
        details = {field: getattr(event, field) for field in event.__struct_fields__}
        key = details.get("key", 0)
        index = details.get("element")
        if isinstance(index, int):
            if key:  # a trigger has no key of its own
                self._element[key] = index
        else:
            owner = details.get("element_instance", key)
            index = self._element.get(owner, -1)
        if key and "element_instance" in details and index >= 0:
            self._element.setdefault(key, index)
        if isinstance(event, Migrated):
            self._element = {key: event.elements.get(at, -1) for key, at in self._element.items()}
        element_id = self.names[index] if 0 <= index < len(self.names) else ""
        tag = str(event.__struct_config__.tag)
        return HistoryEvent(position=position, at=at, event=tag, element_id=element_id, details=details)


def _member(names: type[JobState | JobKind], name: str, what: str) -> int:
    """The number of a named state or kind, -1 for none. Raises InvalidValue."""
    if not arguments.text(name, what):
        return -1
    try:
        return names[name.upper()]
    except KeyError:
        known = ", ".join(member.name for member in names)
        message = f"Expected a {what} ({known}), found '{name}'"
        raise InvalidValue(message) from None
