"""The invariants of a state, in one place. Tests run it after every step; it changes nothing."""

from __future__ import annotations

from collections import Counter

from procession.core.listening import LISTENER
from procession.core.removal import is_going
from procession.core.state import ENDING, Compensation, ElementInstance, Phase, State, Status
from procession.errors import Bug
from procession.model.definition import Definition, Kind

SCOPES = frozenset({Kind.PROCESS, Kind.SUB_PROCESS, Kind.TRANSACTION, Kind.EVENT_SUB_PROCESS, Kind.AD_HOC_SUB_PROCESS})


def check(definition: Definition, state: State) -> None:
    """Raise Bug, naming what is wrong, unless every invariant holds."""
    problems: list[str] = []
    if state.status in {Status.COMPLETED, Status.TERMINATED}:
        problems += [f"the instance is over, but still holds {name}" for name in _held(state)]
    else:
        for node in state.nodes.values():
            problems += _node(definition, state, node)
        problems += _indexes(state)
    if problems:
        message = f"Instance {state.key}: " + "; ".join(problems)
        raise Bug(message)


def _held(state: State) -> list[str]:
    """The names of what an ended instance must not have."""
    fields = {
        "element instances": state.nodes,
        "incidents": state.incidents,
        "jobs": state.jobs,
        "waits": state.waits,
        "parked tokens": state.parked,
        "tokens on their way": state.pending,
        "conditions": state.conditions,
    }
    return [name for name, held in fields.items() if held]


def _node(definition: Definition, state: State, node: ElementInstance) -> list[str]:
    """What is wrong with one element instance."""
    element = definition.elements[node.element]
    name = f"element instance {node.key} of '{element.id}'"
    problems: list[str] = []
    if node.key != state.root:
        scope = state.nodes.get(node.scope)
        if scope is None:
            problems.append(f"{name} is in scope {node.scope}, which is gone")
        elif node.key not in state.children.get(node.scope, {}):
            problems.append(f"{name} is not among the children of its scope")
        elif not scope.body and definition.elements[scope.element].kind not in SCOPES:
            problems.append(f"{name} is in scope {node.scope}, which is no scope")
    ending = node.key in state.ending or is_going(state, node.key)
    listens = bool(node.data and LISTENER in node.data)
    if node.phase == Phase.TERMINATING and not ending:
        problems.append(f"{name} is TERMINATING and nothing takes it away")
    if node.phase not in {Phase.ACTIVE, Phase.TERMINATING} and not node.incident and not listens:
        problems.append(f"{name} stays in phase {Phase(node.phase).name} without an incident")
    parked = (node.arrived or {}).values()
    if any(not here or any(count < 1 for count in here.values()) for here in parked):
        problems.append(f"{name} holds a count of parked tokens below one")
    problems += _waits(definition, node)
    if not ending:
        problems += _tokens(definition, state, node)
    if not ending and not _waits_for_something(definition, state, node):
        problems.append(f"{name} waits for nothing: it would never go on")
    return problems


def _waits_for_something(definition: Definition, state: State, node: ElementInstance) -> bool:
    """Whether something can still happen to an element instance, or within it."""
    element = definition.elements[node.element]
    own = [wait for wait in node.waits or () if definition.elements[wait.element].attached_to != node.element]
    if node.job or node.user_task or node.called or node.incident:
        return True
    within = state.children.get(node.key) or node.arrived or node.key in state.moving
    if element.kind in SCOPES or node.body:
        return bool(within)
    return bool(own) or _asked_caller(state, node) or _waits_for_handler(state, node) or _is_kept(state, node)


def _is_kept(state: State, node: ElementInstance) -> bool:
    """Whether this is the end event that empties a scope, which goes on when that is done."""
    return any(node.key in (state.nodes[scope].data or {})[ENDING]["keep"] for scope in state.ending)


def _asked_caller(state: State, node: ElementInstance) -> bool:
    """Whether an error was reported to the caller, who has not answered yet."""
    return bool(node.data and "error" in node.data and state.parent)


def _waits_for_handler(state: State, node: ElementInstance) -> bool:
    """Whether a compensation handler runs that this throwing event waits for."""
    scope = state.nodes.get((node.data or {}).get("compensates", 0))
    return scope is not None and any(_runs_for(record, node.key) for record in scope.compensations or ())


def _runs_for(record: Compensation, thrower: int) -> bool:
    return (record.state == 1 and record.handler == thrower) or any(
        _runs_for(nested, thrower) for nested in record.nested or ()
    )


def _waits(definition: Definition, node: ElementInstance) -> list[str]:
    """What is wrong with what an element instance waits for: each wait is its own, or of an event that hangs on it."""
    element = definition.elements[node.element]
    problems: list[str] = []
    for wait in node.waits or ():
        event = definition.elements[wait.element]
        behind = {definition.flows[flow].target for flow in element.outgoing}
        belongs = (
            element.index in {event.index, event.attached_to}
            or (event.scope in element.event_sub_processes)
            or (element.kind == Kind.EVENT_BASED_GATEWAY and event.index in behind)
        )
        if not belongs:
            problems.append(f"'{element.id}' waits for '{event.id}', which is none of its events")
        if wait.spec >= len(event.events):
            problems.append(f"'{element.id}' waits for a definition that '{event.id}' does not have")
    return problems


def _tokens(definition: Definition, state: State, node: ElementInstance) -> list[str]:
    """What is wrong with the tokens of a scope: each waits on a flow of its join; no inner instance is lost."""
    problems: list[str] = []
    for index, here in (node.arrived or {}).items():
        join = definition.elements[index]
        if not set(here) <= set(join.incoming):
            problems.append(f"tokens wait before '{join.id}' on flows that do not lead there")
        if join.kind == Kind.PARALLEL_GATEWAY and len(here) == len(join.incoming):
            problems.append(f"'{join.id}' holds a token on every flow and has not fired")
    loop, spec = node.loop, definition.elements[node.element].loop
    if node.body and loop and spec is not None and spec.multi_instance:
        inside = len(state.children.get(node.key, ()))
        made = loop["next"] - 1
        if made != loop["done"] + inside:
            problems.append(f"of {made} inner instances {loop['done']} are done and {inside} active")
        if made < loop["total"] and node.key not in state.moving and not (spec.sequential and inside):
            problems.append(f"{loop['total'] - made} inner instances would never be made")
    return problems


def _indexes(state: State) -> list[str]:
    """What is wrong with the derived indexes."""
    jobs = {key: node.key for node in state.nodes.values() for key in (node.job, node.user_task, node.called) if key}
    waits = {wait.key: node.key for node in state.nodes.values() for wait in node.waits or ()}
    parked = {node.key for node in state.nodes.values() if node.arrived}
    children = {key for siblings in state.children.values() for key in siblings}
    problems: list[str] = []
    if jobs != state.jobs:
        problems.append("the index of jobs differs from the element instances")
    if waits != state.waits:
        problems.append("the index of waits differs from the element instances")
    if dict(Counter(scope for _, _, scope in state.pending)) != state.moving:
        problems.append("the index of tokens on their way differs from the tokens")
    if {node.key for node in state.nodes.values() if node.data and ENDING in node.data} != set(state.ending):
        problems.append("the index of what goes differs from the element instances")
    signals = [(wait.name, wait.key) for node in state.nodes.values() for wait in node.waits or () if wait.name]
    if sorted(signals) != sorted((name, key) for name, keys in state.signals.items() for key in keys):
        problems.append("the index of waits for signals differs from the element instances")
    if parked != set(state.parked):
        problems.append("the index of scopes with parked tokens differs from the element instances")
    if children != set(state.nodes) - {state.root}:
        problems.append("the index of children differs from the element instances")
    if state.counts is not None:
        counts = Counter((node.scope, node.element) for node in state.nodes.values() if node.scope)
        masks: dict[int, int] = {}
        for scope, element in counts:
            masks[scope] = masks.get(scope, 0) | 1 << element
        if state.counts != counts or state.masks != masks:
            problems.append("the counts of active elements differ from the element instances")
    if any(incident.element_instance not in state.nodes for incident in state.incidents.values()):
        problems.append("an incident belongs to an element instance that is gone")
    return problems
