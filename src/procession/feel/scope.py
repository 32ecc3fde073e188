"""Names at compile time: at how many frames' distance a local name's value will be found.

A filter opens a scope whose names are known only at run time (the members of the item), so that a name inside a filter
is looked for in the item first and further out after that.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from procession.feel.run import Frame

Layout = Literal["one", "many", "item"]


class Found(NamedTuple):
    """`depth` frames up. one: the value itself. many: an entry of its dict. item: perhaps a member of the item."""

    depth: int
    layout: Layout


class Scope(NamedTuple):
    """One frame of the run to come, and the frames around it."""

    layout: Layout
    names: frozenset[str]
    parent: "Scope | None"

    def find(self, name: str) -> Iterator[Found]:
        """Where a name may be found, innermost first; nothing lies behind an answer other than item."""
        scope: Scope | None = self
        depth = 0
        while scope is not None:
            if scope.layout == "item":
                yield Found(depth, "item")
            elif name in scope.names:
                yield Found(depth, scope.layout)
                return
            scope, depth = scope.parent, depth + 1


def find(scope: Scope | None, name: str) -> list[Found]:
    """Where a name may be found; nothing where it must be a variable of the context."""
    return [] if scope is None else list(scope.find(name))


def one(name: str, parent: Scope | None) -> Scope:
    """The scope of an iterator."""
    return Scope("one", frozenset((name,)), parent)


def many(names: frozenset[str], parent: Scope | None) -> Scope:
    """The scope of parameters or of entries of a context."""
    return Scope("many", names, parent)


def item(parent: Scope | None) -> Scope:
    """The scope of a filter."""
    return Scope("item", frozenset(("item",)), parent)


def up(frame: Frame, depth: int) -> Frame:
    """The frame `depth` steps further out."""
    while depth:
        parent = frame.parent
        assert parent is not None, "the compiler counts frames"
        frame, depth = parent, depth - 1
    return frame
