"""The invariants of a state, in one place. Tests run it after every step; it changes nothing."""

from __future__ import annotations

from procession.core.listening import LISTENER
from procession.core.state import ElementInstance, Phase, State, Status
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
    ending = state.nodes[state.root].phase == Phase.TERMINATING
    listens = bool(node.data and LISTENER in node.data)
    if node.phase not in {Phase.ACTIVE, Phase.TERMINATING} and not node.incident and not listens:
        problems.append(f"{name} stays in phase {Phase(node.phase).name} without an incident")
    parked = (node.arrived or {}).values()
    if any(not here or any(count < 1 for count in here.values()) for here in parked):
        problems.append(f"{name} holds a count of parked tokens below one")
    if not ending and not _waits_for_something(definition, state, node):
        problems.append(f"{name} waits for nothing: it would never go on")
    return problems


def _waits_for_something(definition: Definition, state: State, node: ElementInstance) -> bool:
    """Whether something can still happen to an element instance, or within it."""
    element = definition.elements[node.element]
    own = [wait for wait in node.waits or () if definition.elements[wait.element].attached_to != node.element]
    if node.job or node.user_task or node.called or node.incident or node.data or own:
        return True
    within = state.children.get(node.key) or node.arrived or any(token[2] == node.key for token in state.pending)
    return bool(within) and (element.kind in SCOPES or node.body)


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
    if parked != set(state.parked):
        problems.append("the index of scopes with parked tokens differs from the element instances")
    if children != set(state.nodes) - {state.root}:
        problems.append("the index of children differs from the element instances")
    if any(incident.element_instance not in state.nodes for incident in state.incidents.values()):
        problems.append("an incident belongs to an element instance that is gone")
    return problems
