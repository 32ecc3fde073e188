"""Why an instance waits, in one sentence per active element. Pure: it reads a state and says what it sees."""

from __future__ import annotations

from collections.abc import Sequence

from procession.app.views import ElementInstance
from procession.core.state import ElementInstance as Active
from procession.core.state import State, Wait
from procession.jobs.schedule import to_datetime
from procession.model.definition import Definition, Kind, Trigger
from procession.store.rows import StoredSubscription


def elements_of(
    definition: Definition, state: State, subscriptions: Sequence[StoredSubscription]
) -> list[ElementInstance]:
    """The active elements of an instance, the process itself left out, each with what it waits for."""
    channels = {row.key: row for row in subscriptions}
    return [
        ElementInstance(
            element_instance_key=node.key,
            element_id=definition.elements[node.element].id,
            element_name=definition.elements[node.element].name,
            type=definition.elements[node.element].kind.name,
            waits_for=_sentence(definition, state, node, channels),
            incident_key=node.incident,
        )
        for node in sorted(state.nodes.values(), key=lambda node: node.key)
        if node.key != state.root
    ]


def _sentence(definition: Definition, state: State, node: Active, channels: dict[int, StoredSubscription]) -> str:
    """What has to happen for this element instance to go on."""
    element = definition.elements[node.element]
    if node.incident:
        return f"waits for its incident {node.incident} to be resolved: {state.incidents[node.incident].message}"
    if node.user_task:
        return f"waits for a person to complete user task {node.user_task}"
    if node.job:
        kind = f"job of type '{element.work_name}'" if element.work_name else f"job {node.job}"
        return f"waits for a worker to complete {kind}"
    if node.called:
        return f"waits for the called instance {node.called} to end"
    own = [wait for wait in node.waits or () if definition.elements[wait.element].kind != Kind.BOUNDARY_EVENT]
    own = [wait for wait in own if definition.elements[wait.element].kind != Kind.START_EVENT]
    if own:
        return "waits for " + " or ".join(_wait(definition, wait, channels) for wait in own)
    within = len(state.children.get(node.key, ()))
    if within:
        return f"waits for the {within} active element{'s' if within > 1 else ''} within it"
    return "waits for tokens at a join within it" if node.arrived else "goes on by itself"


def _wait(definition: Definition, wait: Wait, channels: dict[int, StoredSubscription]) -> str:
    """One thing that is waited for."""
    spec = definition.elements[wait.element].events[wait.spec] if definition.elements[wait.element].events else None
    if wait.due:
        return f"the timer due at {to_datetime(wait.due):%Y-%m-%dT%H:%M:%SZ}"
    row = channels.get(wait.key)
    if row is not None and row.trigger == Trigger.MESSAGE:
        key = f" with key '{row.correlation_key}'" if row.correlation_key else ""
        return f"the message '{row.name}'{key}"
    if row is not None and row.trigger == Trigger.SIGNAL:
        return f"the signal '{row.name}'"
    if spec is not None and spec.condition is not None:
        return f"the condition '{spec.condition.text}'"
    return "an event"
