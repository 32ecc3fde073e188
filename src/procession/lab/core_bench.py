"""`procession bench core`: the rules alone, without a store, a loop or a handler. Processor time, not wall time.

Each case is timed in every round, in alternating order; the best of the rounds is the figure, since whatever else runs
on the machine only ever adds. It drives the core as `stepping` does, which is part of the time.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from procession.lab import models
from procession.lab.bars import core_bars
from procession.lab.core_peers import time_core_peers
from procession.lab.environment import environment
from procession.lab.results import CoreCase, CoreResult
from procession.lab.stepping import Stepping

OPEN_ELEMENTS: Final = (10, 1_000, 10_000)
CHAIN_LENGTHS: Final = (10, 1_000, 4_000)  # a process has at most 10,000 elements and flows
STEPS_TIMED_MAX: Final = 1_000

Told = Callable[[int, int, str], None]  # (cases timed, cases in all, the one that follows)


class CoreOptions(msgspec.Struct, kw_only=True, frozen=True):
    """How long to measure."""

    rounds: int = 5
    instances: int = 1_000  # per process and round; a process of many jobs gets fewer
    peers: bool = False  # install other engines and time them too
    peers_folder: str = ""  # where they are kept for the next time; empty: the user's cache


class Case(msgspec.Struct, kw_only=True):
    """What is timed: `time_once` gives (units, steps, seconds of the processor)."""

    name: str
    group: str
    size: int
    time_once: Callable[[bool], tuple[int, int, float]]


def bench_core(options: CoreOptions, told: Told | None = None) -> CoreResult:
    """Time every case in every round. Ctrl-C ends it with what was timed so far."""
    shown = msgspec.to_builtins(options)
    del shown["peers_folder"]
    result = CoreResult(started_at=_now(), options=shown, environment=environment())
    cases = core_cases(options.instances)
    times: dict[str, list[tuple[int, int, float]]] = {case.name: [] for case in cases}
    with_state: dict[str, list[tuple[int, int, float]]] = {case.name: [] for case in cases}
    order = [case for number in range(options.rounds) for case in (cases if number % 2 == 0 else cases[::-1])]
    try:
        for position, case in enumerate(order):
            if told is not None:
                told(position, len(order), case.name)
            gc.collect()
            times[case.name].append(case.time_once(False))  # noqa: FBT003 - see Case
            with_state[case.name].append(case.time_once(True))  # noqa: FBT003 - see Case
        if options.peers:
            if told is not None:
                told(len(order), len(order), "other engines")
            result.peers, result.notes = time_core_peers(options.rounds, options.peers_folder)
    except KeyboardInterrupt:
        result.interrupted = True
    result.cases = [_found(case, times[case.name], with_state[case.name]) for case in cases if with_state[case.name]]
    result.ended_at = _now()
    result.bars = core_bars(result.cases)
    return result


def core_cases(instances: int) -> list[Case]:
    """All cases: processes from start to end, and single steps in instances and models of growing size."""
    items = list(range(100))
    processes: list[tuple[str, str, str, dict[str, Any], int]] = [
        ("two service tasks", "service_tasks", models.SERVICE_TASKS_PROCESS, {"orderId": 1}, 2),
        ("ten service tasks", "ten_service_tasks", "bench-ten-service-tasks", {"orderId": 1}, 10),
        ("AND fork of 5", "and_fork_of_five", "bench-and-fork", {"orderId": 1}, 5),
        ("OR join, 2 of 3 branches", "or_join", "bench-or-join", {"amount": 250}, 2),
        ("multi-instance of 100", "multi_instance", "bench-multi-instance", {"items": items}, 100),
        ("call activity", "call_activity", "bench-caller", {"orderId": 1}, 1),
    ]
    cases = [
        _whole_process(name, file, process_id, variables, jobs, max(1, instances * 2 // max(jobs, 2)))
        for name, file, process_id, variables, jobs in processes
    ]
    cases += [_step_among(count, max(1, instances // 100)) for count in OPEN_ELEMENTS]
    cases += [_step_in_chain(length, instances) for length in CHAIN_LENGTHS]
    return cases


def _whole_process(name: str, file: str, process_id: str, variables: dict[str, Any], jobs: int, instances: int) -> Case:
    """Instances from start to end; the variables are the caller's own for each instance."""
    definitions = models.definitions(file)

    def time_once(encode: bool) -> tuple[int, int, float]:  # noqa: FBT001 - see Case
        stepping = Stepping(definitions, encode=encode)
        begun = time.process_time()
        for _ in range(instances):
            stepping.run(process_id, variables)
        took = time.process_time() - begun
        assert stepping.jobs_done == jobs * instances, "the process did not do what it is measured for"
        return instances, stepping.steps, took

    return Case(name=name, group="process", size=jobs, time_once=time_once)


def _step_among(count: int, instances: int) -> Case:
    """Completing a job among many open ones; a tenth of them (of ten: half), so that they stay many."""
    definitions = models.definitions("multi_instance")
    items = list(range(count))
    each = max(5, min(count // 10, STEPS_TIMED_MAX))
    repetitions = max(1, min(instances * 10, STEPS_TIMED_MAX) // each)

    def time_once(encode: bool) -> tuple[int, int, float]:  # noqa: FBT001 - see Case
        took, steps = 0.0, 0
        for _ in range(repetitions):
            stepping = Stepping(definitions, encode=encode)
            stepping.start("bench-multi-instance", {"items": items})
            assert len(stepping.jobs) == count
            before = stepping.steps
            begun = time.process_time()
            for _ in range(each):
                stepping.complete_one()
            took += time.process_time() - begun
            steps += stepping.steps - before
        return steps, steps, took

    return Case(name=f"a job among {count:,} open elements", group="open elements", size=count, time_once=time_once)


def _step_in_chain(length: int, instances: int) -> Case:
    """Completing jobs of a process with many elements."""
    definitions = models.chain(length)
    each = 10

    def time_once(encode: bool) -> tuple[int, int, float]:  # noqa: FBT001 - see Case
        stepping = Stepping(definitions, encode=encode)
        starts = max(1, min(instances, STEPS_TIMED_MAX) // each)
        took, steps = 0.0, 0
        for _ in range(starts):
            stepping.start("chain", {"orderId": 1})
            before = stepping.steps
            begun = time.process_time()
            for _ in range(each):
                stepping.complete_one()
            took += time.process_time() - begun
            steps += stepping.steps - before
            stepping.jobs.clear()
        return steps, steps, took

    elements = 2 * length + 3
    return Case(
        name=f"a job in a model of {elements:,} elements and flows",
        group="model size",
        size=elements,
        time_once=time_once,
    )


def _found(case: Case, times: list[tuple[int, int, float]], with_state: list[tuple[int, int, float]]) -> CoreCase:
    """The rounds of one case as figures."""
    per_unit = [seconds / units * 1e6 for units, _, seconds in times]
    units, steps, _ = times[0]
    best = min(per_unit)
    return CoreCase(
        name=case.name,
        group=case.group,
        size=case.size,
        steps=steps // units,
        best_us=round(best, 2),
        median_us=round(statistics.median(per_unit), 2),
        worst_us=round(max(per_unit), 2),
        us_per_step=round(best * units / steps, 2),
        with_state_us=round(min(seconds / units * 1e6 for units, _, seconds in with_state), 2),
        per_s=round(1e6 / best, 1),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
