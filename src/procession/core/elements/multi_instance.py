"""Multi-instance activities and standard loops: a body that holds inner instances of the same element.

The body's ``loop`` keeps the counters: ``total``, ``next`` (the position of the next inner instance, from 1),
``done`` and, where wanted, ``items`` and ``outputs`` by position. Inner instances are made by tokens that enter the
element within the body, so a huge collection is cut by the bound of the step like anything else.
"""

from __future__ import annotations

from typing import Any, cast

from procession.core import events as e
from procession.core.elements.signals import broadcast
from procession.core.elements.triggers import go_on
from procession.core.lifecycle import activate, leave, raise_incident, record
from procession.core.problems import Problem
from procession.core.removal import empty, is_gone
from procession.core.state import ElementInstance, IncidentKind, Phase
from procession.core.step import Step
from procession.core.variables import plain, propagate, whole_number, write
from procession.core.waits import close_waits, text_of
from procession.model.definition import Element, EventSpec, LoopSpec, Trigger

CHUNK = 100  # inner instances made before the main loop looks at the bound of the step again
ITERATIONS_MAX = 1_000_000


def enter_loop(step: Step, element: Element, scope: int, flow: int) -> None:
    """A token arrives at the activity (make the body) or within its body (make inner instances)."""
    around = step.state.nodes[scope]
    if around.body and around.element == element.index:
        make_inner(step, element, around)
    else:
        activate(step, element, scope, flow, body=True)


def start_multi_instance(step: Step, element: Element, body: ElementInstance) -> None:
    """Evaluate the collection or the cardinality once. Raises Problem."""
    spec = _spec(element)
    items = _items(step, element, spec, body)
    total = len(items) if items is not None else _cardinality(step, element, spec, body)
    changes: dict[str, Any] = {"total": total, "next": 1, "done": 0}
    if items is not None:
        changes["items"] = items
    if spec.output_collection:
        changes["outputs"] = [None] * total
    step.emit(e.LoopChanged(body.key, changes))
    if spec.count_variables:
        write(step, body.key, _counters(spec, total, 0))
    if total:
        step.enter(element.index, body.key)
    else:
        end_body(step, body)


def make_inner(step: Step, element: Element, body: ElementInstance) -> None:
    """Make the next inner instance, or for a parallel one the next chunk of them."""
    spec = _spec(element)
    loop = body.loop or {}
    first = loop["next"]
    last = first if spec.sequential or not spec.multi_instance else min(loop["total"], first + CHUNK - 1)
    items = loop.get("items")
    changes: dict[str, Any] = {"next": last + 1}
    if items is not None and last >= loop["total"]:
        changes["items"] = None  # every item is handed out: the state need not carry them
    step.emit(e.LoopChanged(body.key, changes))
    for position in range(first, last + 1):
        variables: dict[str, Any] = {"loopCounter": position - 1 + spec.counter_from}
        if spec.element_variable and items is not None:
            variables[spec.element_variable] = items[position - 1]
        activate(step, element, body.key, loop_index=position, variables=variables)
        if is_gone(step.state, body.key):
            return
    if spec.multi_instance and not spec.sequential and last < loop["total"]:
        step.enter(element.index, body.key)


def left_multi_instance(step: Step, element: Element, node: ElementInstance) -> bool:
    """An inner instance's work is done: collect its output, then go on, or end the body. False for the body itself."""
    if node.body:
        return False
    spec = _spec(element)
    body = step.state.nodes[node.scope]
    loop = body.loop or {}
    try:
        output = _output(step, spec, node)
        satisfied = _condition_holds(step, spec, body, node, done=loop["done"] + 1)
        thrown = _behavior(step, element, body, done=loop["done"] + 1)
    except Problem as problem:
        raise_incident(step, node, problem, Phase.LEAVING)
        return True
    if spec.output_collection:
        step.emit(e.LoopResult(body.key, node.loop_index, output))
    end_inner(step, element, node)
    step.emit(e.LoopChanged(body.key, {"done": loop["done"] + 1}))
    if spec.count_variables:
        write(step, body.key, _counters(spec, loop["total"], loop["done"]))
    satisfied = throw_behavior(step, element, body, thrown) or satisfied
    if is_gone(step.state, body.key):
        return True
    if satisfied or loop["done"] >= loop["total"]:
        end_body(step, body)
    elif spec.sequential:
        step.enter(element.index, body.key)
    return True


def end_inner(step: Step, element: Element, node: ElementInstance) -> None:
    """One inner instance is over."""
    if element.compensation_handler >= 0 or node.compensations:
        record(step, element, node)
    close_waits(step, node)
    step.emit(e.Completed(node.key))


def inner_removed(step: Step, element: Element, body: ElementInstance) -> None:
    """An inner instance was taken away by hand: it counts as done, without a result."""
    spec = _spec(element)
    loop = body.loop or {}
    step.emit(e.LoopChanged(body.key, {"done": loop["done"] + 1}))
    if not spec.multi_instance or loop["done"] >= loop["total"]:
        end_body(step, body)
    elif spec.sequential:
        step.enter(element.index, body.key)


def _behavior(step: Step, element: Element, body: ElementInstance, done: int) -> list[EventSpec]:
    """What the multi-instance behaviour throws at a completion: each, the first, or where a condition holds.

    Raises Problem.
    """
    spec = _spec(element)
    if spec.behavior == "All" or (spec.behavior == "One" and done != 1):
        return []
    context = {**step.context(body.key), **_counts(step, body, done, leaving=1)}
    thrown = [
        event
        for condition, event in spec.behavior_events
        if condition is None or step.evaluate(condition, context) is True
    ]
    step.be_strict(IncidentKind.CONDITION_ERROR, "condition of the behaviour", element)
    step.warnings.clear()
    return thrown


def throw_behavior(step: Step, element: Element, body: ElementInstance, thrown: list[EventSpec]) -> bool:
    """Throw the events of the multi-instance behaviour (BPMN 2.0, 13.3.7).

    They are caught by boundary events of the activity; a signal that none catches is broadcast. None and One only tell
    of a completion: the activity goes on whatever the boundary event says. Complex decides: an interrupting boundary
    event removes the inner instances that are left, and the activity leaves by its own flows too. True: enough, the
    activity ends.
    """
    enough = False
    for event in thrown:
        boundary = _catching(step, element, event)
        if boundary is not None:
            step.emit(e.Triggered(boundary.index, body.scope, event.trigger, event.ref))
            go_on(step, boundary, body.scope, {})
            enough = enough or (_spec(element).behavior == "Complex" and boundary.interrupting)
        elif event.trigger == Trigger.SIGNAL:
            name = text_of(step, event.name, body.key, f"signal of the behaviour of '{element.id}'")
            broadcast(step, name, dict(step.context(body.key)))
    return enough


def _catching(step: Step, element: Element, event: EventSpec) -> Element | None:
    """The boundary event of the activity that waits for the same signal or message."""
    for index in element.boundaries:
        boundary = step.elements[index]
        if any(caught.trigger == event.trigger and caught.ref == event.ref for caught in boundary.events):
            return boundary
    return None


def end_body(step: Step, body: ElementInstance) -> None:
    """Remove what still runs, hand the results up, and leave by the activity's flows."""
    empty(step, body.key, "loop")


def loop_emptied(step: Step, scope: int, about: dict[str, Any]) -> None:
    """Nothing is left in a body: it is over."""
    del about
    body = step.state.nodes[scope]
    element = step.elements[body.element]
    spec = _spec(element)
    if spec.output_collection and body.loop is not None:
        propagate(step, body.scope, {spec.output_collection: body.loop.get("outputs", [])})
    leave(step, element, body)


def start_loop(step: Step, element: Element, body: ElementInstance) -> None:
    """A standard loop: test first, or run once. Raises Problem."""
    spec = _spec(element)
    if spec.loop_maximum < -1:
        message = f"The loopMaximum of '{element.id}' (line {element.line}) is negative"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)
    step.emit(e.LoopChanged(body.key, {"next": 1, "done": 0}))
    if spec.loop_maximum == 0 or (spec.test_before and not _goes_on(step, spec, body)):
        end_body(step, body)
    else:
        step.enter(element.index, body.key)


def left_loop(step: Step, element: Element, node: ElementInstance) -> bool:
    """One iteration is over: again while the condition holds, at most ``loopMaximum`` times."""
    if node.body:
        return False
    spec = _spec(element)
    body = step.state.nodes[node.scope]
    done = (body.loop or {})["done"] + 1
    try:
        again = spec.loop_maximum < 0 or done < spec.loop_maximum
        again = again and done < ITERATIONS_MAX and _goes_on(step, spec, node)
    except Problem as problem:
        raise_incident(step, node, problem, Phase.LEAVING)
        return True
    end_inner(step, element, node)
    step.emit(e.LoopChanged(body.key, {"done": done}))
    if again:
        step.enter(element.index, body.key)
    else:
        end_body(step, body)
    return True


def _spec(element: Element) -> LoopSpec:
    """The element's loop characteristics."""
    assert element.loop is not None
    return element.loop


def _items(step: Step, element: Element, spec: LoopSpec, body: ElementInstance) -> list[Any] | None:
    """The input collection, None when there is only a cardinality. Raises Problem."""
    if spec.collection is None:
        return None
    value: object = plain(step.evaluate(spec.collection, step.context(body.key)))
    step.be_strict(IncidentKind.EXTRACT_VALUE_ERROR, "input collection", element)
    why = step.take_warnings()
    if not isinstance(value, list):
        message = f"Expected a list as the input collection of '{element.id}' (line {element.line}), found {value!r}"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message[:1000] + (f": {why}" if why else ""))
    return list(cast("list[Any]", value))


def _cardinality(step: Step, element: Element, spec: LoopSpec, body: ElementInstance) -> int:
    """How many inner instances there are without a collection. Raises Problem."""
    value = step.evaluate(spec.cardinality, step.context(body.key)) if spec.cardinality is not None else None
    step.be_strict(IncidentKind.EXTRACT_VALUE_ERROR, "cardinality", element)
    why = step.take_warnings()
    number = whole_number(value, 0, ITERATIONS_MAX)
    if number is None:
        message = (
            f"Expected a whole number from 0 to {ITERATIONS_MAX} as the cardinality of '{element.id}' "
            f"(line {element.line}), found {value!r}"
        )
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message + (f": {why}" if why else ""))
    return number


def _output(step: Step, spec: LoopSpec, node: ElementInstance) -> Any:  # noqa: ANN401 - any JSON value
    """The inner instance's output element."""
    if spec.output_element is None:
        return None
    value = plain(step.evaluate(spec.output_element, step.context(node.key)))
    step.be_strict(IncidentKind.EXTRACT_VALUE_ERROR, "output element", step.elements[node.element])
    why = step.take_warnings()
    if why:
        step.emit(e.Warned(node.key, node.element, why))
    return value


def _condition_holds(step: Step, spec: LoopSpec, body: ElementInstance, node: ElementInstance, done: int) -> bool:
    """Whether the completion condition is true after ``done`` inner instances. Raises Problem."""
    if spec.completion_condition is None:
        return False
    context = {**step.context(node.key), **_counts(step, body, done, leaving=1)}
    return _truth(step, spec.completion_condition, context, "completion condition", node)


def _counts(step: Step, body: ElementInstance, done: int, leaving: int = 0) -> dict[str, Any]:
    """The counters that conditions see, by Camunda 8's names and by Camunda 7's."""
    total = (body.loop or {})["total"]
    active = len(step.state.children.get(body.key, ())) - leaving
    return {
        "numberOfInstances": total,
        "numberOfCompletedInstances": done,
        "numberOfActiveInstances": active,
        "numberOfTerminatedInstances": 0,
        "nrOfInstances": total,
        "nrOfCompletedInstances": done,
        "nrOfActiveInstances": active,
    }


def _counters(spec: LoopSpec, total: int, done: int) -> dict[str, Any]:
    """The variables in which Camunda 7 shows the counters to the inner instances."""
    active = min(1, total - done) if spec.sequential else total - done
    return {"nrOfInstances": total, "nrOfCompletedInstances": done, "nrOfActiveInstances": active}


def _goes_on(step: Step, spec: LoopSpec, node: ElementInstance) -> bool:
    """Whether a standard loop's condition holds; without one it does. Raises Problem."""
    if spec.loop_condition is None:
        return spec.loop_maximum >= 0
    return _truth(step, spec.loop_condition, step.context(node.key), "loop condition", node)


def _truth(step: Step, condition: Any, context: dict[str, Any], what: str, node: ElementInstance) -> bool:  # noqa: ANN401
    """A condition's value. Raises Problem when it is neither true nor false."""
    value = step.evaluate(condition, context)
    step.be_strict(IncidentKind.CONDITION_ERROR, what, step.elements[node.element])
    why = step.take_warnings()
    if not isinstance(value, bool):
        element = step.elements[node.element]
        message = f"Expected true or false as the {what} of '{element.id}' (line {element.line}), found {value!r}"
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message + (f": {why}" if why else ""))
    return value
