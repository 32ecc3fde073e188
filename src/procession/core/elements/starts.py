"""How an instance begins that an event started: the event has happened already, so nothing waits for it again.

Some starts need more than one event: a parallel multiple start event, and what stands behind a parallel instantiating
event-based gateway. The first of them makes the instance; it waits for the others itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from procession.core import events as e
from procession.core.elements.triggers import go_on
from procession.core.step import Step
from procession.core.waits import WAITING, open_event, open_wait
from procession.model.definition import Definition, Element, EventSpec, Kind, Trigger


def begin_triggered(step: Step, start: Element, scope: int, event: str, variables: dict[str, Any]) -> None:
    """Begin at a start event, an instantiating receive task, or a catch behind an event-based gateway."""
    gateway = _gateway_before(step, start)
    if gateway is not None:
        step.emit(e.FlowTaken(start.incoming[0], scope))
        if gateway.event_gateway_type == "Parallel":
            _wait_for_siblings(step, gateway, start, scope)
    elif start.parallel_multiple and len(start.events) > 1:
        _wait_for_rest(step, start, scope, event, variables)
        return
    go_on(step, start, scope, variables)


def starts_that_hold(
    definition: Definition, variables: dict[str, Any], now: datetime, warnings: list[Any] | None = None
) -> list[str]:
    """Ids of the conditional start events of a process whose condition these variables fulfil; null does not.

    There is no instance yet whose change could be noticed: somebody asks, with the variables that are to begin with.
    """
    return [
        element.id
        for element in (definition.elements[index] for index in definition.start_events)
        for spec in element.events
        if spec.trigger == Trigger.CONDITIONAL
        and spec.condition is not None
        and spec.condition.evaluate(variables, now=now, warnings=warnings) is True
    ]


def _gateway_before(step: Step, start: Element) -> Element | None:
    """The instantiating event-based gateway in front of an element."""
    if not start.incoming:
        return None
    source = step.elements[step.flows[start.incoming[0]].source]
    return source if source.kind == Kind.EVENT_BASED_GATEWAY and source.instantiate else None


def _wait_for_siblings(step: Step, gateway: Element, start: Element, scope: int) -> None:
    """The other events behind a parallel gateway still have to come. Raises Problem."""
    others = [target for flow in gateway.outgoing if (target := step.flows[flow].target) != start.index]
    if not others:
        return
    node = _waiter(step, gateway, scope)
    for index in others:
        open_event(step, step.elements[index], step.state.nodes[node], scope)


def _wait_for_rest(step: Step, start: Element, scope: int, event: str, variables: dict[str, Any]) -> None:
    """The other events of a parallel multiple start event still have to come. Raises Problem."""
    came = next((spec for spec in start.events if _is(spec, event)), start.events[0])
    node = _waiter(step, start, scope)
    if variables:
        step.emit(e.VariablesSet(node, variables))
    for position, spec in enumerate(start.events):
        if spec is not came and spec.trigger in WAITING:
            open_wait(step, start, position, spec, step.state.nodes[node], scope)


def _waiter(step: Step, element: Element, scope: int) -> int:
    """An element instance that only waits."""
    key = step.keys.take()
    step.emit(e.Activated(key, element.index, scope, -1, False, 0))  # noqa: FBT003 - a positional record
    return key


def _is(spec: EventSpec, event: str) -> bool:
    """Whether this is the event definition that was triggered."""
    return bool(event) and spec.name is not None and spec.name.evaluate({}) == event
