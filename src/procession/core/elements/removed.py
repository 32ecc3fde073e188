"""Taking away by hand: an element instance goes, and the scopes around it that have lost their last token with it."""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.elements.multi_instance import inner_removed
from procession.core.lifecycle import HANDLER_DONE, close_event_sub_processes
from procession.core.removal import release, take_away
from procession.core.state import ElementInstance, Status
from procession.core.step import Step


def remove(step: Step, key: int) -> None:
    """Terminate an element instance, and the scopes around it that are empty then."""
    take_away(step, key, "modify", element=step.state.nodes[key].element)


def removed(step: Step, scope: int, about: dict[str, Any]) -> None:
    """It is gone: see what that means for the scope around it."""
    index: int = about["element"]
    element = step.elements[index]
    around = step.state.nodes[scope]
    if around.body:
        inner_removed(step, element, around)
    elif element.is_for_compensation:
        HANDLER_DONE[0](step, element, scope)
    elif not _holds_tokens(step, around):
        _remove_scope(step, around)
    else:
        step.ended_in[scope] = None  # a join may have waited for what is gone


def _remove_scope(step: Step, scope: ElementInstance) -> None:
    """A scope has lost its last token to a modification."""
    if scope.key != step.state.root:
        remove(step, scope.key)
        return
    close_event_sub_processes(step, scope)
    release(step, scope)
    step.emit(e.Ended(Status.TERMINATED, "a modification took the last token away"))


def _holds_tokens(step: Step, scope: ElementInstance) -> bool:
    """Whether something is active, parked or on its way in a scope."""
    state = step.state
    if state.children.get(scope.key) or scope.arrived:
        return True
    return scope.key in state.moving or any(token[2] == scope.key for token in step.todo)
