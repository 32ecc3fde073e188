"""A compiled process without its data: only where tokens can go is left. It runs nothing.

    conditions of flows             any way, any non-empty set of ways, the default (``choices.Way``)
    completion and loop conditions  yes or no at each look (``choices.Maybe``)
    jobs, methods, user tasks       work that is done at some time; with an error event around it, it may throw
    call activities                 the same: the called process is explored by itself
    messages, timers, signals,      happen at some time, in any order; non-interrupting ones once per opening.
    conditional events              Messages of a message flow: when one is there (``network.py``)
    scripts, decisions, throwing    pass at once
    multi-instance                  two inner instances
    mappings, listeners, forms      nothing

How fine a step is. ``async_before`` makes the core leave a token before an element, and so decides where tokens can
rest. They rest where something else may matter before they go on: before whatever has several ways in, before parallel
joins, ends and throwing events, and behind inclusive joins, so that no loop turns within a step. Elements with one way
in and no effect beyond their own token let it through in the same step: whatever could happen between its arrival and
its departure can as well happen after (two tokens that could have been there together can still be together behind it).
This is the partial order reduction of the explorer; without it tokens rest before every element that a flow leads to.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final, NamedTuple

import msgspec

from procession.explorer.choices import Fork, Maybe, Way
from procession.explorer.limits import INNER_INSTANCES, SUBSET_FLOWS_MAX
from procession.model import Static
from procession.model.definition import (
    AdHocSpec,
    Definition,
    Element,
    EventSpec,
    Flow,
    JobSpec,
    Kind,
    LoopSpec,
    TimerKind,
    Trigger,
    Work,
)

AWAITED: Final = frozenset({Trigger.MESSAGE, Trigger.TIMER, Trigger.SIGNAL, Trigger.CONDITIONAL})
ANY_ERROR: Final = "(any other error)"
_GATEWAYS_THAT_CHOOSE: Final = frozenset({Kind.EXCLUSIVE_GATEWAY, Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})
_JOINS: Final = frozenset({Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})
SCOPES: Final = frozenset({Kind.SUB_PROCESS, Kind.TRANSACTION, Kind.AD_HOC_SUB_PROCESS})
_THROWING: Final = frozenset({Kind.END_EVENT, Kind.INTERMEDIATE_THROW_EVENT})
_CATCHING: Final = frozenset({Kind.START_EVENT, Kind.BOUNDARY_EVENT, Kind.INTERMEDIATE_CATCH_EVENT, Kind.RECEIVE_TASK})
_BY_SOMEBODY: Final = frozenset({Work.JOB, Work.METHOD, Work.USER})
_DRAWN_TASKS: Final = frozenset({Kind.TASK, Kind.MANUAL_TASK, Kind.SEND_TASK})
_JOB: Final = JobSpec(type=Static("work"), retries=Static("1", 1))
_SOMETIME: Final = EventSpec(trigger=Trigger.TIMER, timer_kind=TimerKind.DURATION, timer=Static("PT0S"))


class Abstract(NamedTuple):
    """What is explored of a process, beside what it was made of."""

    original: Definition
    definition: Definition
    joins: frozenset[int]  # parallel joins: element indexes
    codes: dict[int, tuple[str, ...]]  # per element that does work: the errors that something around it catches


def abstract(definition: Definition, receiving: frozenset[int] = frozenset(), *, reduced: bool = True) -> Abstract:
    """A process without its data. ``receiving``: elements to which a message flow leads."""
    flows = _flows(definition)
    elements = tuple(_element(element, definition, receiving, reduced=reduced) for element in definition.elements)
    bare = msgspec.structs.replace(definition, elements=elements, flows=flows, has_conditions=False)
    joins = frozenset(element.index for element in elements if _is_parallel_join(element))
    codes = {
        element.index: _caught_around(definition, element)
        for element in definition.elements
        if elements[element.index].work == Work.JOB
    }
    return Abstract(definition, bare, joins, {index: found for index, found in codes.items() if found})


def _flows(definition: Definition) -> tuple[Flow, ...]:
    """The flows with decisions in place of conditions."""
    flows = [msgspec.structs.replace(flow, condition=None, listeners=()) for flow in definition.flows]
    for element in definition.elements:
        decided = _decided_flows(element, definition)
        if not decided:
            continue
        fork = Fork(element.index, decided, _ways(element, decided, definition))
        for index in decided:
            flows[index] = msgspec.structs.replace(flows[index], condition=Way(fork, index))
    return tuple(flows)


def _decided_flows(element: Element, definition: Definition) -> tuple[int, ...]:
    """The flows that an element decides about, in document order, the default left out."""
    if element.kind in {Kind.PARALLEL_GATEWAY, Kind.EVENT_BASED_GATEWAY}:
        return ()
    others = tuple(index for index in element.outgoing if index != element.default_flow)
    if element.kind in _GATEWAYS_THAT_CHOOSE:
        return others if len(element.outgoing) > 1 else ()
    return tuple(index for index in others if definition.flows[index].condition is not None)


def _ways(element: Element, decided: tuple[int, ...], definition: Definition) -> tuple[tuple[int, ...], ...]:
    """The sets of flows that an element may choose, small ones first; the default is the empty set."""
    singles = tuple((index,) for index in decided)
    default: tuple[tuple[int, ...], ...] = ((),) if element.default_flow >= 0 else ()
    if element.kind == Kind.EXCLUSIVE_GATEWAY:
        return (*singles, *default)
    if element.kind not in _GATEWAYS_THAT_CHOOSE and not default:
        always = any(definition.flows[index].condition is None for index in element.outgoing)
        default = ((),) if always else ()
    sizes = range(2, len(decided) + 1) if len(decided) <= SUBSET_FLOWS_MAX else (2, len(decided))
    several = tuple(chosen for size in sizes for chosen in combinations(decided, size))
    return (*singles, *default, *several)


def _element(element: Element, definition: Definition, receiving: frozenset[int], *, reduced: bool) -> Element:
    """An element without its data."""
    work = _work(element)
    loop = _loop(element)
    bare = msgspec.structs.replace(
        element,
        kind=Kind.SERVICE_TASK if element.kind == Kind.CALL_ACTIVITY else element.kind,
        work=work,
        job=_JOB if work == Work.JOB else None,
        events=_events(element, definition, receiving),
        loop=loop,
        ad_hoc=_ad_hoc(element),
        activation_condition=_activation(element),
        inputs=(),
        outputs=(),
        listeners=(),
        user_task=None,
        script=None,
        decision=None,
        call=None,
        result_variable="",
        collected_by=-1,
        async_after=False,
    )
    rests = _tokens_rest_before(element, bare, definition, reduced=reduced)
    return msgspec.structs.replace(bare, async_before=rests)


def _work(element: Element) -> Work:
    """Who does the work, as far as it takes time."""
    if element.kind in _THROWING or element.kind == Kind.AD_HOC_SUB_PROCESS:
        return Work.NONE  # whatever chooses the activities of an ad-hoc sub-process, it may choose them all
    if element.work == Work.MESSAGE:
        return Work.MESSAGE
    if element.work in _BY_SOMEBODY or element.kind == Kind.CALL_ACTIVITY:
        return Work.JOB
    waits = element.kind in _DRAWN_TASKS and element.boundaries
    turns = element.loop is not None and element.kind not in SCOPES  # else all turns would happen in one step
    return Work.JOB if waits or turns else Work.NONE


def _events(element: Element, definition: Definition, receiving: frozenset[int]) -> tuple[EventSpec, ...]:
    """What an event throws or waits for, without names, times and keys."""
    if element.kind in _THROWING:
        kept = (spec for spec in element.events if spec.trigger not in {Trigger.MESSAGE, Trigger.SIGNAL})
        return tuple(_literal(spec) for spec in kept)
    if element.kind not in _CATCHING:
        return ()
    if element.kind == Kind.RECEIVE_TASK and not element.events:
        return (_SOMETIME,)
    return tuple(_awaited(element, spec, definition, receiving) for spec in element.events)


def _awaited(element: Element, spec: EventSpec, definition: Definition, receiving: frozenset[int]) -> EventSpec:
    """One event that is waited for."""
    if spec.trigger == Trigger.MESSAGE and element.index in receiving:
        return EventSpec(trigger=Trigger.MESSAGE, name=Static(element.id))
    calls = element.attached_to >= 0 and definition.elements[element.attached_to].kind == Kind.CALL_ACTIVITY
    if spec.trigger in AWAITED or (spec.trigger == Trigger.ESCALATION and calls):
        return _SOMETIME
    return _literal(spec)


def _literal(spec: EventSpec) -> EventSpec:
    """An event whose code is a text."""
    code = spec.code
    if code is not None and not isinstance(code, Static):
        code = Static(code.text)
    return msgspec.structs.replace(spec, code=code, condition=None, code_variable="", message_variable="")


def _loop(element: Element) -> LoopSpec | None:
    """A loop of a few turns, or of any number whose turns are not told apart."""
    loop = element.loop
    if loop is None:
        return None
    if not loop.multi_instance:
        again = Maybe(element.index, "no more", "once more")
        return LoopSpec(multi_instance=False, test_before=loop.test_before, loop_condition=again)
    enough = None if loop.completion_condition is None else Maybe(element.index, "not enough", "enough")
    number = Static(str(INNER_INSTANCES), INNER_INSTANCES)
    return LoopSpec(sequential=loop.sequential, cardinality=number, completion_condition=enough)


def _ad_hoc(element: Element) -> AdHocSpec | None:
    """All activities start; the condition may say enough after each."""
    spec = element.ad_hoc
    if spec is None:
        return None
    enough = None if spec.completion_condition is None else Maybe(element.index, "not enough", "enough")
    return AdHocSpec(sequential=spec.sequential, completion_condition=enough, cancel_remaining=spec.cancel_remaining)


def _activation(element: Element) -> Maybe | None:
    """A complex gateway may fire at any arrival, and does when all have come."""
    if element.activation_condition is None:
        return None
    return Maybe(element.index, "waits for more", "fires", tokens=len(element.incoming))


def _tokens_rest_before(element: Element, bare: Element, definition: Definition, *, reduced: bool) -> bool:
    """Whether a token that comes by a flow waits before this element: see the top of this file."""
    if element.kind in _JOINS and len(element.incoming) > 1:
        return False  # its tokens are kept by the join itself, which the core looks at whenever something has moved
    if len(element.incoming) > 1 or element.kind == Kind.END_EVENT or (element.incoming and not reduced):
        return True
    if any(definition.elements[definition.flows[flow].source].kind in _JOINS for flow in element.incoming):
        return True
    if element.kind == Kind.INTERMEDIATE_THROW_EVENT:
        return bool(element.events)
    passes = bare.kind not in {Kind.RECEIVE_TASK, Kind.EVENT_BASED_GATEWAY} and bare.work == Work.NONE
    sends = element.kind == Kind.SEND_TASK
    return (sends or not element.outgoing) and passes and element.kind != Kind.START_EVENT and not element.starts


def _is_parallel_join(element: Element) -> bool:
    return element.kind == Kind.PARALLEL_GATEWAY and len(element.incoming) > 1


def _caught_around(definition: Definition, element: Element) -> tuple[str, ...]:
    """The error codes that events on an activity or around it catch, nearest first."""
    catchers = [*element.boundaries]
    while element.scope >= 0:
        element = definition.elements[element.scope]
        catchers += [definition.elements[index].start_event for index in element.event_sub_processes]
        catchers += element.boundaries
    events = [spec for index in catchers if index >= 0 for spec in definition.elements[index].events]
    codes = [spec.code for spec in events if spec.trigger == Trigger.ERROR]
    return tuple(dict.fromkeys(ANY_ERROR if code is None else code.text for code in codes))
