"""The loop that moves tokens until every one of them waits, or the step's bound is reached. It decides no command.

Tokens move breadth first. When none is left to move, what depends on several of them is looked at: conditions whose
variables changed, inclusive joins of scopes in which something moved, scopes that may be empty; then tokens move again.
"""

from __future__ import annotations

from procession.core import events as e
from procession.core.elements import complex_gateway, conditions, gateways, scopes
from procession.core.elements.signals import look_again
from procession.core.lifecycle import FAMILIES
from procession.core.removal import is_gone
from procession.core.state import Status
from procession.core.step import SIGNAL, Step
from procession.errors import Bug
from procession.limits import STEP_EVENTS_MAX
from procession.model.definition import Element, Kind

SCOPE_ENDED = 0  # in place of an element of a deferred token: the scope may have completed
RESUMED_MAX = 500  # deferred tokens that one step takes up again
ACTIVE, SUSPENDED = Status.ACTIVE, Status.SUSPENDED  # members of enumerations are slow to reach on the hot path
ROUNDS_MAX = 100_000  # settling rounds of one step; each moves at least one token or ends a scope


def run(step: Step) -> None:
    """Move tokens until every one of them waits, or the step's bound is reached."""
    state = step.state
    if state.status == SUSPENDED:
        defer(step)
        return
    nodes, events = state.nodes, step.events
    for _ in range(ROUNDS_MAX):
        todo = step.todo
        while todo:
            if len(events) >= STEP_EVENTS_MAX:
                defer(step)
                return
            flow, index, scope = todo.popleft()
            if flow == SIGNAL:
                look_again(step, index)
            elif scope in nodes:
                element = step.elements[index]
                enter = FAMILIES[element.kind].enter if not element.async_before else enter_later
                enter(step, element, scope, flow)
            todo = step.todo
        if state.status != ACTIVE or not settle(step):
            return
    message = f"Instance {step.state.key} does not come to rest within {ROUNDS_MAX} rounds"
    raise Bug(message)


def enter_later(step: Step, element: Element, scope: int, flow: int) -> None:
    """A token before a boundary of a transaction waits for a step of its own; within a repeated activity it is past."""
    if step.state.nodes[scope].element == element.index:
        FAMILIES[element.kind].enter(step, element, scope, flow)
    else:
        step.defer(flow, element.index, scope)


def settle(step: Step) -> bool:
    """All tokens wait: look at conditions whose variables changed, at inclusive joins, and at scopes that are empty."""
    definition = step.definition
    if definition.has_conditions and (step.changed or step.new_conditions) and conditions.settle(step):
        return True
    if definition.has_inclusive_joins and step.state.parked and settle_joins(step):
        return True
    ended = step.ended_in
    if not ended:
        return False
    step.ended_in = {}
    for scope in ended:
        scopes.settle_scope(step, scope)
    return bool(step.todo or step.ended_in)


def settle_joins(step: Step) -> bool:
    """Fire one inclusive or complex join of a scope in which something has moved. True when one fired."""
    note_moves(step)
    for scope in list(step.moved):
        if not (step.state.ending and _stands_still(step, scope)) and (
            gateways.settle(step, scope) or settle_complex(step, scope)
        ):
            return True
        del step.moved[scope]
    return False


def _stands_still(step: Step, scope: int) -> bool:
    """Whether a scope is being emptied or taken away: its tokens go nowhere."""
    state = step.state
    return scope in state.ending or is_gone(state, scope)


def note_moves(step: Step) -> None:
    """Note the scopes in which something has moved since joins were looked at, if tokens wait there."""
    parked = step.state.parked
    for event in step.events[step.looked :]:
        if type(event) is e.Migrated:
            step.moved.update(parked)
        scope = getattr(event, "scope", 0)
        if scope in parked:
            step.moved[scope] = None
    step.looked = len(step.events)
    step.moved.update((scope, None) for scope in step.ended_in if scope in parked)


def settle_complex(step: Step, scope: int) -> bool:
    """Fire one complex gateway of a scope at rest whose reset is over. True when one fired."""
    node = step.state.nodes.get(scope)
    for index in list((node.arrived or {}) if node is not None else ()):
        element = step.elements[index]
        if element.kind == Kind.COMPLEX_GATEWAY and complex_gateway.settle(step, element, scope):
            return True
    return False


def defer(step: Step) -> None:
    """Keep in the state what is on its way: tokens, scopes to look at, conditions to look at. A later step goes on."""
    nodes = step.state.nodes
    for flow, number, _ in list(step.todo):
        if flow == SIGNAL:
            look_again(step, number)
    for flow, element, scope in step.todo:
        if scope in nodes and flow != SIGNAL:
            step.defer(flow, element, scope)
    if step.definition.has_inclusive_joins:
        note_moves(step)
    for scope in {**step.ended_in, **step.moved}:
        if scope in nodes:
            step.defer(-1, SCOPE_ENDED, scope)
    conditions.defer(step)
    step.todo.clear()
    step.ended_in.clear()


def take_up(step: Step) -> None:
    """Put deferred tokens back on their way: those before a boundary of a transaction are through it now."""
    conditions.take_up(step)
    pending = step.state.pending[:RESUMED_MAX]
    if not pending:
        return
    step.emit(e.TokensResumed(len(pending)))
    step.cut = bool(step.state.pending)
    for flow, index, scope in pending:
        element = step.elements[index]
        if index == SCOPE_ENDED:
            step.ended_in[scope] = None
        elif element.async_before and scope in step.state.nodes:
            FAMILIES[element.kind].enter(step, element, scope, flow)
        else:
            step.todo.append((flow, index, scope))
