"""Migration: an instance goes on under another definition. All or nothing; a dry run names every finding.

Each active element goes to the element that the mapping names, else to the one with the same id. Jobs, user tasks,
variables and the waits of mapped events keep their keys; waits of boundary events and event sub-processes that the
target does not have are closed, those that it has beyond are opened.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from procession.core import events as e
from procession.core.decide import Decision
from procession.core.lifecycle import raise_incident
from procession.core.moving import run
from procession.core.problems import Problem
from procession.core.state import Compensation, ElementInstance, Phase, State, Status, Wait
from procession.core.step import Step
from procession.core.waits import WAITING, open_event
from procession.errors import Conflict
from procession.ids import Keys
from procession.model.definition import Definition, Element, Kind

JOINS = frozenset({Kind.PARALLEL_GATEWAY, Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})


class MigrationFinding(msgspec.Struct, frozen=True):
    """Something about a migration; an error prevents it. ``element`` is the id in the source."""

    severity: str  # error | info
    element: str
    message: str


def migration_findings(
    source: Definition, target: Definition, state: State, mapping: dict[str, str]
) -> list[MigrationFinding]:
    """What prevents the migration of an instance, and which waits it would open or close. Changes nothing."""
    plan = _Plan(source, target, mapping)
    return [*plan.unknown_names(), *plan.findings(state)]


def migrate(
    source: Definition, target: Definition, state: State, mapping: dict[str, str], *, now: int, keys: Keys
) -> Decision:
    """Migrate an instance. Raises Conflict, having changed nothing, with every finding that prevents it."""
    if state.status not in {Status.ACTIVE, Status.SUSPENDED}:
        message = f"Instance {state.key} is over already"
        raise Conflict(message)
    errors = [found for found in migration_findings(source, target, state, mapping) if found.severity == "error"]
    if errors:
        listed = "; ".join(found.message for found in errors)
        message = f"Instance {state.key} cannot be migrated to '{target.process_id}' version {target.version}: {listed}"
        raise Conflict(message)
    plan = _Plan(source, target, mapping)
    step = Step(source, state, now, keys)
    for node in list(state.nodes.values()):
        for wait in list(node.waits or ()):
            if plan.wait_target(wait) is None:
                step.emit(e.WaitClosed(wait.key, "canceled"))
    step.emit(e.Migrated(target.key, plan.elements(), plan.flows()))
    step.definition, step.elements, step.flows = target, target.elements, target.flows
    for node in list(state.nodes.values()):
        _open_new_waits(step, node)
    run(step)
    return Decision(step.state, step.events, step.follow_ups)


def _open_new_waits(step: Step, node: ElementInstance) -> None:
    """Wait for the events that the target has beyond those that were kept."""
    element = step.elements[node.element]
    events = list(element.boundaries) if not node.loop_index else []
    if not node.body:
        events += [step.elements[index].start_event for index in element.event_sub_processes]
    known = {wait.element for wait in node.waits or ()}
    try:
        for index in events:
            if index >= 0 and index not in known:
                open_event(step, step.elements[index], node, node.key)
    except Problem as problem:
        if not node.incident:
            raise_incident(step, node, problem, Phase(node.phase))


class _Plan:
    """Which element becomes which."""

    def __init__(self, source: Definition, target: Definition, mapping: dict[str, str]) -> None:
        self.source = source
        self.target = target
        self.mapping = mapping

    def element(self, index: int) -> Element | None:
        """Where an element of the source goes."""
        if index == 0:
            return self.target.elements[0]
        name = self.source.elements[index].id
        found = self.target.index_of.get(self.mapping.get(name, name))
        return None if found is None else self.target.elements[found]

    def elements(self) -> dict[int, int]:
        """Every element of the source that has a place in the target."""
        pairs = ((element.index, self.element(element.index)) for element in self.source.elements)
        return {index: target.index for index, target in pairs if target is not None}

    def flows(self) -> dict[int, int]:
        """Flows of the source that the target has: by id, else the one between the same elements."""
        by_id = {flow.id: flow.index for flow in self.target.flows}
        by_ends = {(flow.source, flow.target): flow.index for flow in self.target.flows}
        found: dict[int, int] = {}
        for flow in self.source.flows:
            ends = [self.element(flow.source), self.element(flow.target)]
            between = by_ends.get((ends[0].index, ends[1].index)) if ends[0] and ends[1] else None
            index = by_id.get(self.mapping.get(flow.id, flow.id), between)
            if index is not None:
                found[flow.index] = index
        return found

    def wait_target(self, wait: Wait) -> Element | None:
        """The event of the target that goes on waiting; None: the wait is closed."""
        event = self.source.elements[wait.element]
        found = self.element(wait.element)
        if found is None or found.kind != event.kind or wait.spec >= len(found.events):
            return None
        if event.attached_to >= 0:
            host = self.element(event.attached_to)
            if host is None or found.attached_to != host.index:
                return None
        same = found.events[wait.spec].trigger == event.events[wait.spec].trigger
        return found if same and found.interrupting == event.interrupting else None

    def unknown_names(self) -> Iterator[MigrationFinding]:
        """Names of the mapping that one of the definitions does not have."""
        for name, other in self.mapping.items():
            flows = {flow.id for flow in self.source.flows} | {flow.id for flow in self.target.flows}
            if name not in self.source.index_of and name not in flows:
                yield self._error(name, f"The mapping names '{name}', which '{self.source.process_id}' does not have")
            if other not in self.target.index_of and other not in flows:
                yield self._error(name, f"The mapping names '{other}', which '{self.target.process_id}' does not have")

    def findings(self, state: State) -> Iterator[MigrationFinding]:
        """What prevents the migration of what is active, and what happens to waits."""
        for key in state.ending:
            name = self.source.elements[state.nodes[key].element].id
            yield self._error(name, f"'{name}' is being taken away: migrate when that has come to its end")
        flows = self.flows()
        for node in state.nodes.values():
            yield from self._active(state, node)
            for index, here in (node.arrived or {}).items():
                yield from self._parked(index, here, flows)
            for record in node.compensations or ():
                yield from self._recorded(record)
            yield from self._waits(node)
        for flow, index, _ in state.pending:
            if index and (self.element(index) is None or (flow >= 0 and flow not in flows)):
                name = self.source.elements[index].id
                yield self._error(name, f"A token is on its way to '{name}', which has no place in the target")

    def _active(self, state: State, node: ElementInstance) -> Iterator[MigrationFinding]:
        element = self.source.elements[node.element]
        if node.key == state.root:
            return
        found = self.element(node.element)
        if found is None:
            yield self._error(element.id, f"'{element.id}' is active and the target has no '{element.id}': map it")
            return
        if found.kind != element.kind or found.work != element.work:
            yield self._error(
                element.id, f"'{element.id}' is a {_kind(element)}, and '{found.id}' of the target a {_kind(found)}"
            )
        around = self.element(element.scope)
        if around is not None and found.scope != around.index:
            yield self._error(element.id, f"'{found.id}' of the target stands in another scope than '{element.id}'")
        if _repeats(element) != _repeats(found):
            yield self._error(element.id, f"'{element.id}' and '{found.id}' of the target are repeated differently")

    def _parked(self, index: int, here: dict[int, int], flows: dict[int, int]) -> Iterator[MigrationFinding]:
        element = self.source.elements[index]
        found = self.element(index)
        if found is None or found.kind != element.kind:
            yield self._error(element.id, f"Tokens wait before '{element.id}', which has no counterpart in the target")
            return
        for flow in here:
            if flows.get(flow, -1) not in found.incoming:
                name = self.source.flows[flow].id
                yield self._error(element.id, f"A token waits on '{name}', which does not lead to '{found.id}': map it")

    def _recorded(self, record: Compensation) -> Iterator[MigrationFinding]:
        element = self.source.elements[record.element]
        found = self.element(record.element)
        if found is None:
            yield self._error(element.id, f"'{element.id}' can still be compensated, and the target has no counterpart")
        for nested in record.nested or ():
            yield from self._recorded(nested)

    def _waits(self, node: ElementInstance) -> Iterator[MigrationFinding]:
        """Events that are closed and opened."""
        kept: set[int] = set()
        for wait in node.waits or ():
            event = self.source.elements[wait.element]
            found = self.wait_target(wait)
            own = event.attached_to < 0 and event.kind != Kind.START_EVENT
            if found is not None:
                kept.add(found.index)
            elif own:
                yield self._error(event.id, f"'{event.id}' is waited for, and the target has no such event: map it")
            else:
                yield MigrationFinding("info", event.id, f"'{event.id}' is not waited for any more")
        target = self.element(node.element)
        for index in () if target is None or node.loop_index else target.boundaries:
            boundary = self.target.elements[index]
            if index not in kept and any(spec.trigger in WAITING for spec in boundary.events):
                yield MigrationFinding("info", boundary.id, f"'{boundary.id}' is waited for from now on")

    def _error(self, element: str, message: str) -> MigrationFinding:
        return MigrationFinding("error", element, message)


def _kind(element: Element) -> str:
    return f"{element.kind.name.lower().replace('_', ' ')} ({element.work.name.lower()})"


def _repeats(element: Element) -> tuple[bool, bool]:
    """Whether and how an activity is repeated."""
    return (element.loop is not None, element.loop is not None and element.loop.sequential)
