"""Looking as an edge needs it (HTTP, gRPC): rows as they are stored, the past of elements, decisions tried out.

It changes nothing. What an instance went through is the fold of its history, as far as its history level kept it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from procession.app import arguments
from procession.app.inspection import Inspection
from procession.core import decode_state
from procession.core import events as e
from procession.core.state import State
from procession.dmn import DecisionModel, Evaluation, compile_resources
from procession.engine import plain_variables
from procession.engine.settings import History
from procession.engine.vitals import Vital
from procession.errors import InvalidModel, NotFound
from procession.jobs.schedule import to_datetime
from procession.limits import PAGE_MAX
from procession.model.definition import Definition, Kind
from procession.store.port import Store
from procession.store.rows import StoredDecision, StoredDefinition, StoredInstance

MODELS_MAX = 100  # compiled files of decisions that are kept

_events = msgspec.json.Decoder(list[e.AnyEvent])


class PastElement(msgspec.Struct, kw_only=True):
    """An element instance, active or over."""

    key: int
    element: int  # index in the definition that it was last of
    element_id: str
    element_name: str
    kind: int
    is_body: bool
    scope: int
    state: str  # ACTIVE | COMPLETED | TERMINATED
    started_at: int
    ended_at: int = 0
    incident: int = 0


class Past(msgspec.Struct, kw_only=True):
    """What an instance went through: its element instances by key, and how often each flow was taken."""

    elements: dict[int, PastElement]
    flows: dict[str, int]


class Looking(Inspection):
    """The edges' half of ``Procession``."""

    @property
    def rows(self) -> Store:
        """The store, to read rows of."""
        return self._store

    def vital(self) -> Vital:
        """What this process has done, in numbers."""
        return self._engine.vitals.now()

    @property
    def vital_key(self) -> int:
        """Of the row in which this process says so to others; 0: there is none."""
        return self._engine.vitals.key

    @property
    def history_level(self) -> History:
        """How much of each step this process keeps."""
        return self._engine.settings.history

    def at_edge(self, numbers: Callable[[], dict[str, int]]) -> None:
        """What an edge adds to that: rejected, in_flight, limit."""
        self._engine.vitals.edge = numbers

    async def stored_instance(self, process_instance_key: int) -> StoredInstance:
        """One instance as it is stored, its state and variables included. Raises NotFound."""
        arguments.key(process_instance_key, "process_instance_key")
        return await self._stored_instance(process_instance_key)

    async def stored_definition(self, process_id: str, *, version: int = 0, version_tag: str = "") -> StoredDefinition:
        """The latest version of a process (or an exact one) of this tenant. Raises NotFound."""
        name = arguments.name(process_id, "process_id")
        number = arguments.whole(version, "version", 0, arguments.VERSION_MAX)
        tag = arguments.text(version_tag, "version_tag")
        found = await self._store.find_definition(name, version=number, version_tag=tag, tenant=self._tenant)
        if found is None:
            which = f" version {number}" if number else f" with version tag '{tag}'" if tag else ""
            raise NotFound(f"Expected process '{name}'{which} to be deployed, found none")
        return found

    def latest_key(self, process_id: str) -> int:
        """The key of the latest version of a process of this tenant, if that is known here at this moment; else 0."""
        found = self._engine.definitions.latest(process_id, self._tenant)
        return found.key if found is not None else 0

    async def compiled(self, process_definition_key: int) -> Definition:
        """A deployed version, compiled. Raises NotFound."""
        return await self._engine.obtain_definition(process_definition_key, self._tenant)

    async def state_of(self, row: StoredInstance) -> State | None:
        """An instance's state, decoded; None where nothing has been decided about it yet."""
        if not row.state:
            return None
        return decode_state(row.state, msgspec.json.decode(row.variables or b"{}"))

    async def past(self, row: StoredInstance) -> Past:
        """The element instances of an instance and the flows that it took; without a history, only what is active."""
        fold = _Fold()
        after = 0
        while page := await self._store.history(row.key, after=after, limit=PAGE_MAX):
            for step in page:
                await fold.be_of(self, step.definition)
                for event in _events.decode(step.events):
                    await fold.take(self, event, step.at)
            after = page[-1].position
        await fold.be_of(self, row.definition)
        state = await self.state_of(row)
        if state is not None and state.nodes:
            fold.see(state, row)
        return Past(elements=fold.elements, flows=fold.flows)

    async def evaluate(self, stored: StoredDecision, variables: dict[str, Any] | None = None) -> Evaluation:
        """What a deployed decision says of these variables. Raises NotFound, InvalidValue, InvalidModel."""
        values = plain_variables(arguments.variables(variables)).values
        model = await self._decision_model(stored)
        return model.evaluate(stored.decision_id, values, now=to_datetime(self._engine.clock.now()))

    async def _decision_model(self, stored: StoredDecision) -> DecisionModel:
        known = _models.get(stored.resource)
        if known is not None:
            return known
        contents: dict[str, bytes] = {}
        for key in (stored.resource, *stored.imports):
            content = await self._store.resource(key)
            if content is None:
                raise NotFound(f"Expected the file {key} of decision '{stored.decision_id}', found none")
            contents[str(key)] = content
        model = compile_resources(contents)[str(stored.resource)]
        _models[stored.resource] = model
        while len(_models) > MODELS_MAX:
            del _models[next(iter(_models))]
        return model


_models: dict[int, DecisionModel] = {}  # by resource, which never changes


class _Fold:
    """Goes through the history, event by event."""

    def __init__(self) -> None:
        self.elements: dict[int, PastElement] = {}
        self.flows: dict[str, int] = {}
        self._definition: Definition | None = None
        self._incidents: dict[int, int] = {}

    async def be_of(self, app: Looking, definition: int) -> None:
        """What follows is of this version."""
        if self._definition is None or self._definition.key != definition:
            try:
                self._definition = await app.compiled(definition)
            except (NotFound, InvalidModel):
                self._definition = None

    async def take(self, app: Looking, event: e.AnyEvent, at: int) -> None:
        """One event."""
        match event:
            case e.Started():
                self._begin(event.instance, 0, 0, at)
            case e.Activated():
                self._begin(event.key, event.element, event.scope, at, is_body=event.body)
            case e.Passed():
                self._begin(event.key, event.element, event.scope, at)
                self._end(event.key, "COMPLETED", at)
            case e.Completed():
                self._end(event.key, "COMPLETED", at)
            case e.Terminated():
                self._end(event.key, "TERMINATED", at)
            case e.FlowTaken():
                self._flow(event.flow)
            case e.IncidentRaised():
                self._incident(event.element_instance, event.key)
                self._incidents[event.key] = event.element_instance
            case e.IncidentResolved():
                self._incident(self._incidents.pop(event.key, 0), 0)
            case e.Ended():
                self._over("COMPLETED" if event.status == 1 else "TERMINATED", at)
            case e.Migrated():
                await self.be_of(app, event.definition)
                self._migrate(event.elements)
            case _:
                pass

    def see(self, state: State, row: StoredInstance) -> None:
        """What is active now, whatever the history kept."""
        for node in state.nodes.values():
            if node.key not in self.elements:
                self._begin(node.key, node.element, node.scope, row.started_at, is_body=node.body)
            self.elements[node.key].incident = node.incident

    def _begin(self, key: int, element: int, scope: int, at: int, *, is_body: bool = False) -> None:
        self.elements[key] = PastElement(
            key=key,
            element=element,
            element_id="",
            element_name="",
            kind=Kind.TASK,
            is_body=is_body,
            scope=scope,
            state="ACTIVE",
            started_at=at,
        )
        self._name(self.elements[key])

    def _name(self, past: PastElement) -> None:
        definition = self._definition
        if definition is not None and 0 <= past.element < len(definition.elements):
            found = definition.elements[past.element]
            past.element_id, past.element_name, past.kind = found.id, found.name, found.kind
            if past.element == 0:
                past.element_id = definition.process_id

    def _end(self, key: int, state: str, at: int) -> None:
        past = self.elements.get(key)
        if past is not None:
            past.state, past.ended_at, past.incident = state, at, 0

    def _incident(self, key: int, incident: int) -> None:
        past = self.elements.get(key)
        if past is not None:
            past.incident = incident

    def _flow(self, index: int) -> None:
        definition = self._definition
        if definition is not None and 0 <= index < len(definition.flows):
            name = definition.flows[index].id
            self.flows[name] = self.flows.get(name, 0) + 1

    def _over(self, state: str, at: int) -> None:
        for past in self.elements.values():
            if past.state == "ACTIVE":
                past.state, past.ended_at, past.incident = state, at, 0

    def _migrate(self, elements: dict[int, int]) -> None:
        for past in self.elements.values():
            if past.state == "ACTIVE":
                past.element = elements.get(past.element, past.element)
                self._name(past)
