"""The fold: how each event changes a state. The only place where a state changes; it decides nothing.

``decide`` applies every event it emits through here, and so does whoever replays a stored history, so both end in the
same state. One small function per event, found by the event's class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from procession.core import events as e
from procession.core.indexes import DONE, count, forget_done, forget_signal
from procession.core.state import ENDING, Compensation, ElementInstance, Incident, IncidentKind, State, Status, Wait

Applier = Callable[[State, Any], None]

STATUSES: Final = {int(status): status for status in Status}  # asking the enumeration takes a few calls


def apply(state: State, event: e.Event) -> None:
    """Change the state by one event."""
    APPLIERS[type(event)](state, event)


def fold(events: Iterable[e.Event], state: State | None = None) -> State:
    """The state after these events, from nothing or from a state (which is changed in place)."""
    current = State(key=0) if state is None else state
    for event in events:
        APPLIERS[type(event)](current, event)
    return current


def started(state: State, event: e.Started) -> None:
    """Create the root element instance."""
    key = event.instance
    state.key = state.root = key
    state.business_id = event.business_id
    state.parent = event.parent
    state.parent_element_instance = event.parent_element_instance
    state.depth = event.depth
    state.start_channel = event.start_channel
    state.nodes[key] = ElementInstance(key=key, element=0)
    state.children[key] = {}


def business_id_assigned(state: State, event: e.BusinessIdAssigned) -> None:
    """It has a name from here on."""
    state.business_id = event.business_id


def ended(state: State, event: e.Ended) -> None:
    """Remove the root element instance; variables stay for readers."""
    state.status = STATUSES[event.status]
    state.nodes.pop(state.root, None)
    state.children.pop(state.root, None)
    state.ending.clear()
    state.start_channel = ""


def activated(state: State, event: e.Activated) -> None:
    """Add an element instance to its scope."""
    key = event.key
    state.nodes[key] = ElementInstance(
        key=key,
        element=event.element,
        scope=event.scope,
        via=event.via,
        body=event.body,
        loop_index=event.loop_index,
    )
    siblings = state.children.get(event.scope)
    if siblings is None:
        state.children[event.scope] = {key: None}
    else:
        siblings[key] = None
    if state.counts is not None:
        count(state, event.scope, event.element)


def work_begun(state: State, active: e.Activated, job: e.JobCreated) -> None:
    """``activated`` and ``job_created`` of one plain task, at once."""
    key, scope = active.key, active.scope
    state.nodes[key] = ElementInstance(key=key, element=active.element, scope=scope, job=job.key, via=active.via)
    siblings = state.children.get(scope)
    if siblings is None:
        state.children[scope] = {key: None}
    else:
        siblings[key] = None
    if state.counts is not None:
        count(state, scope, active.element)
    state.jobs[job.key] = key


def work_done(state: State, closed: e.JobClosed, left: e.Completed) -> None:
    """``job_closed`` and ``gone`` of one task that holds nothing but its job, at once."""
    key = left.key
    del state.jobs[closed.key]
    node = state.nodes.pop(key)
    siblings = state.children.get(node.scope)
    if siblings is not None:
        siblings.pop(key, None)
    if state.counts is not None:
        count(state, node.scope, node.element, -1)


def gone(state: State, event: e.Completed | e.Terminated) -> None:
    """Remove an element instance; what it held must be closed by its own events before."""
    key = event.key
    node = state.nodes.pop(key)
    state.children.pop(key, None)
    siblings = state.children.get(node.scope)
    if siblings is not None:
        siblings.pop(key, None)
    if state.ending:
        state.ending.pop(key, None)
    if state.counts is not None:
        count(state, node.scope, node.element, -1)


def nothing(state: State, event: e.Event) -> None:
    """Change nothing: the event is for readers of the history."""


def phase_changed(state: State, event: e.PhaseChanged) -> None:
    """Remember where in its life an element instance stays."""
    state.nodes[event.key].phase = event.phase


def token_parked(state: State, event: e.TokenParked) -> None:
    """Count a token at a join's incoming flow."""
    scope = state.nodes[event.scope]
    if scope.arrived is None:
        scope.arrived = {}
    here = scope.arrived.get(event.element)
    if here is None:
        here = scope.arrived[event.element] = {}
    here[event.flow] = here.get(event.flow, 0) + 1
    state.parked[event.scope] = None


def tokens_taken(state: State, event: e.TokensJoined | e.TokensRemoved) -> None:
    """Take one parked token from each of the flows."""
    scope = state.nodes[event.scope]
    arrived = scope.arrived or {}
    here = arrived[event.element]
    for flow in event.flows:
        left = here[flow] - 1
        if left:
            here[flow] = left
        else:
            del here[flow]
    if not here:
        del arrived[event.element]
    if not arrived:
        scope.arrived = None
        state.parked.pop(event.scope, None)


def token_deferred(state: State, event: e.TokenDeferred) -> None:
    """Keep a token on its way."""
    state.pending.append((event.flow, event.element, event.scope))
    state.moving[event.scope] = state.moving.get(event.scope, 0) + 1


def tokens_resumed(state: State, event: e.TokensResumed) -> None:
    """Forget the first deferred tokens: they go on."""
    for _, _, scope in state.pending[: event.count]:
        left = state.moving[scope] - 1
        if left:
            state.moving[scope] = left
        else:
            del state.moving[scope]
    del state.pending[: event.count]


def tokens_dropped(state: State, event: e.TokensDropped) -> None:
    """Forget the deferred tokens of a scope."""
    state.pending = [token for token in state.pending if token[2] != event.scope]
    state.moving.pop(event.scope, None)


def variables_set(state: State, event: e.VariablesSet) -> None:
    """Write variables into their scope."""
    if event.scope == state.root:
        state.variables.update(event.values)
        return
    node = state.nodes[event.scope]
    if node.variables is None:
        node.variables = dict(event.values)
    else:
        node.variables.update(event.values)


def job_created(state: State, event: e.JobCreated) -> None:
    """Open a job."""
    state.nodes[event.element_instance].job = event.key
    state.jobs[event.key] = event.element_instance


def job_closed(state: State, event: e.JobClosed) -> None:
    """Close a job."""
    owner = state.jobs.pop(event.key)
    state.nodes[owner].job = 0


def user_task_created(state: State, event: e.UserTaskCreated) -> None:
    """Open a user task."""
    state.nodes[event.element_instance].user_task = event.key
    state.jobs[event.key] = event.element_instance


def user_task_closed(state: State, event: e.UserTaskClosed) -> None:
    """Close a user task."""
    owner = state.jobs.pop(event.key)
    state.nodes[owner].user_task = 0


def add_wait(state: State, owner: int, wait: Wait) -> None:
    """Let an element instance wait."""
    node = state.nodes[owner]
    if node.waits is None:
        node.waits = [wait]
    else:
        node.waits.append(wait)
    state.waits[wait.key] = owner
    if wait.name:
        state.signals.setdefault(wait.name, {})[wait.key] = None


def timer_armed(state: State, event: e.TimerArmed) -> None:
    """Wait for an instant."""
    wait = Wait(
        key=event.key,
        element=event.element,
        spec=event.spec,
        due=event.due,
        left=event.left,
        cycle=event.cycle,
        anchor=event.anchor,
    )
    add_wait(state, event.element_instance, wait)


def subscribed(state: State, event: e.Subscribed) -> None:
    """Wait for a message, signal or condition."""
    name = event.name if event.trigger == e.SIGNAL else ""
    add_wait(state, event.element_instance, Wait(key=event.key, element=event.element, spec=event.spec, name=name))
    if event.trigger == e.CONDITIONAL:
        state.conditions[event.key] = None


def find_wait(state: State, key: int) -> Wait:
    """The wait with this key. Raises KeyError."""
    for wait in state.nodes[state.waits[key]].waits or ():
        if wait.key == key:
            return wait
    raise KeyError(key)


def wait_seen(state: State, event: e.WaitSeen) -> None:
    """Remember that one of several has come."""
    find_wait(state, event.key).seen = event.seen


def wait_skips(state: State, event: e.WaitSkips) -> None:
    """Pass over the next broadcasts."""
    find_wait(state, event.key).skip = event.skip


def wait_closed(state: State, event: e.WaitClosed) -> None:
    """Stop waiting."""
    node = state.nodes[state.waits.pop(event.key)]
    if state.signals:
        forget_signal(state, node, event.key)
    rest = [wait for wait in node.waits or () if wait.key != event.key]
    node.waits = rest or None
    state.conditions.pop(event.key, None)


def call_started(state: State, event: e.CallStarted) -> None:
    """Remember the called instance."""
    state.nodes[event.element_instance].called = event.instance
    state.jobs[event.instance] = event.element_instance


def call_ended(state: State, event: e.CallEnded) -> None:
    """Forget the called instance."""
    node = state.nodes[event.element_instance]
    state.jobs.pop(node.called, None)
    node.called = 0


def incident_raised(state: State, event: e.IncidentRaised) -> None:
    """Stop at a problem."""
    node = state.nodes[event.element_instance]
    node.incident = event.key
    node.phase = event.phase
    state.incidents[event.key] = Incident(
        key=event.key,
        kind=IncidentKind(event.kind),
        element_instance=event.element_instance,
        message=event.message,
        job=event.job,
    )


def incident_resolved(state: State, event: e.IncidentResolved) -> None:
    """The problem is over."""
    incident = state.incidents.pop(event.key)
    state.nodes[incident.element_instance].incident = 0


def loop_changed(state: State, event: e.LoopChanged) -> None:
    """Change a multi-instance body's counters."""
    node = state.nodes[event.key]
    changes = event.changes
    if "outputs" in changes:  # the event stays as it is while the results come in
        changes = {**changes, "outputs": list(changes["outputs"])}
    if node.loop is None:
        node.loop = dict(changes)
    else:
        node.loop.update(changes)


def loop_result(state: State, event: e.LoopResult) -> None:
    """Keep one inner instance's output at its place, or an activity's behind the others."""
    loop = state.nodes[event.key].loop
    if loop is None:
        return
    outputs = loop["outputs"]
    if event.index > len(outputs):
        outputs.append(event.value)
    else:
        outputs[event.index - 1] = event.value


def data_changed(state: State, event: e.DataChanged) -> None:
    """Change what an element family keeps on its element instance."""
    node = state.nodes[event.key]
    data = dict(node.data or {})
    for name, value in event.changes.items():
        if value is None:
            data.pop(name, None)
        else:
            data[name] = value
    node.data = data or None
    if ENDING in event.changes:
        if ENDING in data:
            state.ending[event.key] = None
        else:
            state.ending.pop(event.key, None)


def compensation_recorded(state: State, event: e.CompensationRecorded) -> None:
    """Remember a handler that may become due, with what completed within."""
    scope = state.nodes[event.scope]
    nested = None
    if event.nested_from:
        source = state.nodes[event.nested_from]
        nested, source.compensations = source.compensations, None
    record = Compensation(element=event.element, variables=event.variables, nested=nested, gathers=event.gathers)
    if scope.compensations is None:
        scope.compensations = [record]
    else:
        scope.compensations.append(record)


def compensation_changed(state: State, event: e.CompensationChanged) -> None:
    """Start, end or drop a recorded handler."""
    record = find_compensation(state, event.scope, event.path)
    record.state = event.state
    record.handler = event.handler
    if event.state == DONE:
        forget_done(state.nodes[event.scope].compensations, event.path)


def compensation_handed_over(state: State, event: e.CompensationHandedOver) -> None:
    """Move the nested records of a completed sub-process to its handler."""
    record = find_compensation(state, event.scope, event.path)
    state.nodes[event.to].compensations, record.nested = record.nested, None


def find_compensation(state: State, scope: int, path: tuple[int, ...]) -> Compensation:
    """The record at a position within nested records."""
    records = state.nodes[scope].compensations or []
    record = records[path[0]]
    for position in path[1:]:
        record = (record.nested or [])[position]
    return record


def suspended(state: State, event: e.Suspended) -> None:  # noqa: ARG001 - same shape as its siblings
    """Stop."""
    state.status = Status.SUSPENDED


def resumed(state: State, event: e.Resumed) -> None:  # noqa: ARG001 - same shape as its siblings
    """Go on."""
    state.status = Status.ACTIVE


def migrated(state: State, event: e.Migrated) -> None:
    """Every index becomes the target's."""
    state.counts = None
    elements, flows = event.elements, event.flows
    for node in state.nodes.values():
        node.element = elements[node.element]
        node.via = flows.get(node.via, -1)
        for wait in node.waits or ():
            wait.element = elements[wait.element]
        if node.arrived:
            node.arrived = {
                elements[index]: {flows[flow]: count for flow, count in here.items()}
                for index, here in node.arrived.items()
            }
        for record in node.compensations or ():
            migrate_record(record, elements)
        if node.data:
            node.data = migrated_data(node.data, elements, flows)
    state.pending = [(flows.get(flow, -1), elements[index], scope) for flow, index, scope in state.pending]


def migrate_record(record: Compensation, elements: dict[int, int]) -> None:
    """The same for a recorded handler and those within."""
    record.element = elements[record.element]
    for nested in record.nested or ():
        migrate_record(nested, elements)


def migrated_data(data: dict[str, Any], elements: dict[int, int], flows: dict[int, int]) -> dict[str, Any]:
    """The same for what the families keep: late tokens, the activity to compensate, what is still to start."""
    changed = dict(data)
    if "late" in data:
        changed["late"] = {
            str(elements[int(name)]): [flows[flow] for flow in late if flow in flows]
            for name, late in data["late"].items()
            if int(name) in elements
        }
    if data.get("activity", -1) >= 0:
        changed["activity"] = elements.get(data["activity"], -1)
    if "queue" in data:
        changed["queue"] = [elements[index] for index in data["queue"] if index in elements]
    return changed


APPLIERS: dict[type[e.Event], Applier] = {
    e.Started: started,
    e.Ended: ended,
    e.Activated: activated,
    e.Completed: gone,
    e.Terminated: gone,
    e.Passed: nothing,
    e.PhaseChanged: phase_changed,
    e.FlowTaken: nothing,
    e.TokenParked: token_parked,
    e.TokensJoined: tokens_taken,
    e.TokensRemoved: tokens_taken,
    e.TokenDeferred: token_deferred,
    e.TokensResumed: tokens_resumed,
    e.TokensDropped: tokens_dropped,
    e.VariablesSet: variables_set,
    e.JobCreated: job_created,
    e.JobClosed: job_closed,
    e.JobRevived: nothing,  # the job's row is changed by the writer
    e.UserTaskCreated: user_task_created,
    e.UserTaskUpdated: nothing,
    e.UserTaskClosed: user_task_closed,
    e.TimerArmed: timer_armed,
    e.Subscribed: subscribed,
    e.WaitSeen: wait_seen,
    e.WaitSkips: wait_skips,
    e.WaitClosed: wait_closed,
    e.Triggered: nothing,
    e.ErrorThrown: nothing,
    e.CallStarted: call_started,
    e.CallEnded: call_ended,
    e.IncidentRaised: incident_raised,
    e.IncidentResolved: incident_resolved,
    e.LoopChanged: loop_changed,
    e.LoopResult: loop_result,
    e.DataChanged: data_changed,
    e.CompensationRecorded: compensation_recorded,
    e.CompensationChanged: compensation_changed,
    e.CompensationHandedOver: compensation_handed_over,
    e.Migrated: migrated,
    e.Suspended: suspended,
    e.Resumed: resumed,
    e.BusinessIdAssigned: business_id_assigned,
    e.Correlated: nothing,
    e.Warned: nothing,
    e.DecisionEvaluated: nothing,
    e.Modified: nothing,
}
