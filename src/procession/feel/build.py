"""What the compiling functions of this room hand to each other: the text, the names seen, and the way back."""

from collections.abc import Callable, Mapping
from typing import Any

from procession.feel.limits import PARTS_PER_TURN
from procession.feel.run import Closure, Run, Spot
from procession.feel.scope import Scope
from procession.feel.syntax import Node, TypeNode

# The meaning of a type's name: another type, or a predicate of the value (an item definition with its constraints),
# which does its work at the expense of the run.
TypeMeaning = TypeNode | Callable[[object, Run], bool]

CompileNode = Callable[["Build", Any, Scope | None], Closure]


class Build:
    """One compilation. `names` gathers what the expression reads from its context."""

    __slots__ = ("_compilers", "_parts", "declared", "names", "text", "types")

    def __init__(
        self,
        text: str,
        declared: frozenset[str],
        types: Mapping[str, TypeMeaning],
        compilers: Mapping[type, CompileNode],
    ) -> None:
        self.text = text
        self.declared = declared
        self.types = types
        self.names: set[str] = set()
        self._compilers = compilers
        self._parts = 0

    def node(self, node: Node, scope: Scope | None) -> Closure:
        """The closure of a node."""
        self._parts += 1
        return self._compilers[type(node)](self, node, scope)

    def body(self, node: Node, scope: Scope | None) -> tuple[Closure, int]:
        """What is evaluated again and again: its closure, and the turns that one evaluation of it is worth."""
        before = self._parts
        closure = self.node(node, scope)
        return closure, 1 + self.turns(before)

    def turns(self, before: int = 0) -> int:
        """What all parts compiled so far, or since there were so many, are worth beyond the usual few."""
        return (self._parts - before) // PARTS_PER_TURN

    def spot(self, at: int) -> Spot:
        """Where a warning about the character at this index points to."""
        return self.text, at
