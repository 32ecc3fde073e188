"""Tokens that are put somewhere by hand: start instructions and modifications. The scopes around them are made.

A scope that is not active is made without running its start event; what it would open (boundary events, event
sub-processes) is opened. Where several instances of a scope are active, the caller has to say which one is meant.
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.lifecycle import raise_incident, take
from procession.core.problems import Problem
from procession.core.removal import is_going
from procession.core.state import Phase
from procession.core.step import Step
from procession.core.variables import map_inputs, write
from procession.core.waits import open_boundaries, open_event_sub_processes
from procession.errors import Conflict
from procession.model.definition import Element, Kind

NOT_PLACED = frozenset({Kind.PROCESS, Kind.BOUNDARY_EVENT})


def activate_at(step: Step, element: Element, ancestor: int = 0, variables: dict[str, Any] | None = None) -> None:
    """Put a token before an element, making the scopes around it. Raises Conflict before anything changes."""
    if element.kind in NOT_PLACED:
        message = f"A token cannot be put at '{element.id}' (line {element.line}): it is a {element.kind.name.lower()}"
        raise Conflict(message)
    inner, missing = path_to(step, element, ancestor)
    scope = inner
    for around in missing:
        scope = make_scope(step, around, scope)
    if variables:
        write(step, scope, variables)
    step.enter(element.index, scope)


def single_way(element: Element) -> Element:
    """An element that a token can be put behind: one way leads on from it, or none. Raises Conflict."""
    if element.kind == Kind.PROCESS or len(element.outgoing) > 1:
        message = (
            f"A token cannot be put behind '{element.id}' (line {element.line}): {len(element.outgoing)} flows leave "
            "it; put it before the element that is meant"
        )
        raise Conflict(message)
    return element


def go_on_after(step: Step, element: Element) -> None:
    """Put a token behind an element, making the scopes around it. Raises Conflict before anything changes."""
    scope, missing = path_to(step, element, 0)
    for around in missing:
        scope = make_scope(step, around, scope)
    take(step, element, scope, element.outgoing)


def path_to(step: Step, element: Element, ancestor: int) -> tuple[int, list[Element]]:
    """The innermost active scope around an element, and the scopes within it that have to be made. Raises Conflict."""
    around: list[Element] = []
    index = element.scope
    while index > 0:
        around.insert(0, step.elements[index])
        index = step.elements[index].scope
    key = step.state.root
    nodes = step.state.nodes
    chain = _chain(step, ancestor)
    for position, scope in enumerate(around):
        active = [child for child in _within(step, key, scope) if not chain or nodes[child].element not in chain]
        active = [chain[scope.index]] if scope.index in chain else active
        if not active:
            _must_be_single(scope)
            return key, around[position:]
        if len(active) > 1:
            found = ", ".join(map(str, active))
            message = f"'{scope.id}' is active {len(active)} times ({found}): name the ancestor that is meant"
            raise Conflict(message)
        key = active[0]
    return key, []


def make_scope(step: Step, element: Element, scope: int) -> int:
    """Make a scope's element instance without running its start event."""
    key = step.keys.take()
    step.emit(e.Activated(key, element.index, scope, -1, False, 0))  # noqa: FBT003 - a positional record
    node = step.state.nodes[key]
    try:
        if element.inputs:
            map_inputs(step, node, element.inputs)
        if element.boundaries:
            open_boundaries(step, element, node)
        open_event_sub_processes(step, element, node)
        if element.kind == Kind.AD_HOC_SUB_PROCESS:
            step.emit(e.DataChanged(key, {"ad_hoc": True, "began": True}))
    except Problem as problem:
        raise_incident(step, node, problem, Phase.ACTIVE)
    return key


def _within(step: Step, key: int, scope: Element) -> list[int]:
    """The instances of a scope element within another scope: inner ones where it is repeated."""
    nodes = step.state.nodes
    found: list[int] = []
    for child in step.state.children.get(key, ()):
        if nodes[child].element != scope.index or is_going(step.state, child):
            continue
        found += list(step.state.children.get(child, ())) if nodes[child].body else [child]
    return found


def _chain(step: Step, ancestor: int) -> dict[int, int]:
    """The scopes from a given element instance upwards: element index to key. Raises Conflict."""
    chain: dict[int, int] = {}
    key = ancestor
    if key in step.state.nodes and is_going(step.state, key):
        message = f"The ancestor {ancestor} is being taken away"
        raise Conflict(message)
    while key and key != step.state.root:
        node = step.state.nodes.get(key)
        if node is None:
            message = f"The ancestor {ancestor} is not active"
            raise Conflict(message)
        if not node.body:
            chain[node.element] = key
        key = node.scope
    return chain


def _must_be_single(scope: Element) -> None:
    """A repeated scope cannot be made for one token. Raises Conflict."""
    if scope.loop is not None:
        message = (
            f"'{scope.id}' (line {scope.line}) is repeated and not active: it is not clear for which of its instances "
            "a token is meant; put a token at the activity itself"
        )
        raise Conflict(message)
