"""The rounds of each variant as medians and ranges. Only whole runs count; it measures nothing."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from procession.lab.results import Record, Run, VariantSummary


class Spread(Record, kw_only=True):
    """Several measurements of the same thing."""

    median: float
    least: float
    most: float
    count: int


def spread(values: Iterable[float]) -> Spread | None:
    """Median and range; None of nothing."""
    found = sorted(values)
    if not found:
        return None
    return Spread(median=statistics.median(found), least=found[0], most=found[-1], count=len(found))


def whole_runs(runs: Sequence[Run], variant: str) -> list[Run]:
    """The runs of a variant that completed everything."""
    return [run for run in runs if run.variant == variant and run.is_whole]


def summarise(runs: Sequence[Run]) -> list[VariantSummary]:
    """One line per variant that has a whole run, in the order of the first round."""
    found: list[VariantSummary] = []
    for name in dict.fromkeys(run.variant for run in runs):
        whole = whole_runs(runs, name)
        rates = spread(run.rate for run in whole)
        if rates is not None:
            found.append(
                VariantSummary(
                    variant=name,
                    rounds=rates.count,
                    rate_median=round(rates.median, 1),
                    rate_min=rates.least,
                    rate_max=rates.most,
                )
            )
    return found


def rate_at(runs: Sequence[Run], completed: int) -> Spread | None:
    """The rate since the first start when so many had completed."""
    return spread(point.rate for run in runs for point in run.checkpoints if point.completed == completed)


def ratio_by_round(runs: Sequence[Run], variant: str, base: str) -> Spread | None:
    """The rate of a variant divided by that of another of the same round: what the machine did then, it did to both."""
    bases = {run.round: run.rate for run in whole_runs(runs, base) if run.rate}
    return spread(run.rate / bases[run.round] for run in whole_runs(runs, variant) if run.round in bases)
