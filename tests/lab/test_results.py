"""From runs to figures: medians, ranges, bars, and the page that shows them."""

from __future__ import annotations

import pytest

from procession.lab.bars import process_bars
from procession.lab.charts import Measured, range_bars
from procession.lab.environment import environment
from procession.lab.options import ProcessOptions
from procession.lab.report import process_page
from procession.lab.results import Checkpoint, Result, Run
from procession.lab.summary import ratio_by_round, summarise
from procession.lab.variants import chosen_variants
from tests.lab.page_reader import Page

ALL = 100_000


def run(variant: str, number: int, rate: float, *, early: float | None = None, **changes) -> Run:
    seconds = ALL / rate
    values = {
        "variant": variant,
        "round": number,
        "started_at": "2026-01-01T00:00:00+00:00",
        "instances": ALL,
        "completed": ALL,
        "seconds": seconds,
        "rate": rate,
        "checkpoints": [
            Checkpoint(completed=10_000, seconds=10_000 / (early or rate), rate=early or rate),
            Checkpoint(completed=ALL, seconds=seconds, rate=rate),
        ],
    }
    return Run(**{**values, **changes})


def result_of(runs: list[Run], options: ProcessOptions) -> Result:
    found = Result(
        benchmark="process",
        started_at="2026-01-01T00:00:00+00:00",
        options=options.public(),
        environment=environment(),
        variants=[{"name": variant.name, "words": variant.words} for variant in chosen_variants("*", ceiling=True)],
        runs=runs,
        summary=summarise(runs),
    )
    found.bars = process_bars(found, options)
    return found


def test_the_median_of_whole_runs_is_the_figure():
    runs = [
        run("postgres-methods", 1, 1000.0),
        run("postgres-methods", 2, 3000.0),
        run("postgres-methods", 3, 1500.0),
        run("postgres-methods", 4, 9000.0, completed=10, problem="nothing completed for 60 s"),
        run("postgres-methods", 5, 9000.0, interrupted=True),
    ]
    (summary,) = summarise(runs)
    assert (summary.rate_median, summary.rate_min, summary.rate_max, summary.rounds) == (1500.0, 1000.0, 3000.0, 3)


def test_a_share_compares_runs_of_the_same_round():
    runs = [
        run("ceiling", 1, 10_000.0),
        run("methods", 1, 4_000.0),
        run("ceiling", 2, 5_000.0),
        run("methods", 2, 2_500.0),
        run("methods", 3, 9_000.0),  # without a ceiling of its round it says nothing
    ]
    share = ratio_by_round(runs, "methods", "ceiling")
    assert (share.least, share.most, share.count) == (0.4, 0.5, 2)


def test_bars_are_judged_where_they_were_measured():
    runs = [
        run("postgres-methods-ceiling", 1, 10_000.0),
        run("postgres-methods", 1, 3_400.0, early=4_200.0),
        run("postgres-methods-nohistory", 1, 3_500.0),
    ]
    bars = {bar.name: (bar.found, bar.reached) for bar in result_of(runs, ProcessOptions()).bars}
    assert bars == {
        "methods with calls by aiohttp, 8 starts at once, per second": (3_400.0, True),
        "methods against the raw ceiling of the same round": (0.34, False),
        "methods, history on against off": (0.97, True),
        "methods, rate at the end against the rate at 10,000": (0.81, False),
    }


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({}, "at least 3300"),
        ({"starters": 64}, "at least 5000"),
        ({"batch_starts": 8}, "at least 5000"),
        ({"client": "none"}, "at least 7000"),
        ({"client": "none", "starters": 64}, "at least 15000"),
    ],
    ids=["as published", "64 starters", "batched starts", "no calls", "no calls, 64 starters"],
)
def test_each_way_of_measuring_has_its_own_bar(options, first):
    bars = result_of([run("postgres-methods", 1, 6_000.0)], ProcessOptions(**options)).bars
    assert bars[0].expected == first


def test_a_short_run_is_judged_by_no_bar():
    assert result_of([run("postgres-methods", 1, 6_000.0)], ProcessOptions(instances=20_000)).bars == []


def test_the_page_shows_ranges_on_the_marks_and_every_run():
    runs = [
        run("postgres-methods", 1, 3_000.0),
        run("postgres-methods", 2, 5_000.0),
        run("sqlite-service-full", 1, 700.0, completed=650, problem="nothing completed for <60> s: 650 of 100000"),
    ]
    text = process_page(result_of(runs, ProcessOptions()))

    page = Page()
    page.feed(text)
    assert page.open_tags == []
    assert page.fetches == []
    words = "methods, PostgreSQL, history on, commit on"
    assert f"{words}\n4,000 (3,000 to 5,000, 2 rounds) instances/s" in page.tips
    assert f"{words}\nat 10,000: 4,000 (3,000 to 5,000, 2 rounds) instances/s" in page.tips
    assert "650 of 100,000" in page.cells
    assert "nothing completed for <60> s: 650 of 100000" in page.cells
    assert page.cells.count(words) == 4, "checkpoints, costs, and its two runs"
    assert "raw ceiling" in page.text, "the method stands in the page"


def test_a_label_cannot_break_out_of_a_chart():
    item = Measured(label="<b>", value=1, least=1, most=2, tip='"><script>', colour=1)
    page = Page()
    page.feed(range_bars([item], "x"))
    assert page.tips == ['"><script>']
    assert page.open_tags == []
