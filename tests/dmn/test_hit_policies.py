"""Random tables of every hit policy against a slow evaluation that is written down from the standard's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from procession.dmn.hits import AGGREGATIONS, HIT_POLICIES
from tests.dmn.models import compiled, decision, table

COLORS = ("red", "green", "blue")
TIERS = ("gold", "silver", "tin")


class Cell(NamedTuple):
    text: str
    holds: Callable[[Any], bool]


def of_numbers() -> st.SearchStrategy[Cell]:
    number = st.integers(-3, 8)
    return st.one_of(
        st.just(Cell("-", lambda _: True)),
        number.map(lambda n: Cell(str(n), lambda v: v == n)),
        number.map(lambda n: Cell(f"< {n}", lambda v: v is not None and v < n)),
        number.map(lambda n: Cell(f">= {n}", lambda v: v is not None and v >= n)),
        st.tuples(number, number).map(
            lambda r: Cell(f"[{r[0]}..{r[1]})", lambda v: v is not None and r[0] <= v < r[1])
        ),
        st.tuples(number, number).map(
            lambda r: Cell(f"{r[0]}, > {r[1]}", lambda v: v is not None and (v == r[0] or v > r[1]))
        ),
        number.map(lambda n: Cell(f"not({n})", lambda v: v is None or v != n)),
        number.map(lambda n: Cell(f"? * 2 > {n}", lambda v: v is not None and v * 2 > n)),
        st.just(Cell("null", lambda v: v is None)),
    )


def of_tiers() -> st.SearchStrategy[Cell]:
    some = st.lists(st.sampled_from(TIERS), min_size=1, max_size=3, unique=True)
    return st.one_of(
        st.just(Cell("-", lambda _: True)),
        some.map(lambda tiers: Cell(", ".join(f'"{t}"' for t in tiers), lambda v: v in tiers)),
        some.map(
            lambda tiers: Cell(f"not({', '.join(chr(34) + t + chr(34) for t in tiers)})", lambda v: v not in tiers)
        ),
    )


class Rule(NamedTuple):
    number: Cell
    tier: Cell
    amount: int
    color: str


class Case(NamedTuple):
    policy: str
    aggregation: str
    several: bool
    has_defaults: bool
    rules: list[Rule]
    colors: list[str]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rules = draw(
        st.lists(st.builds(Rule, of_numbers(), of_tiers(), st.integers(0, 3), st.sampled_from(COLORS)), max_size=8)
    )
    policy = draw(st.sampled_from(HIT_POLICIES))
    aggregation = draw(st.sampled_from(("", *AGGREGATIONS))) if policy == "COLLECT" else ""
    several = draw(st.booleans()) and not aggregation
    return Case(policy, aggregation, several, draw(st.booleans()), rules, draw(st.permutations(COLORS)))


def slow(case: Case, number: Any, tier: Any) -> Any:
    """The result, straight from the standard: all rules that match, then the policy."""
    rows = [(r.amount, r.color) for r in case.rules if r.number.holds(number) and r.tier.holds(tier)]
    amounts = [3, 2, 1, 0]

    def shown(row: tuple[int, str]) -> Any:
        return {"amount": row[0], "color": row[1]} if case.several else row[0]

    def outputs(row: tuple[int, str]) -> Any:
        return row if case.several else row[:1]

    is_list = case.policy in ("COLLECT", "RULE ORDER", "OUTPUT ORDER")
    if not rows and case.has_defaults:
        default = shown((1, "green"))
        return [default] if is_list and not case.aggregation else default
    if case.policy in ("PRIORITY", "OUTPUT ORDER"):
        ranks = {row: (amounts.index(row[0]), case.colors.index(row[1]) if case.several else 0) for row in rows}
        rows = sorted(rows, key=lambda row: ranks[row])
    if case.aggregation:
        values = [row[0] for row in rows]
        if case.aggregation == "COUNT":
            return len(values)
        return {"SUM": sum, "MIN": min, "MAX": max}[case.aggregation](values) if values else None
    if is_list:
        return [shown(row) for row in rows]
    if not rows or (case.policy == "UNIQUE" and len(rows) > 1):
        return None
    if case.policy == "ANY" and len({outputs(row) for row in rows}) > 1:
        return None
    return shown(rows[0])


@settings(max_examples=300)
@given(
    cases(),
    st.lists(st.tuples(st.none() | st.integers(-4, 9), st.none() | st.sampled_from(TIERS)), min_size=3, max_size=6),
)
def test_a_table_gives_what_the_words_of_the_standard_give(case, inputs):
    width = 2 if case.several else 1
    logic = table(
        ["number", "tier"],
        ["amount", "color"][:width],
        *[[r.number.text, r.tier.text, str(r.amount), f'"{r.color}"'][: 2 + width] for r in case.rules],
        policy=case.policy,
        aggregation=case.aggregation,
        output_values=["3,2,1,0", ",".join(f'"{color}"' for color in case.colors)][:width],
        defaults=["1", '"green"'][:width] if case.has_defaults else [],
    )
    model = compiled(decision("it", logic))
    for number, tier in inputs:
        evaluation = model.evaluate("it", {"number": number, "tier": tier})
        assert evaluation.result == slow(case, number, tier), (number, tier, evaluation.warnings)
        assert all(warning.code != "internal" for warning in evaluation.warnings)
