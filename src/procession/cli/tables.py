"""Tables that fit the terminal: the widths of columns, and which of them are left out where there is no room. Pure.

Columns marked ``whole`` (keys, states, times) are never broken. The others give way first, then columns with a
``rank`` are left out, the highest first. A row may have a line of its own below it, over the whole width.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

GAP = 2
LEAST = 12  # a text column is not made narrower than this


class Column(msgspec.Struct, frozen=True):
    """A column: its title, whether its cells stay on one line, and how soon it is left out (0: never)."""

    title: str
    whole: bool = False
    right: bool = False
    rank: int = 0


KEY = Column("key", whole=True)


class Layout(msgspec.Struct, frozen=True):
    """Which columns are shown, how wide, and which are not for want of room."""

    shown: list[int]
    widths: list[int]
    left_out: list[int]


def layout(columns: Sequence[Column], longest: Sequence[int], room: int) -> Layout:
    """Fit columns into a width; ``longest`` is the longest cell of each, 0 for a column without any content."""
    shown = [index for index in range(len(columns)) if longest[index]]
    natural = [max(longest[index], len(columns[index].title)) for index in range(len(columns))]
    least = [width if columns[index].whole else min(width, LEAST) for index, width in enumerate(natural)]
    left_out: list[int] = []
    while sum(least[index] for index in shown) + GAP * (len(shown) - 1) > room:
        index = max(shown, key=lambda index: columns[index].rank)
        if columns[index].rank == 0:
            break
        shown.remove(index)
        left_out.append(index)
    widths = _share(
        [least[index] for index in shown],
        [natural[index] for index in shown],
        room - GAP * (len(shown) - 1),
    )
    return Layout(shown, widths, sorted(left_out))


def _share(least: list[int], natural: list[int], room: int) -> list[int]:
    """Give what is left of the room to those that want more, the modest first."""
    widths = list(least)
    left = room - sum(widths)
    wanting = sorted((index for index in range(len(widths)) if natural[index] > widths[index]), key=natural.__getitem__)
    for place, index in enumerate(wanting):
        more = min(natural[index] - widths[index], max(0, left) // (len(wanting) - place))
        widths[index] += more
        left -= more
    return widths
