"""What can happen next in one process: its moves, and how the core carries each of them out. It remembers nothing.

All but one are commands of the core. ``GO`` lets a single token go on that rests before an element: the core itself
takes up all deferred tokens of an instance in one step, the explorer one at a time, in every order.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

from procession.core import State, decide, decode_state
from procession.core import events as e
from procession.core.commands import AnyCommand, CompleteJob, Correlate, FireTimer, StartInstance, ThrowError
from procession.core.lifecycle import FAMILIES
from procession.core.moving import SCOPE_ENDED, run
from procession.core.state import ElementInstance
from procession.core.step import Step
from procession.explorer.abstraction import Abstract
from procession.explorer.choices import CHOICES, Choices
from procession.ids import Keys
from procession.model.definition import Kind, Trigger

INSTANCE: Final = 1
NOW: Final = 1_000_000  # any instant: timers are due at once, and happen when the explorer says
KEYS_END: Final = 1 << 40


class Act(IntEnum):
    """The kinds of moves."""

    START = 0  # the instance is created
    GO = 1  # a token that rests before an element enters it
    COMPLETE = 2  # the work of an activity is done
    THROW = 3  # the work of an activity ends in a BPMN error
    HAPPEN = 4  # what is waited for happens: a timer, a signal, a condition, a message from outside
    RECEIVE = 5  # a message of a message flow is received


class Move(NamedTuple):
    """One thing that can happen. ``key``: of a job or wait, or the position of a resting token."""

    act: Act
    element: int
    key: int = 0
    code: str = ""  # THROW: of the error
    flow: int = -1  # RECEIVE: the message flow; GO: the flow that the token came by


def decoded(raw: bytes, choices: Choices) -> State:
    """A state to be changed, whose decisions are made by ``choices``."""
    return decode_state(raw, {CHOICES: choices})


def starts(process: Abstract) -> list[Move]:
    """The ways in which an instance can begin."""
    definition = process.definition
    found = [Move(Act.START, index) for index in definition.start_events]
    if definition.none_start >= 0 or definition.elements[0].starts or not found:
        found.insert(0, Move(Act.START, 0))
    return found


def moves(process: Abstract, state: State) -> Iterator[Move]:
    """What can happen in a state, messages of message flows left out; the same thing twice is told once."""
    seen: set[tuple[int, int, int]] = set()
    for position, token in enumerate(state.pending):
        if token not in seen:
            seen.add(token)
            yield Move(Act.GO, token[1], position, flow=token[0])
    for node in state.nodes.values():
        if node.incident:
            continue
        if node.job:
            yield Move(Act.COMPLETE, node.element, node.job)
            for code in process.codes.get(node.element, ()):
                yield Move(Act.THROW, node.element, node.job, code)
        yield from _events(process, node)


def _events(process: Abstract, node: ElementInstance) -> Iterator[Move]:
    for wait in node.waits or ():
        spec = process.definition.elements[wait.element].events[wait.spec]
        if spec.trigger == Trigger.TIMER:
            yield Move(Act.HAPPEN, wait.element, wait.key)


def message_waits(process: Abstract, state: State) -> Iterator[tuple[int, int]]:
    """The waits for messages of message flows: receiving element, key of the wait."""
    for node in state.nodes.values():
        for wait in node.waits or ():
            if process.definition.elements[wait.element].events[wait.spec].trigger == Trigger.MESSAGE:
                yield wait.element, wait.key


def carry_out(
    process: Abstract, state: State | None, move: Move, choices: Choices, next_key: int
) -> tuple[State, list[e.Event]] | None:
    """One step of the core; the state is changed. None where an optional error would be caught by nobody."""
    keys = Keys(range(next_key, KEYS_END))
    if move.act == Act.GO:
        assert state is not None, "only a running instance has resting tokens"
        return _parked(process, state, _let_go(process, state, move.key, keys), keys)
    command = _command(process, move, choices)
    decision = decide(process.definition, state, command, now=NOW, keys=keys)
    if move.act == Act.THROW and any(isinstance(event, e.IncidentRaised) for event in decision.events):
        return None
    return _parked(process, decision.state, decision.events, keys)


def _command(process: Abstract, move: Move, choices: Choices) -> AnyCommand:
    match move.act:
        case Act.COMPLETE:
            return CompleteJob(move.key)
        case Act.THROW:
            return ThrowError(move.key, move.code)
        case Act.HAPPEN:
            return FireTimer(move.key)
        case Act.RECEIVE if move.key:
            return Correlate(move.key, "")
        case _:
            start = process.definition.elements[move.element].id if move.element else ""
            return StartInstance(INSTANCE, {CHOICES: choices}, start=start)


def _let_go(process: Abstract, state: State, position: int, keys: Keys) -> list[e.Event]:
    """Let the resting token at a position go on, and no other."""
    flow, index, scope = token = state.pending[position]
    state.pending = [token, *state.pending[:position], *state.pending[position + 1 :]]
    step = Step(process.definition, state, NOW, keys)
    step.emit(e.TokensResumed(1))
    if index == SCOPE_ENDED:  # left over by a step that was cut
        step.ended_in[scope] = None
    else:
        element = process.definition.elements[index]
        FAMILIES[element.kind].enter(step, element, scope, flow)
    run(step)
    return step.events


def _parked(process: Abstract, state: State, events: list[e.Event], keys: Keys) -> tuple[State, list[e.Event]]:
    """Park the tokens that rest before parallel joins which cannot fire yet: nothing else comes of it."""
    if process.joins:
        while (position := _waits_at_join(process, state)) >= 0:
            events = events + _let_go(process, state, position, keys)
    return state, events


def _waits_at_join(process: Abstract, state: State) -> int:
    """The position of a resting token whose join misses tokens of other flows, or -1."""
    for position, (flow, index, scope) in enumerate(state.pending):
        if index not in process.joins:
            continue
        here = {flow, *(state.nodes[scope].arrived or {}).get(index, ())}
        here |= {other for other, join, where in state.pending if (join, where) == (index, scope)}
        if any(other not in here for other in process.definition.elements[index].incoming):
            return position
    return -1


def activated(events: list[e.Event]) -> Iterator[int]:
    """The elements that became active, passed a token or happened in a step."""
    for event in events:
        if isinstance(event, e.Activated | e.Passed | e.Triggered):
            yield event.element


def ends_reached(process: Abstract, events: list[e.Event]) -> Iterator[tuple[int, int]]:
    """The end events that a token reached in a step: scope, element."""
    for event in events:
        entered = isinstance(event, e.Activated | e.Passed)
        if entered and process.definition.elements[event.element].kind == Kind.END_EVENT:
            yield event.scope, event.element
