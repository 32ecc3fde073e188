"""What the compiling functions of this room hand to each other: the text, the names seen, and the way back."""

from collections.abc import Callable, Mapping
from typing import Any

from procession.feel.run import Closure, Spot
from procession.feel.scope import Scope
from procession.feel.syntax import Node, TypeNode

# The meaning of a type's name: another type, or a predicate (an item definition with its constraints).
TypeMeaning = TypeNode | Callable[[object], bool]

CompileNode = Callable[["Build", Any, Scope | None], Closure]


class Build:
    """One compilation. `names` gathers what the expression reads from its context."""

    __slots__ = ("_compilers", "declared", "names", "text", "types")

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

    def node(self, node: Node, scope: Scope | None) -> Closure:
        """The closure of a node."""
        return self._compilers[type(node)](self, node, scope)

    def spot(self, at: int) -> Spot:
        """Where a warning about the character at this index points to."""
        return self.text, at
