"""The states of one process and the steps between them, each found once however many ways lead to it.

A state is judged when it is found: places that hold too many tokens, scopes whose tokens can never go on. What happens
between several processes stands in ``world.py``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from procession.core import State
from procession.core import events as e
from procession.explorer.abstraction import Abstract
from procession.explorer.canonical import ENDED, ENDS, canonical, ends_in
from procession.explorer.choices import Choice, Choices, outcomes
from procession.explorer.limits import TOKENS_MAX
from procession.explorer.moves import (
    INSTANCE,
    Move,
    activated,
    carry_out,
    decoded,
    ends_reached,
    message_waits,
    moves,
    starts,
)
from procession.model.definition import Kind

NOT_STARTED: Final = b""


class Place(NamedTuple):
    """Where tokens can be: on a flow, or in an element."""

    flow: int = -1
    element: int = -1


class Stuck(NamedTuple):
    """A join whose tokens can never go on: nothing else is left in its scope."""

    join: int
    missing: tuple[int, ...]  # the flows by which no token has come


@dataclass(slots=True, eq=False)
class Local:
    """One state of a process."""

    number: int
    raw: bytes
    next_key: int
    moves: tuple[Move, ...] = ()
    waits: tuple[tuple[int, int], ...] = ()  # for messages of message flows: receiving element, key
    unsafe: tuple[Place, ...] = ()
    is_crowded: bool = False  # beyond TOKENS_MAX: not followed
    stuck: tuple[Stuck, ...] = ()
    has_incident: bool = False
    holding: tuple[int, ...] = ()  # elements that hold a token
    known: dict[Move, tuple[Outcome, ...]] = field(default_factory=dict["Move", "tuple[Outcome, ...]"])

    @property
    def is_started(self) -> bool:
        """Whether there is an instance."""
        return self.raw != NOT_STARTED

    @property
    def is_ended(self) -> bool:
        """Whether the instance is over."""
        return self.raw == ENDED


class Outcome(NamedTuple):
    """What a move leads to, with one combination of decisions."""

    target: Local
    made: tuple[Choice, ...]
    active: tuple[int, ...]  # elements that became active or passed the token, in order
    sent: tuple[int, ...]  # sending elements of message flows that are done
    again: tuple[int, ...]  # end events reached once more in the same scope
    again_in_process: bool  # one of them is an end event of the process itself
    incidents: tuple[tuple[int, str], ...]  # element, message
    is_cut: bool  # there were more combinations than OUTCOMES_MAX


class LocalSpace:
    """All states of one process that were found."""

    def __init__(self, process: Abstract, sending: frozenset[int] = frozenset()) -> None:
        self.process = process
        self.states: list[Local] = []
        self._known: dict[bytes, Local] = {}
        self._sending = sending
        self.initial = self._keep(NOT_STARTED, INSTANCE + 1)

    def outcomes(self, local: Local, move: Move) -> tuple[Outcome, ...]:
        """What a move leads to, with every combination of decisions."""
        found = local.known.get(move)
        if found is None:
            found = local.known[move] = tuple(self._carry_out(local, move))
        return found

    def _carry_out(self, local: Local, move: Move) -> list[Outcome]:
        found: list[Outcome] = []

        def run(choices: Choices) -> Outcome | None:
            before = decoded(local.raw, choices) if local.is_started else None
            ends = {} if before is None else {key: ends_in(node) for key, node in before.nodes.items()}
            elements = {} if before is None else {key: node.element for key, node in before.nodes.items()}
            after = carry_out(self.process, before, move, choices, local.next_key)
            return None if after is None else self._outcome(after, choices, ends, elements)

        for choices, outcome in outcomes(run):
            if outcome is not None and not self._is_impossible(outcome.target):
                found.append(outcome)
            elif outcome is None and not choices.trail and found:
                found[-1] = found[-1]._replace(is_cut=True)
        return found

    def _outcome(
        self,
        after: tuple[State, list[e.Event]],
        choices: Choices,
        ends: dict[int, list[int]],
        elements: dict[int, int],
    ) -> Outcome:
        """The state after a step, and what is worth knowing about the step."""
        state, events = after
        again: list[int] = []
        in_process = False
        for scope, end in ends_reached(self.process, events):
            before = ends.setdefault(scope, [])
            if end in before:
                again.append(end)
                in_process = in_process or scope == state.root
            node = state.nodes.get(scope)
            ends[scope] = sorted({*before, end})
            if node is not None:
                node.data = {**(node.data or {}), ENDS: ends[scope]}
        elements = elements | {event.key: event.element for event in events if isinstance(event, e.Activated)}
        raised = [event for event in events if isinstance(event, e.IncidentRaised)]
        incidents = tuple((elements[event.element_instance], event.message) for event in raised)
        raw, next_key = canonical(self.process, state)
        return Outcome(
            target=self._keep(raw, next_key),
            made=tuple(choices.made),
            active=tuple(dict.fromkeys(activated(events))),
            sent=tuple(self._sent(events, elements)),
            again=tuple(again),
            again_in_process=in_process,
            incidents=incidents,
            is_cut=False,
        )

    def _sent(self, events: list[e.Event], elements: dict[int, int]) -> list[int]:
        """The sending elements that are done in a step."""
        if not self._sending:
            return []
        done = [event.element for event in events if isinstance(event, e.Passed)]
        done += [elements[event.key] for event in events if isinstance(event, e.Completed)]
        return [element for element in done if element in self._sending]

    def _keep(self, raw: bytes, next_key: int) -> Local:
        local = self._known.get(raw)
        if local is None:
            local = Local(len(self.states), raw, next_key)
            self._known[raw] = local
            self.states.append(local)
            self._judge(local)
        return local

    def _judge(self, local: Local) -> None:
        """Look at a state that was found."""
        if local.is_ended:
            return
        if not local.is_started:
            local.moves = tuple(starts(self.process))
            return
        state = decoded(local.raw, Choices())
        counts = tokens(self.process, state)
        local.unsafe = tuple(dict.fromkeys(place for (place, _), count in counts.items() if count > 1))
        local.is_crowded = any(count > TOKENS_MAX for count in counts.values())
        local.stuck = tuple(_stuck(self.process, state))
        local.has_incident = bool(state.incidents)
        local.holding = tuple(dict.fromkeys(_holding(state)))
        local.moves = tuple(moves(self.process, state))
        local.waits = tuple(message_waits(self.process, state))

    def _is_impossible(self, local: Local) -> bool:
        """Whether a complex gateway waits in vain: its condition is taken to hold in time, as that cannot be known."""
        elements = self.process.definition.elements
        return any(elements[stuck.join].activation_condition is not None for stuck in local.stuck)


def tokens(process: Abstract, state: State) -> Counter[tuple[Place, int]]:
    """How many tokens each place holds in each scope. Inner instances and event sub-processes are meant to overlap."""
    counts: Counter[tuple[Place, int]] = Counter()
    for flow, _, scope in state.pending:
        if flow >= 0:
            counts[Place(flow=flow), scope] += 1
    for node in state.nodes.values():
        for here in (node.arrived or {}).values():
            for flow, count in here.items():
                counts[Place(flow=flow), node.key] += count
        if not node.loop_index and process.definition.elements[node.element].kind != Kind.EVENT_SUB_PROCESS:
            counts[Place(element=node.element), node.scope] += 1
    return counts


def _stuck(process: Abstract, state: State) -> list[Stuck]:
    found: list[Stuck] = []
    resting = {scope for _, _, scope in state.pending}
    for node in state.nodes.values():
        if not node.arrived or state.children.get(node.key) or node.key in resting:
            continue
        for join, here in node.arrived.items():
            incoming = process.definition.elements[join].incoming
            found.append(Stuck(join, tuple(flow for flow in incoming if flow not in here)))
    return found


def _holding(state: State) -> list[int]:
    """The elements that hold a token in a state: joins, what waits, what stands still."""
    joins = [join for node in state.nodes.values() for join in node.arrived or ()]
    leaves = [node.element for node in state.nodes.values() if node.scope and not state.children.get(node.key)]
    return [*joins, *(element for _, element, _ in state.pending), *leaves]
