"""Hit policies: what the rules that matched make of a table's result. Pure functions over values; no XML, no rules.

A row is the outputs of one rule that matched, in the order of the output columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final, Literal, get_args

from procession.feel import compile as compile_feel
from procession.feel.problems import Invalid
from procession.feel.run import Run
from procession.feel.values import equal, feel, is_in

HitPolicy = Literal["UNIQUE", "FIRST", "PRIORITY", "ANY", "COLLECT", "RULE ORDER", "OUTPUT ORDER"]
Aggregation = Literal["SUM", "MIN", "MAX", "COUNT"]

HIT_POLICIES: Final[tuple[HitPolicy, ...]] = get_args(HitPolicy)
AGGREGATIONS: Final[tuple[Aggregation, ...]] = get_args(Aggregation)

# Policies whose result is a list, one item per rule that matched.
MULTIPLE: Final[frozenset[HitPolicy]] = frozenset({"COLLECT", "RULE ORDER", "OUTPUT ORDER"})

# Policies that need the order of output values.
PRIORITIZED: Final[frozenset[HitPolicy]] = frozenset({"PRIORITY", "OUTPUT ORDER"})

Row = tuple[object, ...]

_SIMPLE: Final = frozenset({str, int, Decimal})


class Priorities:
    """The output values of a column, highest first; none where the column has no such list."""

    __slots__ = ("_places", "_values")

    def __init__(self, values: Sequence[object]) -> None:
        self._values = values
        self._places: dict[object, int] | None = None
        if all(type(value) in _SIMPLE for value in values):
            self._places = {value: place for place, value in reversed(list(enumerate(values)))}

    def __bool__(self) -> bool:
        return bool(self._values)

    def rank(self, value: object, run: Run) -> int:
        """The place of a value, from 0; behind all others for one that is not there."""
        value = feel(value)
        last = len(self._values)
        if self._places is not None and type(value) in _SIMPLE:
            return self._places.get(value, last)
        return next((place for place, item in enumerate(self._values) if is_in(value, feel(item), run) is True), last)


NO_PRIORITIES: Final = Priorities(())


def single_row(policy: HitPolicy, rows: Sequence[Row], priorities: Sequence[Priorities], run: Run) -> Row:
    """The row of a table that has one result; there is at least one row. Raises Invalid where rows contradict."""
    match policy:
        case "UNIQUE":
            if len(rows) > 1:
                raise Invalid(f"{len(rows)} rules match, but the hit policy UNIQUE allows one")
            return rows[0]
        case "ANY":
            if not all(_same(row, rows[0], run) for row in rows):
                raise Invalid("Rules with different outputs match, but the hit policy ANY wants the same ones")
            return rows[0]
        case "PRIORITY":
            return by_priority(rows, priorities, run)[0]
        case _:
            return rows[0]


def _same(left: Row, right: Row, run: Run) -> bool:
    return all(equal(feel(a), feel(b), run) is True for a, b in zip(left, right, strict=True))


def by_priority(rows: Sequence[Row], priorities: Sequence[Priorities], run: Run) -> list[Row]:
    """Rows by the place of their outputs in the lists of output values, the first column counting most.

    A value that is in no list comes last; rows of equal priority keep the order of the rules.
    """
    return sorted(rows, key=lambda row: [order.rank(value, run) for value, order in zip(row, priorities, strict=True)])


def _aggregator(name: str) -> Callable[[list[object], Run], object]:
    expression = compile_feel(f"{name}(values)")
    return lambda values, run: expression.value(run, {"values": values})


_AGGREGATORS: Final[dict[Aggregation, Callable[[list[object], Run], object]]] = {
    "SUM": _aggregator("sum"),
    "MIN": _aggregator("min"),
    "MAX": _aggregator("max"),
    "COUNT": _aggregator("count"),
}


def aggregate(aggregation: Aggregation, values: list[object], run: Run) -> object:
    """One value of many; null where there are none, but a count of zero."""
    if not values and aggregation != "COUNT":
        return None
    return _AGGREGATORS[aggregation](values, run)


def hit_policy(text: str) -> HitPolicy | None:
    """The policy that an attribute names, by its word or (as in some files) its letter."""
    word = " ".join(text.upper().split()) or "UNIQUE"
    letters = {"U": "UNIQUE", "F": "FIRST", "P": "PRIORITY", "A": "ANY", "C": "COLLECT"}
    letters |= {"R": "RULE ORDER", "O": "OUTPUT ORDER"}
    word = letters.get(word, word)
    return next((policy for policy in HIT_POLICIES if policy == word), None)
