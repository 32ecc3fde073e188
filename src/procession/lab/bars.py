"""The figures that were promised, and whether a result reached them. It measures nothing.

A bar is judged only by a result that was measured as the bar says (starters, calls, number of instances); in any other
it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from procession.lab.options import ProcessOptions
from procession.lab.results import Bar, CoreCase, FeelCase, Result, Run
from procession.lab.summary import rate_at, ratio_by_round, spread, whole_runs

INSTANCES_LEAST: Final = 100_000  # a shorter run says little about a table that has grown
# (way, with calls, starters or more, batched starts count too) -> instances per second
RATES: Final = (
    ("methods", True, 8, 3_300.0),
    ("methods", True, 64, 5_000.0),
    ("methods", False, 8, 7_000.0),
    ("methods", False, 64, 15_000.0),
    ("service", True, 8, 2_800.0),
    ("service", False, 8, 4_000.0),
    ("service", False, 64, 9_000.0),
)
CEILING_SHARE: Final = 0.35
HISTORY_COST_MAX: Final = 0.12
SAG_MAX: Final = 0.15
CORE_TWO_TASKS_US: Final = 60.0
FEEL_CONDITION_US: Final = 3.0
FEEL_COMPILE_US: Final = 1_000.0
FEEL_TABLE_US: Final = 60.0
CORE_GROWTH_MAX: Final = 1.5  # a step in a thousand times the size: more than noise, less than any growth with size


def process_bars(result: Result, options: ProcessOptions) -> list[Bar]:
    """The bars of the simple process that these options measure."""
    if options.instances < INSTANCES_LEAST:
        return []
    with_calls = options.client != "none"
    at_once = options.starters * options.batch_starts
    bars: list[Bar] = []
    for way, calls, starters, least in RATES:
        if calls != with_calls or (at_once >= 64) != (starters >= 64) or (starters < 64 and at_once != starters):
            continue
        runs = whole_runs(result.runs, f"postgres-{way}")
        if runs:
            what = f"with calls by {options.client}" if calls else "without calls"
            bars.append(_at_least(f"{_words(way)} {what}, {at_once} starts at once, per second", least, _rate(runs)))
    if with_calls and at_once == 8:
        bars += _ceiling_bar(result.runs)
    for way in ("methods", "service"):
        bars += _history_bar(result.runs, way)
        bars += _shape_bar(result.runs, way)
    return bars


def _rate(runs: Sequence[Run]) -> float:
    found = spread(run.rate for run in runs)
    return found.median if found is not None else 0.0


def _at_least(name: str, least: float, found: float) -> Bar:
    return Bar(name=name, expected=f"at least {least:g}", found=round(found, 2), reached=found >= least)


def _ceiling_bar(runs: Sequence[Run]) -> list[Bar]:
    """Methods against the bare statements of the same round."""
    share = ratio_by_round(runs, "postgres-methods", "postgres-methods-ceiling")
    if share is None:
        return []
    return [_at_least("methods against the raw ceiling of the same round", CEILING_SHARE, share.median)]


def _history_bar(runs: Sequence[Run], way: str) -> list[Bar]:
    """What history costs, in the same round."""
    share = ratio_by_round(runs, f"postgres-{way}", f"postgres-{way}-nohistory")
    if share is None:
        return []
    return [_at_least(f"{_words(way)}, history on against off", 1 - HISTORY_COST_MAX, share.median)]


def _shape_bar(runs: Sequence[Run], way: str) -> list[Bar]:
    """The rate at the end against the rate at 10,000: neither a sag while starters run nor a stall at the end."""
    whole = whole_runs(runs, f"postgres-{way}")
    early = rate_at(whole, 10_000)
    if early is None:
        return []
    found = _rate(whole) / early.median
    return [
        Bar(
            name=f"{_words(way)}, rate at the end against the rate at 10,000",
            expected=f"within {SAG_MAX:.0%}",
            found=round(found, 3),
            reached=abs(found - 1) <= SAG_MAX,
        )
    ]


def _words(way: str) -> str:
    return "methods" if way == "methods" else "service tasks"


def core_bars(cases: Sequence[CoreCase]) -> list[Bar]:
    """The bars of the core."""
    bars = [
        Bar(
            name="two service tasks from start to end, processor time",
            expected=f"at most {CORE_TWO_TASKS_US:g} µs",
            found=case.best_us,
            reached=case.best_us <= CORE_TWO_TASKS_US,
        )
        for case in cases
        if case.name == "two service tasks"
    ]
    bars += [bar for group in ("open elements", "model size") for bar in _growth(group, cases)]
    return bars


def feel_bars(cases: Sequence[FeelCase]) -> list[Bar]:
    """The bars of expressions and decisions; of a group the slowest counts, but for the condition that is named."""
    condition = [case for case in cases if case.name == "condition"]
    groups = (
        ("a condition, compiled once", condition, FEEL_CONDITION_US),
        ("the slowest compilation", [case for case in cases if case.group == "compile"], FEEL_COMPILE_US),
        ("the slowest table", [case for case in cases if case.group == "table"], FEEL_TABLE_US),
    )
    return [_at_most(name, most, max(case.best_us for case in found)) for name, found, most in groups if found]


def _at_most(name: str, most: float, found: float) -> Bar:
    return Bar(name=name, expected=f"at most {most:g} µs", found=round(found, 2), reached=found <= most)


def _growth(group: str, cases: Sequence[CoreCase]) -> list[Bar]:
    """Whether a step takes longer in something larger."""
    sized = sorted((case for case in cases if case.group == group), key=lambda case: case.size)
    if len(sized) < 2:
        return []
    growth = sized[-1].us_per_step / sized[0].us_per_step
    return [
        Bar(
            name=f"time of a step with {sized[-1].size:,} against {sized[0].size:,} ({group})",
            expected=f"does not grow (at most {CORE_GROWTH_MAX:g} times)",
            found=round(growth, 2),
            reached=growth <= CORE_GROWTH_MAX,
        )
    ]
