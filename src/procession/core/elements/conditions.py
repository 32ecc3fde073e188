"""Conditional events: looked at when a variable that their condition sees has changed, and once when they open.

Camunda 8's rule for non-interrupting ones: every matching change fires again. A condition sees the variables of the
element that waits: its activity for a boundary event, its scope for an event sub-process. Only a change that is visible
there counts: a local variable of the same name hides one further out.
"""

from __future__ import annotations

from procession.core import events as e
from procession.core.elements import doubts
from procession.core.elements.complex_gateway import fire_if_enough
from procession.core.elements.triggers import fire
from procession.core.lifecycle import IN_DOUBT
from procession.core.problems import Problem
from procession.core.removal import is_going
from procession.core.state import ElementInstance, IncidentKind, Wait
from procession.core.step import Step
from procession.limits import STEP_EVENTS_MAX
from procession.model.definition import Element, EventSpec, Kind


def settle(step: Step) -> bool:
    """Fire the conditions that have become true. True when one fired."""
    changed, fresh = step.changed, dict.fromkeys(step.new_conditions)
    step.changed, step.new_conditions = {}, []
    fired = False
    names = step.definition.condition_names
    concerned = step.state.conditions if any(name in names for _, name in changed) else fresh
    for key in list(concerned):
        owner = step.state.nodes.get(step.state.waits.get(key, 0))
        if owner is None or is_going(step.state, owner.key):
            continue
        wait = next(wait for wait in owner.waits or () if wait.key == key)
        spec = step.elements[wait.element].events[wait.spec]
        if (key in fresh or _concerns(step, spec, owner.key, changed)) and _holds(step, spec, owner, wait):
            if len(step.events) >= STEP_EVENTS_MAX:
                step.emit(e.WaitSeen(key, True))  # noqa: FBT003 - a positional record
                step.cut = True
            else:
                fire(step, owner, wait, {})
                fired = True
    return fired


def defer(step: Step) -> None:
    """Mark the conditions that should be looked at, for the step that goes on."""
    changed, fresh = step.changed, set(step.new_conditions)
    step.changed, step.new_conditions = {}, []
    for key, owner, wait in _open(step):
        spec = step.elements[wait.element].events[wait.spec]
        if not wait.seen and (key in fresh or _concerns(step, spec, owner.key, changed)):
            step.emit(e.WaitSeen(key, True))  # noqa: FBT003 - a positional record
            step.cut = True


def are_deferred(step: Step) -> bool:
    """Whether some condition is marked."""
    return any(wait.seen and not _counts(step, wait) for _, _, wait in _open(step))


def take_up(step: Step) -> None:
    """The marked conditions are looked at in this step."""
    for key, _, wait in _open(step):
        if wait.seen and not _counts(step, wait):
            step.emit(e.WaitSeen(key, False))  # noqa: FBT003 - a positional record
            step.new_conditions.append(key)


def _open(step: Step) -> list[tuple[int, ElementInstance, Wait]]:
    """The open conditional waits with their owners."""
    found: list[tuple[int, ElementInstance, Wait]] = []
    for key in step.state.conditions:
        owner = step.state.nodes[step.state.waits[key]]
        found += [(key, owner, wait) for wait in owner.waits or () if wait.key == key]
    return found


def _counts(step: Step, wait: Wait) -> bool:
    """Whether ``seen`` means that one part of a parallel multiple event has come."""
    return step.elements[wait.element].parallel_multiple


def _concerns(step: Step, spec: EventSpec, scope: int, changed: dict[tuple[int, str], str]) -> bool:
    """Whether one of the changes is of a variable that the condition sees, and of a kind that it listens to."""
    names = spec.variable_names or (spec.condition.names if spec.condition is not None else frozenset[str]())
    kinds = [changed.get((_holder(step, scope, name), name), "") for name in names]
    return any(kind and (not spec.variable_events or kind in spec.variable_events) for kind in kinds)


def _holder(step: Step, key: int, name: str) -> int:
    """The nearest scope that holds a variable, from here upwards."""
    root = step.state.root
    while key != root:
        node = step.state.nodes[key]
        if node.variables is not None and name in node.variables:
            return key
        key = node.scope
    return root


def _holds(step: Step, spec: EventSpec, owner: ElementInstance, wait: Wait) -> bool:
    """Whether the condition is true now; null is not.

    Where expressions are strict, a warning is an incident as soon as all variables of the condition exist: until then
    it only says that there is something to wait for.
    """
    if spec.condition is None:
        return False
    context = step.context(owner.key)
    value = step.evaluate(spec.condition, context)
    doubtful = step.strict and spec.condition.names <= context.keys() and _is_doubtful(step, owner, wait)
    step.warnings.clear()
    return value is True and not doubtful


def _is_doubtful(step: Step, owner: ElementInstance, wait: Wait) -> bool:
    """Whether it gave a warning. A person is asked about it, once; one without answers an earlier question itself."""
    doubtful = bool(step.warnings)
    event = step.elements[wait.element]
    scope = owner.key if event.kind == Kind.START_EVENT else owner.scope
    asked = doubts.asked(step, event, scope)
    if asked is not None and not doubtful:
        doubts.withdraw(step, asked)
    elif asked is None:
        try:
            step.be_strict(IncidentKind.CONDITION_ERROR, "condition", event)
        except Problem as problem:
            doubts.ask(step, event, scope, problem, wait.key)
    return doubtful


def judge_again(step: Step, element: Element, node: ElementInstance) -> None:
    """A person has answered: what held the incident makes way, and the condition is evaluated once more."""
    scope, wait = node.scope, (node.data or {})[IN_DOUBT]
    doubts.make_way(step, node)
    if element.kind == Kind.COMPLEX_GATEWAY:
        fire_if_enough(step, element, scope)
    elif wait in step.state.conditions:
        step.new_conditions.append(wait)
