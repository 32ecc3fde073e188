"""Execution and task listeners: blocking jobs at a point of an element's life. Here they are ordered, one at a time.

An element instance that waits for a listener's job keeps under ``LISTENER`` which event it is about and how many
listeners of that event have been ordered. What happens when the last one is done stands in ``elements/listeners.py``.
"""

from __future__ import annotations

from typing import Any, cast

from procession.core import events as e
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind, Phase
from procession.core.step import Step
from procession.core.variables import whole_number
from procession.core.waits import storable
from procession.jobs.kinds import JobKind
from procession.limits import KEY_TEXT_BYTES_MAX
from procession.model.definition import Element, Listener

LISTENER = "listener"
PHASES = {
    "start": Phase.ACTIVATING,
    "end": Phase.COMPLETING,
    "take": Phase.LEAVING,
    "canceling": Phase.TERMINATING,
}  # others: the user task is open, its element active
RETRIES_MAX = 32_767


def listen(step: Step, element: Element, node: ElementInstance, event: str, **about: Any) -> bool:  # noqa: ANN401
    """Order the first listener's job, if the element has one for this event; then the element waits. Raises Problem.

    ``about`` is kept until the last listener is done.
    """
    return order(step, element, node, event, 0, about)


def order(
    step: Step, element: Element, node: ElementInstance, event: str, position: int, about: dict[str, Any]
) -> bool:
    """Order the job of the listener at a position among those of this event; False: there is none. Raises Problem."""
    flow: int = about.get("flow", -1)
    known = element.listeners if flow < 0 else step.flows[flow].listeners
    listeners = [listener for listener in known if listener.event == event]
    if position >= len(listeners):
        return False
    job_type, retries = _described(step, element, node, listeners[position])
    phase = PHASES.get(event, Phase.ACTIVE)
    if node.phase != phase:
        step.emit(e.PhaseChanged(node.key, phase))
    step.emit(e.DataChanged(node.key, {LISTENER: [event, position, about]}))
    step.emit(e.JobCreated(step.keys.take(), node.key, JobKind.LISTENER, job_type, retries, 0))
    return True


def waiting_for(node: ElementInstance) -> tuple[str, int, dict[str, Any]]:
    """Which event an element instance's listener job is about, its position, and what is kept for the end."""
    event, position, about = cast("tuple[str, int, dict[str, Any]]", (node.data or {})[LISTENER])
    return event, position, about


def _described(step: Step, element: Element, node: ElementInstance, listener: Listener) -> tuple[str, int]:
    """Job type and attempts of a listener. Raises Problem."""
    context = step.context(node.key)
    job_type = step.evaluate(listener.type, context)
    retries = whole_number(step.evaluate(listener.retries, context), 1, RETRIES_MAX)
    step.be_strict(IncidentKind.EXTRACT_VALUE_ERROR, f"{listener.event} listener", element)
    why = step.take_warnings()
    if not isinstance(job_type, str) or not job_type or retries is None:
        message = (
            f"The {listener.event} listener of '{element.id}' (line {element.line}) needs a job type and a number of "
            f"retries from 1 to {RETRIES_MAX}, found {job_type!r}"
        )
        raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message + (f": {why}" if why else ""))
    what = f"job type of the {listener.event} listener of '{element.id}' (line {element.line})"
    return storable(job_type, what, KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX"), retries
