"""Gateways: exclusive, parallel, inclusive. Which flows a token leaves by, and when a join fires.

Joins count tokens per incoming flow and never reset or forget one: a surplus token stays for the next set. An
inclusive join is looked at whenever its scope has come to rest, so whatever moved, ended or was removed elsewhere in
the scope counts (BPMN 2.0, table 13.3).
"""

from __future__ import annotations

from procession.core import events as e
from procession.core.indexes import count_all
from procession.core.lifecycle import default_of, pass_through
from procession.core.state import IncidentKind
from procession.core.step import Step
from procession.model.definition import Element, Kind

OR_JOINS = frozenset({Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})


def enter_exclusive(step: Step, element: Element, scope: int, flow: int) -> None:  # noqa: ARG001 - family signature
    """Merge without waiting, then choose."""
    pass_through(step, element, scope)


def choose_exclusive(step: Step, element: Element, scope: int) -> tuple[int, ...]:
    """The first flow in document order whose condition is true; later ones are not evaluated."""
    outgoing = element.outgoing
    if len(outgoing) < 2 and (not outgoing or step.flows[outgoing[0]].condition is None):
        return outgoing
    context = step.context(scope)
    for index in outgoing:
        if index == element.default_flow:
            continue
        condition = step.flows[index].condition
        holds = condition is None or step.evaluate(condition, context) is True
        step.be_strict(IncidentKind.CONDITION_ERROR, "condition", step.flows[index])
        if holds:
            step.warnings.clear()
            return (index,)
    return default_of(step, element)


def choose_inclusive(step: Step, element: Element, scope: int) -> tuple[int, ...]:
    """Every flow whose condition is true, else the default."""
    outgoing = element.outgoing
    if len(outgoing) < 2 and (not outgoing or step.flows[outgoing[0]].condition is None):
        return outgoing
    context = step.context(scope)
    chosen = tuple(
        index
        for index in outgoing
        if index != element.default_flow
        and ((condition := step.flows[index].condition) is None or step.evaluate(condition, context) is True)
    )
    step.be_strict(IncidentKind.CONDITION_ERROR, "condition of a flow", element)
    if chosen:
        step.warnings.clear()
        return chosen
    return default_of(step, element)


def choose_parallel(step: Step, element: Element, scope: int) -> tuple[int, ...]:  # noqa: ARG001
    """All flows; conditions are ignored (BPMN 2.0, 10.6.4)."""
    return element.outgoing


def enter_parallel(step: Step, element: Element, scope: int, flow: int) -> None:
    """Park the token; fire once per complete set of tokens, one from each incoming flow."""
    incoming = element.incoming
    if flow < 0 or len(incoming) < 2:
        pass_through(step, element, scope)
        return
    step.emit(e.TokenParked(flow, element.index, scope))
    arrived = step.state.nodes[scope].arrived or {}
    if len(arrived[element.index]) < len(incoming):
        return
    step.emit(e.TokensJoined(element.index, scope, incoming))
    pass_through(step, element, scope)


def enter_inclusive(step: Step, element: Element, scope: int, flow: int) -> None:
    """Park the token; whether the join fires is decided when the scope is at rest (``settle``)."""
    if flow < 0 or len(element.incoming) < 2:
        pass_through(step, element, scope)
        return
    step.emit(e.TokenParked(flow, element.index, scope))


def settle(step: Step, scope: int) -> bool:
    """Fire one inclusive join of a scope at rest, if one is enabled. True when one fired."""
    node = step.state.nodes.get(scope)
    if node is None or not node.arrived:
        return False
    waiting: dict[int, list[int]] = {}
    for index, here in node.arrived.items():
        join = step.elements[index]
        if join.kind in OR_JOINS and join.activation_condition is None:
            waiting[index] = list(here)
    if not waiting:
        return False
    elsewhere = tokens_at(step, scope)
    for target, flows in waiting.items():
        if enabled(step.elements[target], flows, elsewhere | parked_mask(step, scope, target)):
            fire(step, step.elements[target], scope, flows)
            return True
    if not elsewhere and not step.state.children.get(scope):
        target = min(waiting)  # joins that only wait for each other: nothing else can ever move in this scope
        fire(step, step.elements[target], scope, waiting[target])
        return True
    return False


def tokens_at(step: Step, scope: int) -> int:
    """Mask of the elements that are active directly within a scope, tokens on their way included."""
    if step.state.counts is None:
        count_all(step.state)
    mask = step.state.masks.get(scope, 0)
    for _, element, where in step.state.pending:
        if where == scope:
            mask |= 1 << element
    return mask


def parked_mask(step: Step, scope: int, but: int) -> int:
    """Mask of the other joins of the scope that hold tokens."""
    mask = 0
    for target in step.state.nodes[scope].arrived or ():
        if target != but:
            mask |= 1 << target
    return mask


def enabled(element: Element, flows: list[int], elsewhere: int) -> bool:
    """Whether no token elsewhere in the scope can still reach an incoming flow that holds none.

    The standard does not wait for a token that could come by a flow that holds one as well; like Camunda 8 we do, since
    it may be the one that belongs to this set: a join that fired without it would fire twice for one split.
    """
    for position, flow in enumerate(element.incoming):
        if flow not in flows and elsewhere & element.upstream[position]:
            return False
    return True


def fire(step: Step, element: Element, scope: int, flows: list[int]) -> None:
    """Consume one token of each flow that holds one, and go on."""
    step.emit(e.TokensJoined(element.index, scope, tuple(flows)))
    pass_through(step, element, scope)
