"""Conditions in doubt: one that gave a warning where expressions are strict, and has no element instance to stop at.

Activation conditions of complex gateways are evaluated over parked tokens, conditions of events while something else
is active. The incident gets an element instance of its own, of the gateway or event, which does nothing: resolving it
takes it away and evaluates the condition again. What waits goes on waiting, and works on.
"""

from __future__ import annotations

from procession.core import events as e
from procession.core.lifecycle import IN_DOUBT, raise_incident
from procession.core.problems import Problem
from procession.core.state import ElementInstance, Phase
from procession.core.step import Step
from procession.model.definition import Element


def ask(step: Step, element: Element, scope: int, problem: Problem, wait: int = 0) -> None:
    """Ask a person; ``wait`` is the event that waits for its condition."""
    key = step.keys.take()
    step.emit(e.Activated(key, element.index, scope, -1, False, 0))  # noqa: FBT003 - a positional record
    step.emit(e.DataChanged(key, {IN_DOUBT: wait}))
    raise_incident(step, step.state.nodes[key], problem, Phase.ACTIVE)


def asked(step: Step, element: Element, scope: int) -> ElementInstance | None:
    """What holds the incident, where a person has been asked and has not answered yet."""
    nodes = (step.state.nodes[child] for child in step.state.children.get(scope, ()))
    return next((one for one in nodes if one.element == element.index and one.data and IN_DOUBT in one.data), None)


def withdraw(step: Step, node: ElementInstance) -> None:
    """The doubt is over without an answer: the condition has a value again."""
    step.emit(e.IncidentResolved(node.incident, "resolved"))
    make_way(step, node)


def make_way(step: Step, node: ElementInstance) -> None:
    """Take away what held the incident."""
    scope = node.scope
    step.emit(e.Terminated(node.key))
    step.ended_in[scope] = None
