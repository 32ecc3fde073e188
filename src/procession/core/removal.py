"""Taking away: an element instance, or all that a scope holds. Top-down, complete before anything else follows.

    take_away    an element instance with all within it (a boundary event, a cancellation, a modification)
    empty        what is within a scope that lives on (an event sub-process, a terminate end event, enough of a loop)

Innermost first, each gives up what it holds and goes. Usually that is one step. It takes several where a scope holds
more than a step may remove, or where a user task's ``canceling`` listeners have to be told first; until then the
element instance is marked (``ENDING`` in its data, ``State.ending``), nothing else happens within it, and what is to
follow is kept there under the name that a family has given it (``AFTER``). It decides nothing about why something goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from procession.core import events as e
from procession.core.commands import Cancel, Send
from procession.core.lifecycle import raise_incident
from procession.core.listening import LISTENER, listen, waiting_for
from procession.core.problems import Problem
from procession.core.state import ENDING, ElementInstance, Phase, State, Status
from procession.core.step import Step
from procession.core.waits import close_waits
from procession.limits import STEP_EVENTS_MAX

CANCELING: Final = "canceling"
After = Callable[[Step, int, dict[str, Any]], None]  # the scope that is left, and what was kept

AFTER: dict[str, After] = {}  # by name; filled by core.elements. Names are stored: never rename one


def take_away(step: Step, key: int, then: str, **about: Any) -> None:  # noqa: ANN401 - plain data
    """Remove an element instance and all within it; then ``AFTER[then]`` goes on in the scope around it."""
    _begin(step, key, (), whole=True, then=then, about=about)


def empty(step: Step, key: int, then: str, *, keep: Iterable[int] = (), **about: Any) -> None:  # noqa: ANN401
    """Remove everything within a scope that lives on, tokens too; then ``AFTER[then]`` goes on in it.

    ``keep``: element instances that stay, each within the one before it.
    """
    _begin(step, key, tuple(keep), whole=False, then=then, about=about)


def end_all(step: Step, reason: str) -> None:
    """Terminate the instance: everything within, then itself."""
    take_away(step, step.state.root, "end", reason=reason)


def go_on_removing(step: Step) -> None:
    """Go on with what an earlier step did not come to the end of."""
    state = step.state
    for key in list(state.ending):
        if key in state.ending and not _goes_around(state, key):
            _resume(step, key)


def was_told(step: Step, node: ElementInstance) -> None:
    """The canceling listeners of a user task are done: it goes, and the scopes around it that are empty then."""
    state = step.state
    if node.key in state.ending and not _goes_around(state, node.key):
        _finish(step, node, **_ending(node))
        return
    while True:
        scope = node.scope
        _remove(step, node)
        left = state.children.get(scope, {})
        node = state.nodes[scope]
        if scope in state.ending and not _goes_around(state, scope):
            if all(child in _ending(node)["keep"] for child in left):
                _resume(step, scope)
            return
        if left:
            return


def is_going(state: State, key: int) -> bool:
    """Whether an element instance is being taken away, by itself or with what is around it."""
    if not state.ending:
        return False
    return (key in state.ending and state.nodes[key].phase == Phase.TERMINATING) or _goes_around(state, key)


def is_gone(state: State, key: int) -> bool:
    """Whether an element instance is not there any more, or is being taken away."""
    return key not in state.nodes or is_going(state, key)


def is_told(node: ElementInstance) -> bool:
    """Whether an element instance waits for a canceling listener before it goes."""
    return bool(node.data and LISTENER in node.data) and waiting_for(node)[0] == CANCELING


def release(step: Step, node: ElementInstance) -> None:
    """Close what an element instance holds: job, user task, waits, called instance, incident."""
    if node.job:
        step.emit(e.JobClosed(node.job, "canceled"))
    if node.user_task:
        step.emit(e.UserTaskClosed(node.user_task, "canceled"))
    if node.called:
        step.follow_ups.append(Send(node.called, Cancel(by_parent=True, reason="its caller was interrupted")))
        step.emit(e.CallEnded(node.key, "terminated"))
    if node.incident:
        step.emit(e.IncidentResolved(node.incident, "canceled"))
    close_waits(step, node)


def tell(step: Step, node: ElementInstance) -> bool:
    """Order a user task's canceling listeners, unless they are under way. True: it waits for them before it goes."""
    element = step.elements[node.element]
    if not node.user_task or not element.listeners:
        return False
    if is_told(node) or (node.incident and node.phase == Phase.TERMINATING):
        return True
    if not any(listener.event == CANCELING for listener in element.listeners):
        return False
    if node.job:  # of another listener, whose question does not matter any more
        step.emit(e.JobClosed(node.job, "canceled"))
        step.emit(e.DataChanged(node.key, {LISTENER: None}))
    if node.incident:
        step.emit(e.IncidentResolved(node.incident, "canceled"))
    try:
        return listen(step, element, node, CANCELING)
    except Problem as problem:
        raise_incident(step, node, problem, Phase.TERMINATING)
        return True


# --- internal ---------------------------------------------------------------------------------------------------------


def _begin(step: Step, key: int, keep: tuple[int, ...], *, whole: bool, then: str, about: dict[str, Any]) -> None:
    node = step.state.nodes[key]
    for scope in (key, *keep):
        _drop_tokens(step, scope)
    step.forget_tokens_of(key)
    if _sweep(step, key, keep) and not (whole and tell(step, node)):
        _finish(step, node, keep, whole=whole, then=then, about=about)
        return
    if whole:
        close_waits(step, node)
        if node.phase != Phase.TERMINATING:
            step.emit(e.PhaseChanged(key, Phase.TERMINATING))
    step.emit(e.DataChanged(key, {ENDING: {"keep": list(keep), "whole": whole, "then": then, "about": about}}))
    _forget_what_goes(step)


def _ending(node: ElementInstance) -> dict[str, Any]:
    """What is kept with an element instance that goes, or is emptied, in several steps."""
    return (node.data or {})[ENDING]


def _resume(step: Step, key: int) -> None:
    """Go on with one of them."""
    node = step.state.nodes[key]
    ending = _ending(node)
    if _sweep(step, key, ending["keep"]) and not (ending["whole"] and tell(step, node)):
        _finish(step, node, **ending)


def _finish(
    step: Step,
    node: ElementInstance,
    keep: Iterable[int],  # noqa: ARG001 - it is kept with the others
    *,
    whole: bool,
    then: str,
    about: dict[str, Any],
) -> None:
    """Nothing is left within: the element instance itself goes, if it is to, and what was to follow follows."""
    scope = node.key
    if scope == step.state.root and whole:
        release(step, node)
        step.emit(e.Ended(Status.TERMINATED, about["reason"]))
        return
    if whole:
        scope = node.scope
        _remove(step, node)
    elif node.key in step.state.ending:
        step.emit(e.DataChanged(node.key, {ENDING: None}))
    AFTER[then](step, scope, about)


def _sweep(step: Step, key: int, keep: Iterable[int]) -> bool:
    """Remove what is within a scope, innermost first, up to the bound of a step. True: only what is kept is left."""
    clean = True
    for child in list(step.state.children.get(key, ())):
        if child in keep:
            clean = _sweep(step, child, keep) and clean
        elif len(step.events) >= STEP_EVENTS_MAX:
            step.cut = True
            return False
        else:
            node = step.state.nodes[child]
            if not _sweep(step, child, ()) or tell(step, node):
                clean = False
            else:
                _remove(step, node)
    return clean


def _remove(step: Step, node: ElementInstance) -> None:
    """Let go of one element instance, with nothing within it."""
    _drop_tokens(step, node.key)
    release(step, node)
    step.emit(e.Terminated(node.key))


def _drop_tokens(step: Step, key: int) -> None:
    """Remove the tokens that are parked in a scope, or deferred."""
    for element, here in list((step.state.nodes[key].arrived or {}).items()):
        flows = tuple(flow for flow, count in here.items() for _ in range(count))
        step.emit(e.TokensRemoved(element, key, flows))
    if key in step.state.moving:
        step.emit(e.TokensDropped(key))


def _forget_what_goes(step: Step) -> None:
    """Nothing moves in what is left of scopes that go: drop the tokens on their way there."""
    state = step.state
    for scope in list(state.moving):
        if is_going(state, scope):
            step.emit(e.TokensDropped(scope))
    for scope in {token[2] for token in step.todo}:
        if is_gone(state, scope):
            step.forget_tokens_of(scope)
    for scope in list(step.ended_in):
        if is_gone(state, scope):
            del step.ended_in[scope]


def _goes_around(state: State, key: int) -> bool:
    """Whether a scope around an element instance goes, or is emptied and does not keep it."""
    scope = state.nodes[key].scope
    while scope:
        node = state.nodes[scope]
        if scope in state.ending:
            ending = _ending(node)
            if ending["whole"] or key not in ending["keep"]:
                return True
        scope = node.scope
    return False
