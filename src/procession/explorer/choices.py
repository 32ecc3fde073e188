"""Non-deterministic choice out of a deterministic core: decisions are made by whoever explores.

A model that is explored has its conditions replaced by ``Way`` and ``Maybe`` (``abstraction.py``): expressions like any
other, which read the answer from the variables that they are given. Under one name stands a ``Choices``; it answers
from a script and, beyond its end, with the first option, noting how many there were. ``outcomes`` runs the same step
again with the next script until every combination has been tried. So nothing in the core knows that it is explored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from procession.explorer.limits import OUTCOMES_MAX

CHOICES: Final = "$choices"  # the variable that holds the answers; no model can name it
NO_NAMES: Final[frozenset[str]] = frozenset()

Result = TypeVar("Result")


class Choice(NamedTuple):
    """One decision that was made: at which element, and what."""

    element: int
    flows: tuple[int, ...] = ()  # the flows taken, or the message flow sent by
    answer: str = ""  # to a question that is not about flows


class Choices:
    """The decisions of one step."""

    __slots__ = ("made", "picked", "script", "trail")

    def __init__(self, script: tuple[int, ...] = ()) -> None:
        self.script = script
        self.trail: list[tuple[int, int]] = []  # per decision: the option taken, and how many there were
        self.made: list[Choice] = []
        self.picked: dict[int, tuple[int, ...]] = {}  # per deciding element: the flows of its latest decision

    def choose(self, options: tuple[Choice, ...]) -> Choice:
        """One of the options: as the script says, else the first."""
        position = len(self.trail)
        number = self.script[position] if position < len(self.script) else 0
        self.trail.append((number, len(options)))
        choice = options[number]
        if len(options) > 1:
            self.made.append(choice)
        return choice

    def next_script(self) -> tuple[int, ...] | None:
        """The script of the next combination, None when all have been tried."""
        trail = list(self.trail)
        while trail and trail[-1][0] + 1 >= trail[-1][1]:
            trail.pop()
        if not trail:
            return None
        return (*(number for number, _ in trail[:-1]), trail[-1][0] + 1)


def outcomes(run: Callable[[Choices], Result]) -> Iterator[tuple[Choices, Result | None]]:
    """Run a step with every combination of decisions. A last (choices, None) says that there were more."""
    script: tuple[int, ...] | None = ()
    for _ in range(OUTCOMES_MAX):
        choices = Choices(script)
        yield choices, run(choices)
        script = choices.next_script()
        if script is None:
            return
    yield Choices(), None


class Fork:
    """The ways out of an element that decides: sets of flows that it may take; the empty one is the default flow."""

    __slots__ = ("first", "options")

    def __init__(self, element: int, flows: tuple[int, ...], ways: tuple[tuple[int, ...], ...]) -> None:
        self.first = flows[0]  # asked first: the core evaluates conditions in document order
        self.options = tuple(Choice(element, way) for way in ways)


class Way:
    """In place of a flow's condition: whether the flow is among those that were chosen."""

    __slots__ = ("_flow", "_fork")

    def __init__(self, fork: Fork, flow: int) -> None:
        self._fork = fork
        self._flow = flow

    @property
    def text(self) -> str:
        """What stands in its place."""
        return "any way"

    @property
    def names(self) -> frozenset[str]:
        """No variable of the model is read."""
        return NO_NAMES

    def evaluate(
        self,
        context: Mapping[str, Any],
        *,
        now: object = None,  # noqa: ARG002 - the protocol's arguments
        warnings: list[Any] | None = None,  # noqa: ARG002
    ) -> object:
        """Whether this flow is taken; the first flow of a decision makes it."""
        choices: Choices = context[CHOICES]
        element = self._fork.options[0].element
        if self._flow == self._fork.first:
            choices.picked[element] = choices.choose(self._fork.options).flows
        return self._flow in choices.picked[element]


class Maybe:
    """In place of a condition that is no flow's: yes or no, whichever is tried first."""

    __slots__ = ("_element", "_no", "_tokens", "_yes")

    def __init__(self, element: int, no: str, yes: str, tokens: int = 0) -> None:
        self._no = Choice(element, (), no)
        self._yes = Choice(element, (), yes)
        self._tokens = tokens  # complex gateways: with so many tokens the answer is yes

    @property
    def text(self) -> str:
        """What stands in its place."""
        return "perhaps"

    @property
    def names(self) -> frozenset[str]:
        """No variable of the model is read."""
        return NO_NAMES

    def evaluate(
        self,
        context: Mapping[str, Any],
        *,
        now: object = None,  # noqa: ARG002 - the protocol's arguments
        warnings: list[Any] | None = None,  # noqa: ARG002
    ) -> object:
        """True or false, as chosen."""
        if self._tokens and context.get("activationCount", 0) >= self._tokens:
            return True
        choices: Choices = context[CHOICES]
        return choices.choose((self._no, self._yes)) is self._yes
