"""Stories of limited jobs in a worker: they start in time or go back, come to their turn, and keep what they hold."""

from __future__ import annotations

import asyncio
import threading

from procession import Limit, Procession, WorkerSettings
from procession.engine import Delivery
from procession.worker.punctuality import Punctuality

TURNS = 200  # short rests of the loop until something has surely happened
REST_S = 0.01


async def until(what) -> None:
    for _ in range(TURNS):
        if what():
            return
        await asyncio.sleep(REST_S)
    raise AssertionError(what)


def claimed(at: float, within_ms: int = 25) -> Delivery:
    return Delivery(
        key=1, lease=1, kind=1, queue="q", type="t", is_limited=True, start_within_ms=within_ms, claimed_at=at
    )


async def test_a_thread_that_ignores_its_timeout_keeps_its_place_under_a_limit(caplog):
    go_on, began = threading.Event(), []
    app = Procession("memory://", slots=WorkerSettings(concurrency=4, stuck_ms=20))

    @app.job("stubborn", retries=1, timeout="20ms")
    def stubborn(number: int) -> None:
        began.append(number)
        if number == 0:
            go_on.wait(10)

    async with app:
        first = await app.enqueue("stubborn", {"number": 0}, limits=Limit("door", most=1))
        second = await app.enqueue("stubborn", {"number": 1}, limits=Limit("door", most=1))
        await until(lambda: "its limits stay taken" in caplog.text)
        assert (await app.job_record(first.job_key)).state == "RUNNING"
        assert (await app.job_record(second.job_key)).state == "THROTTLED"
        assert began == [0]
        go_on.set()
        await until(lambda: began == [0, 1])
        assert (await app.job_record(first.job_key)).state == "FAILED"


def test_a_start_that_is_late_goes_back_and_one_in_time_does_not():
    punctuality = Punctuality()
    assert punctuality.in_time(claimed(10.0), 10.02)
    assert not punctuality.in_time(claimed(10.0), 10.03)


def test_one_stall_says_nothing_and_lateness_again_and_again_is_said_until_it_is_over():
    punctuality = Punctuality()
    for at in (10.0, 10.0, 10.0):
        punctuality.in_time(claimed(at), 15.0)
    assert punctuality.late_ms == 0
    punctuality.in_time(claimed(15.0), 16.0)
    assert punctuality.late_ms == 50
    for at in (17.0, 18.0):
        punctuality.in_time(claimed(at, within_ms=50), at + 1.0)
    assert punctuality.late_ms == 100
    for _ in range(200):
        assert punctuality.in_time(claimed(20.0), 20.01)
    assert punctuality.late_ms == 0
