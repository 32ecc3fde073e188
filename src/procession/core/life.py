"""The life of an element instance as a table: which phase may follow which, and why. It runs nothing.

``lifecycle`` and ``removal`` live it, tests follow every event along it, and the page about BPMN is drawn from it. The
usual element passes from its activation to its end within ACTIVE; it stays elsewhere only while an incident, a listener
or a removal in several steps keeps it there, and then goes on from exactly there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from procession.core import events as e
from procession.core.state import Phase


class Turn(NamedTuple):
    """One turn of a life: from a phase (None: not there yet) to a phase (None: gone)."""

    source: Phase | None
    target: Phase | None
    why: str


LIFE = (
    Turn(None, Phase.ACTIVE, "activate: a token has come"),
    Turn(Phase.ACTIVE, Phase.ACTIVATING, "begin: start listeners, or a problem with what it begins with"),
    Turn(Phase.ACTIVATING, Phase.ACTIVATING, "begin: the next problem"),
    Turn(Phase.ACTIVATING, Phase.ACTIVE, "begun: boundary events are open, the work is ordered"),
    Turn(Phase.ACTIVE, Phase.ACTIVE, "work: a problem with it, asked again when that is resolved"),
    Turn(Phase.ACTIVE, Phase.COMPLETING, "finish: end listeners, or a problem with its results"),
    Turn(Phase.COMPLETING, Phase.COMPLETING, "finish: the next problem"),
    Turn(Phase.COMPLETING, Phase.ACTIVE, "finished"),
    Turn(Phase.ACTIVE, Phase.LEAVING, "leave: no flow can be taken, or one has listeners"),
    Turn(Phase.COMPLETING, Phase.LEAVING, "leave: no flow can be taken"),
    Turn(Phase.LEAVING, Phase.LEAVING, "leave: still none"),
    Turn(Phase.LEAVING, Phase.ACTIVE, "the flow's listeners are done"),
    Turn(Phase.ACTIVE, Phase.TERMINATING, "terminate: what is within goes first, canceling listeners are told"),
    Turn(Phase.ACTIVATING, Phase.TERMINATING, "terminate"),
    Turn(Phase.COMPLETING, Phase.TERMINATING, "terminate"),
    Turn(Phase.LEAVING, Phase.TERMINATING, "terminate"),
    Turn(Phase.TERMINATING, Phase.TERMINATING, "a canceling listener has a problem"),
    Turn(Phase.ACTIVE, None, "completed: tokens on its flows; or terminated in one step"),
    Turn(Phase.ACTIVATING, None, "terminated"),
    Turn(Phase.COMPLETING, None, "completed, or terminated"),
    Turn(Phase.LEAVING, None, "completed, or terminated"),
    Turn(Phase.TERMINATING, None, "terminated"),
)
TURNS = frozenset((turn.source, turn.target) for turn in LIFE)


def strays(phases: dict[int, Phase], events: Iterable[e.Event]) -> list[str]:
    """Turns among these events that the table does not have. ``phases`` by element instance are kept up to date."""
    found: list[str] = []
    for event in events:
        key, target = _turn(event)
        if key is None:
            continue
        source = phases.get(key)
        if (source, target) not in TURNS:
            found.append(f"element instance {key} turned from {source!r} to {target!r} by {event!r}")
        if target is None:
            phases.pop(key, None)
        else:
            phases[key] = target
    return found


def _turn(event: e.Event) -> tuple[int | None, Phase | None]:
    """The element instance that an event is about and its phase after it; None where it is about none."""
    match event:
        case e.Started(instance=key) | e.Activated(key=key):
            return key, Phase.ACTIVE
        case e.PhaseChanged(key=key, phase=phase) | e.IncidentRaised(element_instance=key, phase=phase):
            return key, Phase(phase)
        case e.Completed(key=key) | e.Terminated(key=key):
            return key, None
        case _:
            return None, None
