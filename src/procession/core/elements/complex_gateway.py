"""The complex gateway: an activation condition over arrived tokens, and a reset that swallows the late ones.

BPMN 2.0, 13.4.5: waiting for start, each arrival evaluates the activation condition, which sees ``activationCount``
(tokens that have arrived, over all incoming flows). When it holds, one token of each flow that has one is consumed and
the gateway goes on; it then swallows one token of each other flow, or as many as can still come, and is ready again.
Without a condition it is an inclusive gateway.
"""

from __future__ import annotations

from typing import Any, cast

from procession.core import events as e
from procession.core.elements.gateways import enter_inclusive, parked_mask, tokens_at
from procession.core.lifecycle import pass_through
from procession.core.state import ElementInstance
from procession.core.step import Step
from procession.model.definition import Element


def enter_complex(step: Step, element: Element, scope: int, flow: int) -> None:
    """A token arrives: swallow it after a firing, else see whether the gateway fires."""
    if flow < 0 or len(element.incoming) < 2 or element.activation_condition is None:
        enter_inclusive(step, element, scope, flow)
        return
    node = step.state.nodes[scope]
    late = _late(node, element)
    if flow in late:
        late = [other for other in late if other != flow]
        step.emit(e.TokenParked(flow, element.index, scope))
        step.emit(e.TokensJoined(element.index, scope, (flow,)))
        _remember(step, node, element, late)
        step.ended_in[scope] = None
        return
    step.emit(e.TokenParked(flow, element.index, scope))
    arrived = (node.arrived or {})[element.index]
    here = tuple(index for index in element.incoming if index in arrived)
    count = sum(arrived[index] for index in here)
    context: dict[str, Any] = {**step.context(scope), "activationCount": count}
    if step.evaluate(element.activation_condition, context) is True:
        step.emit(e.TokensJoined(element.index, scope, here))
        _remember(step, node, element, [index for index in element.incoming if index not in here])
        pass_through(step, element, scope)
    step.warnings.clear()


def settle(step: Step, scope: int) -> None:
    """A scope at rest: gateways for which no late token can come any more are ready again."""
    node = step.state.nodes.get(scope)
    if node is None or not node.data:
        return
    for name, flows in _all_late(node).items():
        element = step.elements[int(name)]
        elsewhere = tokens_at(step, scope) | parked_mask(step, scope, element.index)
        still = [flow for flow in flows if elsewhere & element.upstream[element.incoming.index(flow)]]
        if still != flows:
            _remember(step, node, element, still)


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
