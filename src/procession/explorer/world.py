"""One or several processes and the messages between them: what can happen, and what it leads to. It searches nothing.

A process without message flows stands alone: whatever it waits for comes from outside, in any order. In a
collaboration, elements with message flows send and receive their messages; everything else stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from procession.explorer.abstraction import abstract
from procession.explorer.choices import Choice
from procession.explorer.limits import MESSAGES_MAX
from procession.explorer.local import Local, LocalSpace, Outcome
from procession.explorer.moves import Act, Move
from procession.explorer.network import Link, Messages, Network, receivable, sent
from procession.model import MessageFlow
from procession.model.definition import Definition

Situation = tuple[tuple[int, ...], Messages]  # the number of each process' state, and the messages on their way


class Step(NamedTuple):
    """One step of one process, and where the world is after it."""

    process: int
    move: Move
    outcome: Outcome
    sent: tuple[Choice, ...]  # by which message flows
    received: int  # the number of the message flow, or -1
    target: Situation


class World:
    """What is explored."""

    def __init__(
        self,
        definitions: Sequence[Definition],
        flows: Iterable[MessageFlow] = (),
        network: Network = Network.BAG,
        *,
        reduced: bool = True,
    ) -> None:
        self.network = network
        self._reduced = reduced
        self.links = tuple(_links(definitions, flows))
        self.spaces = [self._space(number, definition) for number, definition in enumerate(definitions)]
        self._outgoing: dict[tuple[int, int], list[Link]] = {}
        self._incoming: dict[tuple[int, int], list[Link]] = {}
        for link in self.links:
            self._outgoing.setdefault((link.sender, link.source), []).append(link)
            self._incoming.setdefault((link.receiver, link.target), []).append(link)
        self._start_alone = [self._starts_alone(number) for number in range(len(self.spaces))]

    def _space(self, number: int, definition: Definition) -> LocalSpace:
        receiving = frozenset(link.target for link in self.links if link.receiver == number)
        sending = frozenset(link.source for link in self.links if link.sender == number)
        return LocalSpace(abstract(definition, receiving, reduced=self._reduced), sending)

    def _starts_alone(self, process: int) -> bool:
        """Whether no start of a process waits for a message of a message flow."""
        moves = self.spaces[process].initial.moves
        return all((process, move.element) not in self._incoming for move in moves)

    @property
    def initial(self) -> Situation:
        """Nothing has started."""
        return tuple(space.initial.number for space in self.spaces), ()

    def locals(self, situation: Situation) -> list[Local]:
        """The state of each process."""
        return [space.states[number] for space, number in zip(self.spaces, situation[0], strict=True)]

    def steps(self, situation: Situation) -> Iterator[Step]:
        """Everything that can happen next.

        Starting concerns nobody else and can always happen, so one process after the other starts before anything else.
        """
        here = self.locals(situation)
        for process, local in enumerate(here):
            if not local.is_started and self._start_alone[process]:
                yield from self._own_steps(process, local, situation)
                return
        for process, local in enumerate(here):
            if local.is_started:
                yield from self._own_steps(process, local, situation)
        if situation[1]:
            yield from self._receiving_steps(here, situation)
        for process, local in enumerate(here):
            if not local.is_started:
                yield from self._own_steps(process, local, situation)

    def _own_steps(self, process: int, local: Local, situation: Situation) -> Iterator[Step]:
        """What a process can do without a message of a message flow."""
        for move in local.moves:
            if move.act != Act.START or (process, move.element) not in self._incoming:
                yield from self._carried_out(process, local, move, situation, situation[1], -1)

    def _receiving_steps(self, here: list[Local], situation: Situation) -> Iterator[Step]:
        """What processes can do with the messages that can be received."""
        messages = situation[1]
        for position in receivable(self.network, self.links, messages):
            link = self.links[messages[position]]
            rest = (*messages[:position], *messages[position + 1 :])
            local = here[link.receiver]
            moves = [Move(Act.RECEIVE, element, key) for element, key in local.waits if element == link.target]
            if not local.is_started:
                starts = [move.element for move in local.moves]
                moves = [Move(Act.RECEIVE, link.target)] if link.target in starts else []
            for move in moves:
                yield from self._carried_out(link.receiver, local, move, situation, rest, link.number)

    def _carried_out(
        self, process: int, local: Local, move: Move, situation: Situation, messages: Messages, received: int
    ) -> Iterator[Step]:
        """The outcomes of a move, with the messages that it sends."""
        for outcome in self.spaces[process].outcomes(local, move):
            numbers = list(situation[0])
            numbers[process] = outcome.target.number
            for choices, after in self._sendings(process, outcome.sent, messages):
                yield Step(process, move, outcome, choices, received, (tuple(numbers), after))

    def _sendings(
        self, process: int, elements: tuple[int, ...], messages: Messages
    ) -> Iterator[tuple[tuple[Choice, ...], Messages]]:
        """The ways in which elements send: each by one of its message flows."""
        for links in product(*(self._outgoing[process, element] for element in elements)):
            after: Messages | None = messages
            for link in links:
                after = sent(self.network, self.links, after, link.number) if after is not None else None
            if after is not None:
                yield tuple(Choice(link.source, (link.number,)) for link in links), after

    def is_crowded(self, situation: Situation) -> bool:
        """Whether a place, or a message flow, holds more than the explorer follows."""
        messages = situation[1]
        if any(local.is_crowded for local in self.locals(situation)):
            return True
        return len(messages) > MESSAGES_MAX and any(messages.count(number) > MESSAGES_MAX for number in set(messages))

    def is_over(self, situation: Situation) -> bool:
        """Whether every process that started has ended."""
        return all(local.is_ended or not local.is_started for local in self.locals(situation))


def _links(definitions: Sequence[Definition], flows: Iterable[MessageFlow]) -> Iterator[Link]:
    """The message flows between elements of these processes; one that ends at a pool says too little."""
    numbered = list(enumerate(definitions))
    where = {name: (number, index) for number, found in numbered for name, index in found.index_of.items() if index}
    count = 0
    for flow in flows:
        if flow.source in where and flow.target in where:
            sender, source = where[flow.source]
            receiver, target = where[flow.target]
            yield Link(count, flow.id, sender, source, receiver, target, flow.line)
            count += 1
