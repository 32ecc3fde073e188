"""The core's benchmark: every case does what it is measured for, and says what it took."""

from __future__ import annotations

import msgspec
import pytest

from procession.lab import models
from procession.lab.core_bench import CoreOptions, bench_core, core_cases
from procession.lab.core_report import write_core_page
from procession.lab.results import CoreResult, write_json
from procession.lab.stepping import Stepping
from tests.lab.page_reader import read_page

STEPS = {
    "two service tasks": 3,
    "ten service tasks": 11,
    "AND fork of 5": 6,
    "OR join, 2 of 3 branches": 3,
    "multi-instance of 100": 101,
    "call activity": 4,
}


@pytest.fixture(scope="module")
def result() -> CoreResult:
    return bench_core(CoreOptions(rounds=2, instances=20))


def test_every_process_takes_the_steps_that_it_is_measured_for(result):
    assert {case.name: case.steps for case in result.cases if case.group == "process"} == STEPS


def test_single_steps_are_timed_in_instances_and_models_of_growing_size(result):
    assert [case.size for case in result.cases if case.group == "open elements"] == [10, 1_000, 10_000]
    sizes = [case.size for case in result.cases if case.group == "model size"]
    assert sizes == sorted(sizes)
    assert sizes[-1] / sizes[0] > 100
    assert all(case.steps == 1 for case in result.cases if case.group != "process")


def test_the_figures_agree_with_each_other(result):
    for case in result.cases:
        assert 0 < case.best_us <= case.median_us <= case.worst_us
        assert case.us_per_step == pytest.approx(case.best_us / case.steps, rel=0.02)
        assert case.per_s == pytest.approx(1e6 / case.best_us, rel=0.01)


def test_the_bars_are_judged_by_the_figures(result):
    two = next(case for case in result.cases if case.name == "two service tasks")
    bar = result.bars[0]
    assert bar.found == two.best_us
    assert bar.reached == (two.best_us <= 60)
    assert len(result.bars) == 3


def test_the_result_is_read_as_it_was_written(result, tmp_path):
    file = tmp_path / "core.json"
    write_json(result, file)
    assert msgspec.json.decode(file.read_bytes(), type=CoreResult) == result


def test_the_page_shows_every_case_and_fetches_nothing(result, tmp_path):
    file = tmp_path / "core.html"
    write_core_page(result, file)
    page = read_page(file)
    assert all(case.name in page.cells for case in result.cases)
    assert len(page.tips) == len(result.cases)


def test_an_interruption_keeps_the_rounds_that_were_timed():
    def interrupt(done: int, total: int, name: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    result = bench_core(CoreOptions(rounds=2, instances=20), interrupt)

    assert result.interrupted
    assert [case.name for case in result.cases] == [case.name for case in core_cases(20)[:3]]


def test_a_called_process_does_its_job_before_the_caller_ends():
    stepping = Stepping(models.definitions("call_activity"))
    caller = stepping.start("bench-caller", {"orderId": 1})

    ((instance, _),) = stepping.jobs

    assert instance != caller
    stepping.complete_one()
    assert stepping.ended == 2
    assert stepping.states == {}
