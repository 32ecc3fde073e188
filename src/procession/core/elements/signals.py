"""Signals: thrown to everything that waits for them now, in this instance at once, in others by a follow-up.

What is thrown side by side with the arrival at a catch event of a parallel branch reaches it whichever of the two comes
first: tokens move breadth first, and the signal is looked at once more when it would be its turn. A catch event behind
the throwing one is not reached. The follow-up finds this instance's subscriptions too, once the step is stored; what
was served here passes over it (``Wait.skip``).
"""

from __future__ import annotations

from typing import Any

from procession.core import events as e
from procession.core.commands import BroadcastSignal
from procession.core.elements.triggers import fire
from procession.core.removal import is_going
from procession.core.state import ElementInstance, Wait
from procession.core.step import SIGNAL, Step


def broadcast(step: Step, name: str, variables: dict[str, Any]) -> None:
    """Throw a signal. What it interrupts here is gone afterwards, perhaps with the thrower."""
    step.follow_ups.append(BroadcastSignal(name, variables))
    found = waiting(step, name)
    step.signals.append((name, variables, found[-1][1].key if found else 0))
    if step.todo:
        step.todo.append((SIGNAL, len(step.signals) - 1, step.state.root))
    for _, wait in found:
        step.emit(e.WaitSkips(wait.key, wait.skip + 1))
    deliver(step, found, variables)


def look_again(step: Step, number: int) -> None:
    """Deliver a signal of this step to what has opened beside it since it was thrown."""
    name, variables, last = step.signals[number]
    deliver(step, [pair for pair in waiting(step, name) if pair[1].key > last], variables)


def deliver(step: Step, found: list[tuple[ElementInstance, Wait]], variables: dict[str, Any]) -> None:
    """Fire the waits, except those that an earlier one has removed."""
    for owner, wait in found:
        if wait.key in step.state.waits and not is_going(step.state, owner.key):
            fire(step, owner, wait, variables)


def waiting(step: Step, name: str) -> list[tuple[ElementInstance, Wait]]:
    """The waits for a signal, oldest first."""
    state = step.state
    found: list[tuple[ElementInstance, Wait]] = []
    for key in sorted(state.signals.get(name, ())):
        owner = state.nodes[state.waits[key]]
        found += [(owner, wait) for wait in owner.waits or () if wait.key == key]
    return found


def served(step: Step, wait: Wait) -> bool:
    """Whether a broadcast that comes now was served when it was thrown; it counts as come."""
    if not wait.skip:
        return False
    step.emit(e.WaitSkips(wait.key, wait.skip - 1))
    return True
