"""The complex gateway: an activation condition over arrived tokens, and a reset that swallows the late ones.

BPMN 2.0, 13.4.5. Waiting for start, each arrival evaluates the activation condition, which sees ``activationCount``
(tokens that have arrived, over all incoming flows). When it holds, one token of each flow that has one is consumed and
the gateway goes on. It then waits for its reset: it swallows one token of each other flow, as far as one can still
come; what else arrives meanwhile is kept, and looked at when the gateway is ready again. Without a condition it is an
inclusive gateway.
"""

from __future__ import annotations

from typing import Any, cast

from procession.core import events as e
from procession.core.elements import doubts
from procession.core.elements.gateways import enter_inclusive, parked_mask, tokens_at
from procession.core.lifecycle import pass_through
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind
from procession.core.step import Step
from procession.model.definition import Element


def enter_complex(step: Step, element: Element, scope: int, flow: int) -> None:
    """A token arrives: swallow it after a firing, else see whether the gateway fires."""
    if flow < 0 or len(element.incoming) < 2 or element.activation_condition is None:
        enter_inclusive(step, element, scope, flow)
        return
    node = step.state.nodes[scope]
    late = _late(node, element)
    step.emit(e.TokenParked(flow, element.index, scope))
    if flow in late:
        step.emit(e.TokensJoined(element.index, scope, (flow,)))
        late = [other for other in late if other != flow]
        _remember(step, node, element, late)
        step.ended_in[scope] = None
    if not late:
        fire_if_enough(step, element, scope)


def fire_if_enough(step: Step, element: Element, scope: int) -> bool:
    """Evaluate the activation condition over the tokens that have arrived; fire if it holds."""
    node = step.state.nodes[scope]
    arrived = (node.arrived or {}).get(element.index)
    if not arrived or element.activation_condition is None or doubts.asked(step, element, scope) is not None:
        return False
    context: dict[str, Any] = {**step.context(scope), "activationCount": sum(arrived.values())}
    holds = step.evaluate(element.activation_condition, context) is True
    try:
        step.be_strict(IncidentKind.CONDITION_ERROR, "activation condition", element)
    except Problem as problem:
        doubts.ask(step, element, scope, problem)
        return True
    step.warnings.clear()
    if not holds:
        return False
    here = tuple(index for index in element.incoming if index in arrived)
    step.emit(e.TokensJoined(element.index, scope, here))
    _remember(step, node, element, [index for index in element.incoming if index not in here])
    pass_through(step, element, scope)
    return True


def settle(step: Step, element: Element, scope: int) -> bool:
    """A scope at rest, tokens kept until the reset: is it over, because no late token can come? True when it fired."""
    node = step.state.nodes[scope]
    late = _late(node, element)
    if not late:
        return False
    elsewhere = tokens_at(step, scope) | parked_mask(step, scope, element.index)
    still = [flow for flow in late if elsewhere & element.upstream[element.incoming.index(flow)]]
    _remember(step, node, element, still)
    return not still and fire_if_enough(step, element, scope)


def _all_late(node: ElementInstance) -> dict[str, list[int]]:
    """Per gateway (its index as text) the flows whose next token it swallows."""
    return dict(cast("dict[str, list[int]]", (node.data or {}).get("late") or {}))


def _late(node: ElementInstance, element: Element) -> list[int]:
    """The flows whose next token this gateway swallows."""
    return _all_late(node).get(str(element.index), [])


def _remember(step: Step, node: ElementInstance, element: Element, late: list[int]) -> None:
    """Keep the flows whose next token is swallowed."""
    if late == _late(node, element):
        return
    others = _all_late(node)
    others.pop(str(element.index), None)
    if late:
        others[str(element.index)] = late
    step.emit(e.DataChanged(node.key, {"late": others or None}))
