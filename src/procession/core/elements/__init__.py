"""The families of elements, one module each, and the one table that says which family an element belongs to.

To add an element: give it a ``Kind``, write its functions in the module of its family, add its line here.
"""

from __future__ import annotations

from procession.core.elements import (
    ad_hoc,
    complex_gateway,
    conditions,
    events,
    gateways,
    listeners,
    multi_instance,
    removed,
    scopes,
    tasks,
    triggers,
)
from procession.core.elements.compensation import transaction_emptied
from procession.core.lifecycle import CHOOSERS, COLLECTORS, FAMILIES, HANDLER_DONE, JUDGES, LOOPS, TAKERS, Family, Loop
from procession.core.problems import Problem
from procession.core.removal import AFTER
from procession.core.state import ElementInstance, IncidentKind
from procession.core.step import Step
from procession.model.definition import Element, Kind


def not_entered(step: Step, element: Element, scope: int, flow: int) -> None:
    """No flow leads here: only a trigger or the engine itself starts this element."""
    del step, scope, flow
    message = f"'{element.id}' (line {element.line}) cannot be entered by a sequence flow"
    raise Problem(IncidentKind.EXTRACT_VALUE_ERROR, message)


def passes(step: Step, element: Element, node: ElementInstance) -> None:
    """There is no work: the element completes at once."""
    scopes.complete(step, element, node)


_task = Family(tasks.enter_activity, tasks.start_task)
_scope = Family(tasks.enter_activity, scopes.start_scope)
_throw = Family(events.enter_throw, events.start_throw)

FAMILIES.update(
    {
        Kind.PROCESS: Family(not_entered, scopes.start_process),
        Kind.SUB_PROCESS: _scope,
        Kind.TRANSACTION: _scope,
        Kind.EVENT_SUB_PROCESS: Family(scopes.enter_event_sub_process, scopes.start_event_sub_process),
        Kind.AD_HOC_SUB_PROCESS: Family(tasks.enter_activity, ad_hoc.start_ad_hoc),
        Kind.CALL_ACTIVITY: Family(tasks.enter_activity, scopes.start_call),
        Kind.TASK: _task,
        Kind.SERVICE_TASK: _task,
        Kind.SEND_TASK: _task,
        Kind.RECEIVE_TASK: _task,
        Kind.USER_TASK: _task,
        Kind.MANUAL_TASK: _task,
        Kind.SCRIPT_TASK: _task,
        Kind.BUSINESS_RULE_TASK: _task,
        Kind.EXCLUSIVE_GATEWAY: Family(gateways.enter_exclusive, passes),
        Kind.PARALLEL_GATEWAY: Family(gateways.enter_parallel, passes),
        Kind.INCLUSIVE_GATEWAY: Family(gateways.enter_inclusive, passes),
        Kind.COMPLEX_GATEWAY: Family(complex_gateway.enter_complex, passes),
        Kind.EVENT_BASED_GATEWAY: Family(events.enter_gateway, events.start_gateway),
        Kind.START_EVENT: Family(events.enter_start, events.start_start),
        Kind.END_EVENT: _throw,
        Kind.INTERMEDIATE_THROW_EVENT: _throw,
        Kind.INTERMEDIATE_CATCH_EVENT: Family(events.enter_catch, events.start_catch),
        Kind.BOUNDARY_EVENT: Family(not_entered, passes),
    }
)
CHOOSERS.update(
    {
        Kind.EXCLUSIVE_GATEWAY: gateways.choose_exclusive,
        Kind.PARALLEL_GATEWAY: gateways.choose_parallel,
        Kind.INCLUSIVE_GATEWAY: gateways.choose_inclusive,
        Kind.COMPLEX_GATEWAY: gateways.choose_inclusive,
    }
)
LOOPS.update(
    {
        True: Loop(multi_instance.start_multi_instance, multi_instance.left_multi_instance),
        False: Loop(multi_instance.start_loop, multi_instance.left_loop),
    }
)
TAKERS[:] = [listeners.hold_before_flow]
COLLECTORS[:] = [ad_hoc.collect]
JUDGES[:] = [conditions.judge_again]
HANDLER_DONE[:] = [events.handler_completed]
AFTER.update(
    {
        "boundary": triggers.host_removed,
        "event-sub-process": triggers.scope_emptied,
        "settle": scopes.emptied,
        "terminate": events.all_terminated,
        "loop": multi_instance.loop_emptied,
        "cancel": transaction_emptied,
        "modify": removed.removed,
    }
)
