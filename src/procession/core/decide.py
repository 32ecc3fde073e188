"""A command in, events out: one function per command. The tokens that it sets going are moved by ``moving``.

``decide`` is pure: the clock, the keys and the definition are arguments, and the same arguments give the same
decision. A command is checked before anything changes; what is wrong with it raises a ``Rejected`` and leaves the
state as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from procession.core import events as e
from procession.core.commands import (
    AnyCommand,
    AssignBusinessId,
    Cancel,
    ChildEnded,
    Command,
    CompleteJob,
    CompleteUserTask,
    Continue,
    Correlate,
    ErrorUncaught,
    FailJob,
    FireTimer,
    FollowUp,
    Modify,
    ResolveIncident,
    Resume,
    Send,
    SetVariables,
    StartInstance,
    Suspend,
    ThrowError,
    UpdateUserTask,
)
from procession.core.elements import conditions, scopes
from procession.core.elements.ad_hoc import check_job, job_done
from procession.core.elements.errors import catch, find_catcher, throw_error, throw_escalation, uncaught
from procession.core.elements.listeners import complete_after_listeners, listener_done, update_after_listeners
from procession.core.elements.paths import single_way
from procession.core.elements.signals import served
from procession.core.elements.triggers import fire
from procession.core.lifecycle import begin, complete, raise_incident, resolve
from procession.core.lines import Trail, completed_along, started_along
from procession.core.listening import LISTENER
from procession.core.modify import modify
from procession.core.moving import run, take_up
from procession.core.problems import Problem
from procession.core.removal import end_all, go_on_removing, is_going, is_told, tell, was_told
from procession.core.state import ElementInstance, IncidentKind, Phase, State, Status
from procession.core.step import Step
from procession.core.surroundings import NONE, Surroundings
from procession.core.variables import propagate, write
from procession.errors import Conflict, InvalidValue, NotFound
from procession.ids import Keys
from procession.model.definition import Definition, Element, Trigger


class Decision(msgspec.Struct, gc=False):
    """What follows from a command: the state after it, the events that led there, what is asked of others."""

    state: State
    events: list[e.Event]
    follow_ups: list[FollowUp]
    trail: Trail | None = None  # of a step along a straight line: what its rows will be


def decide(
    definition: Definition,
    state: State | None,
    command: AnyCommand,
    *,
    now: int,
    keys: Keys,
    surroundings: Surroundings = NONE,
) -> Decision:
    """Decide a command of one instance at the instant ``now`` (milliseconds since the epoch).

    ``state`` is None for StartInstance only. It is handed over: the decision's state is the same object, changed.
    ``keys`` must hold at least ``limits.STEP_KEYS_MAX`` keys. Raises NotFound or Conflict, having changed nothing, when
    the command does not fit the state; raises Bug when an invariant does not hold, and NotAtHand when the
    surroundings cannot tell yet (drop the state then).
    """
    kind = type(command)
    along = None
    if kind is CompleteJob:
        if state is not None:
            along = completed_along(definition, state, command, keys)  # pyright: ignore[reportArgumentType]
    elif kind is StartInstance:
        state = State(key=0) if state is None else state
        along = started_along(definition, state, command, keys)  # pyright: ignore[reportArgumentType]
    if along is not None and state is not None:
        return Decision(state, along[0], [], along[1])
    return decide_at_length(definition, state, command, now=now, keys=keys, surroundings=surroundings)


def decide_at_length(
    definition: Definition,
    state: State | None,
    command: AnyCommand,
    *,
    now: int,
    keys: Keys,
    surroundings: Surroundings = NONE,
) -> Decision:
    """``decide`` for any command, token by token: what a step along a straight line is compared with."""
    step = Step(definition, State(key=0) if state is None else state, now, keys, surroundings)
    HANDLERS[type(command)](step, command)
    if step.todo or step.ended_in or (definition.has_conditions and (step.changed or step.new_conditions)):
        run(step)
    if step.cut and (step.state.status == Status.ACTIVE or _is_cancelled(step)):
        step.follow_ups.append(Send(step.state.key, Continue()))
    return Decision(step.state, step.events, step.follow_ups)


# --- one function per command -----------------------------------------------------------------------------------------


def start_instance(step: Step, command: StartInstance) -> None:
    """Create the instance and let the first tokens in."""
    data: dict[str, Any] = {}
    start = step.elements[_index(step, command.start)] if command.start else None
    if start is not None:
        data = {"start": start.index, "event": command.event or None}
    elif command.at or command.after:
        data = {"at": [_index(step, name) for name in command.at]}
        data["after"] = [single_way(step.elements[_index(step, name)]).index for name in command.after]
    step.emit(
        e.Started(
            command.instance,
            step.definition.key,
            command.business_id,
            command.parent,
            command.parent_element_instance,
            command.depth,
            command.start_channel,
        )
    )
    root = step.state.nodes[command.instance]
    if command.message and start is not None:
        step.emit(
            e.Correlated(command.message, command.event, command.start_channel, command.subscription, start.index, 0)
        )
    if start is not None and start.outputs:
        data["variables"] = dict(command.variables)  # only what the start event's output mappings name goes up
    else:
        write(step, root.key, dict(command.variables))
    if data:
        step.emit(e.DataChanged(root.key, data))
    begin(step, step.elements[0], root)


def complete_job(step: Step, command: CompleteJob) -> None:
    """The work of a service-like element is done."""
    node, element = _owner(step, command.job, "job")
    if command.activate:
        check_job(step, element, command)
    if node.incident:
        step.emit(e.IncidentResolved(node.incident, "canceled"))
    step.emit(e.JobClosed(command.job, "completed"))
    if node.data and LISTENER in node.data:
        listener_done(step, element, node, command)
    elif element.ad_hoc is not None:
        job_done(step, element, node, command)
    else:
        complete(step, element, node, command.variables)


def fail_job(step: Step, command: FailJob) -> None:
    """No attempts are left: ask a person."""
    node, element = _owner(step, command.job, "job")
    if node.incident:
        message = f"Job {command.job} has an incident already: {node.incident}"
        raise Conflict(message)
    if command.variables:
        write(step, node.key, command.variables)
    listens = bool(node.data and LISTENER in node.data)
    what = "Listener" if listens else "Job"
    text = f"{what} of '{element.id}' (line {element.line}) failed and has no attempts left: {command.message}"
    problem = Problem(IncidentKind.LISTENER_NO_RETRIES if listens else IncidentKind.JOB_NO_RETRIES, text)
    raise_incident(step, node, problem, Phase(node.phase), command.job)


def throw_job_error(step: Step, command: ThrowError) -> None:
    """A worker throws a BPMN error from its job."""
    node, element = _owner(step, command.job, "job")
    if is_told(node):
        where = f"of '{element.id}' (line {element.line})"
        message = f"A canceling listener {where} cannot throw the error '{command.code}': the user task goes anyway"
        raise InvalidValue(message)
    if node.incident:
        step.emit(e.IncidentResolved(node.incident, "canceled"))
    step.emit(e.JobClosed(command.job, "error"))
    try:
        throw_error(step, node, command.code, command.message, command.variables)
    except Problem as problem:
        raise_incident(step, node, problem, Phase.ACTIVE)


def fire_timer(step: Step, command: FireTimer) -> None:
    """A timer is due; never early."""
    owner = _waiting(step, command.timer, "timer")
    wait = next(wait for wait in owner.waits or () if wait.key == command.timer)
    if wait.due > step.now:
        message = f"Timer {command.timer} is due at {wait.due}, and it is {step.now} now"
        raise Conflict(message)
    _must_be_active(step)
    fire(step, owner, wait, {})


def correlate(step: Step, command: Correlate) -> None:
    """A message, signal or condition has come."""
    owner = _waiting(step, command.subscription, "subscription")
    _must_be_active(step)
    wait = next(wait for wait in owner.waits or () if wait.key == command.subscription)
    if not served(step, wait):
        if command.message:
            where = (command.subscription, wait.element, owner.key)
            step.emit(e.Correlated(command.message, command.name, command.correlation_key, *where))
        fire(step, owner, wait, command.variables)


def complete_user_task(step: Step, command: CompleteUserTask) -> None:
    """A person is done."""
    node, element = _owner(step, command.user_task, "user task")
    if element.listeners:
        complete_after_listeners(step, element, node, command.variables)
        return
    step.emit(e.UserTaskClosed(command.user_task, "completed"))
    complete(step, element, node, command.variables)


def update_user_task(step: Step, command: UpdateUserTask) -> None:
    """Attributes of a user task change."""
    node, element = _owner(step, command.user_task, "user task")
    if element.listeners:
        update_after_listeners(step, element, node, command)
        return
    step.emit(e.UserTaskUpdated(command.user_task, command.changes, command.action))


def cancel(step: Step, command: Cancel) -> None:
    """End everything."""
    state = step.state
    if state.parent and not command.by_parent:
        message = (
            f"Instance {state.key} was called by instance {state.parent} and ends with it: cancel that one, "
            "or move its token away from the call activity"
        )
        raise Conflict(message)
    if state.status not in {Status.ACTIVE, Status.SUSPENDED}:
        message = f"Instance {state.key} is over already"
        raise Conflict(message)
    if state.nodes[state.root].phase == Phase.TERMINATING:
        message = f"Instance {state.key} is being cancelled already"
        raise Conflict(message)
    end_all(step, command.reason)


def resolve_incident(step: Step, command: ResolveIncident) -> None:
    """Try again what raised an incident."""
    incident = step.state.incidents.get(command.incident)
    if incident is None:
        message = f"Instance {step.state.key} has no open incident {command.incident}"
        raise NotFound(message)
    node = step.state.nodes[incident.element_instance]
    element = step.elements[node.element]
    told = node.phase == Phase.TERMINATING and bool(node.user_task)
    if not told:
        _must_not_be_going(step, node.key)
    if incident.job and command.retries < 1:
        message = f"Job {incident.job} has no attempts left: resolve incident {incident.key} with retries of at least 1"
        raise Conflict(message)
    step.emit(e.IncidentResolved(incident.key, "resolved"))
    if told and not node.job:
        if not tell(step, node):
            was_told(step, node)
    else:
        resolve(step, element, node, command.retries)


def set_variables(step: Step, command: SetVariables) -> None:
    """Write variables from outside."""
    scope = command.element_instance or step.state.root
    if scope not in step.state.nodes:
        message = f"Instance {step.state.key} has no active element instance {scope}"
        raise NotFound(message)
    if command.local:
        write(step, scope, command.variables)
    else:
        propagate(step, scope, command.variables)


def child_ended(step: Step, command: ChildEnded) -> None:
    """A called instance is over, or reports an error or escalation."""
    node = step.state.nodes.get(command.element_instance)
    if node is None or node.called != command.child:
        message = f"Element instance {command.element_instance} does not wait for instance {command.child} (any more)"
        raise NotFound(message)
    _must_not_be_going(step, node.key)
    element = step.elements[node.element]
    if command.outcome == "completed":
        scopes.call_completed(step, element, node, command.variables)
    elif command.outcome == "error":
        _child_threw(step, node, command)
    elif command.outcome == "escalation":
        throw_escalation(step, node, command.code, command.variables)
    else:
        step.emit(e.CallEnded(node.key, command.outcome))
        problem = Problem(
            IncidentKind.CALLED_ELEMENT_ERROR, command.message or f"The called instance {command.outcome}"
        )
        raise_incident(step, node, problem, Phase.ACTIVE)


def error_uncaught(step: Step, command: ErrorUncaught) -> None:
    """The callers did not catch: the error becomes an incident where it was thrown."""
    for node in list(step.state.nodes.values()):
        if not node.data or node.data.get("error") != command.code or is_going(step.state, node.key):
            continue
        step.emit(e.DataChanged(node.key, {"error": None, "message": None}))
        if node.called:
            step.follow_ups.append(Send(node.called, ErrorUncaught(command.code, command.message)))
        else:
            raise_incident(step, node, uncaught(step, node, command.code, command.message), Phase.ACTIVE)


def continue_step(step: Step, command: Continue) -> None:
    """Go on with the tokens that a bounded step left on their way. Of a suspended instance they wait for Resume."""
    del command
    if step.state.status == Status.SUSPENDED and not _is_cancelled(step):
        return
    if step.state.ending:
        go_on_removing(step)
        if step.cut:
            return
    elif not step.state.pending and not conditions.are_deferred(step):
        message = f"Instance {step.state.key} has no deferred tokens"
        raise NotFound(message)
    if step.state.status == Status.ACTIVE:
        take_up(step)


def suspend(step: Step, command: Suspend) -> None:
    """Stop taking steps."""
    del command
    _must_be_active(step)
    step.emit(e.Suspended())


def resume(step: Step, command: Resume) -> None:
    """Take steps again."""
    del command
    if step.state.status != Status.SUSPENDED:
        message = f"Instance {step.state.key} is not suspended"
        raise Conflict(message)
    step.emit(e.Resumed())
    if step.state.ending:
        go_on_removing(step)
    if not step.cut:
        take_up(step)


# --- internal ---------------------------------------------------------------------------------------------------------


def _owner(step: Step, key: int, what: str) -> tuple[ElementInstance, Element]:
    """The element instance that holds an open job or user task. Raises NotFound."""
    owner = step.state.jobs.get(key)
    if owner is None:
        message = f"Instance {step.state.key} has no open {what} {key}: it was completed or canceled"
        raise NotFound(message)
    node = step.state.nodes[owner]
    if step.state.ending and not (what == "job" and is_told(node)):
        _must_not_be_going(step, owner)
    return node, step.elements[node.element]


def _waiting(step: Step, key: int, what: str) -> ElementInstance:
    """The element instance that waits for a timer or subscription. Raises NotFound."""
    owner = step.state.waits.get(key)
    if owner is None:
        message = f"Instance {step.state.key} does not wait for {what} {key} (any more)"
        raise NotFound(message)
    _must_not_be_going(step, owner)
    return step.state.nodes[owner]


def _must_not_be_going(step: Step, key: int) -> None:
    """Refuse what comes for an element instance that is taken away step by step. Raises Conflict."""
    if _is_cancelled(step):
        message = f"Instance {step.state.key} is being cancelled"
        raise Conflict(message)
    if is_going(step.state, key):
        element = step.elements[step.state.nodes[key].element]
        message = f"Element instance {key} of '{element.id}' is being taken away: what was to interrupt it has happened"
        raise Conflict(message)


def _is_cancelled(step: Step) -> bool:
    """Whether the instance is being cancelled."""
    root = step.state.nodes.get(step.state.root)
    return root is not None and root.phase == Phase.TERMINATING


def assign_business_id(step: Step, command: AssignBusinessId) -> None:
    """Once and for good; the same again changes nothing. Raises Conflict."""
    state = step.state
    if state.business_id == command.business_id:
        return
    if state.business_id:
        message = f"Instance {state.key} has the business id '{state.business_id}' already: it stays"
        raise Conflict(message)
    if state.parent:
        message = f"Instance {state.key} was called by instance {state.parent}: a business id is given to callers only"
        raise Conflict(message)
    step.emit(e.BusinessIdAssigned(command.business_id))


def _must_be_active(step: Step) -> None:
    """Refuse steps of an instance that is suspended. Raises Conflict."""
    if step.state.status != Status.ACTIVE:
        message = f"Instance {step.state.key} is {Status(step.state.status).name.lower()}: it takes no steps"
        raise Conflict(message)


def _index(step: Step, element_id: str) -> int:
    """The index of an element to start at. Raises NotFound."""
    index = step.definition.index_of.get(element_id)
    if index is None:
        message = f"Process '{step.definition.process_id}' has no element '{element_id}'"
        raise NotFound(message)
    return index


def _child_threw(step: Step, node: ElementInstance, command: ChildEnded) -> None:
    """A called instance threw an error that it does not catch itself."""
    step.emit(e.ErrorThrown(node.key, Trigger.ERROR, command.code, command.message))
    catcher = find_catcher(step, node, Trigger.ERROR, command.code)
    if catcher is not None:
        catch(step, catcher, command.code, command.message, command.variables)
    elif step.state.parent:
        throw_error(step, node, command.code, command.message, command.variables)
    else:
        step.follow_ups.append(Send(command.child, ErrorUncaught(command.code, command.message)))


HANDLERS: dict[type[Command], Callable[[Step, Any], None]] = {
    StartInstance: start_instance,
    CompleteJob: complete_job,
    FailJob: fail_job,
    ThrowError: throw_job_error,
    FireTimer: fire_timer,
    Correlate: correlate,
    CompleteUserTask: complete_user_task,
    UpdateUserTask: update_user_task,
    Cancel: cancel,
    ResolveIncident: resolve_incident,
    SetVariables: set_variables,
    ChildEnded: child_ended,
    ErrorUncaught: error_uncaught,
    Continue: continue_step,
    Modify: modify,
    Suspend: suspend,
    Resume: resume,
    AssignBusinessId: assign_business_id,
}
