"""What a handler in a process of its own raises and gives, where it cannot be carried as it is; and types of others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from procession import Procession
from procession.worker import strangers
from procession.worker.processes import Processes
from tests.worker import handlers


@asynccontextmanager
async def opened(app: Procession) -> AsyncIterator[None]:
    await app.open(run_workers=False)
    yield
    await app.close()


async def test_an_exception_that_cannot_be_made_again_is_told_and_its_process_goes_on():
    app = Procession("memory://")
    for handler in (handlers.fail_in_two_parts, handlers.fail_in_a_class_of_its_own, handlers.be_secretive):
        app.job(handler.__name__, process=True, retries=1, queue="one")(handler)
    app.job("whoami", process=True, queue="one", concurrency=1)(handlers.whoami)
    async with opened(app):
        keys = [
            (await app.enqueue(name)).job_key
            for name in ("fail_in_two_parts", "fail_in_a_class_of_its_own", "be_secretive")
        ]
        await app.run_until_idle()
        jobs = [await app.job_record(key) for key in keys]
    assert [job.state for job in jobs] == ["FAILED"] * 3
    told = [job.error_message for job in jobs]
    assert told[0].startswith("tests.worker.handlers.TwoPartError: the original text (7)"), told[0]
    assert "fail_in_two_parts" in told[0]
    assert "LocalError: the original text" in told[1]
    assert "be_secretive to come back from its process" in told[2]


async def test_a_process_whose_answer_cannot_be_read_is_no_dead_one():
    processes = Processes(1, 100)
    try:
        first = await processes.run(handlers.whoami, [], {})
        with pytest.raises(Exception, match="the original text"):
            await processes.run(handlers.fail_in_two_parts, [], {})
        assert await processes.run(handlers.whoami, [], {}) == first
    finally:
        processes.stop()


async def test_outcomes_come_from_a_process_as_they_are():
    app = Procession("memory://")
    for handler in (handlers.snooze, handlers.ask_again, handlers.give_up):
        app.job(handler.__name__, process=True, retries=3, queue="one")(handler)
    async with opened(app):
        keys = [(await app.enqueue(name)).job_key for name in ("snooze", "ask_again", "give_up")]
        await app.run_until_idle()
        snoozed, again, gone = [await app.job_record(key) for key in keys]
    assert (snoozed.state, snoozed.retries) == ("SCHEDULED", 3)
    assert (again.state, again.retries, again.error_message) == ("SCHEDULED", 2, "busy")
    assert (gone.state, gone.error_message) == ("FAILED", "no use")


async def test_a_timeout_is_told_once():
    app = Procession("memory://")

    @app.job("slow", timeout="10ms", retries=1)
    async def slow() -> None:
        await asyncio.Event().wait()

    async with opened(app):
        key = (await app.enqueue("slow")).job_key
        await app.run_until_idle()
        error = (await app.job_record(key)).error_message
    assert error.count("did not end within its timeout") == 1, error


def test_a_type_of_others_goes_back_for_a_moment_at_first_and_for_a_minute_in_the_end():
    pauses = [strangers.pause_s(lease, 1, 0.5) for lease in (1, 2, 5, 10, 100)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (0.5, 60.0)
    assert strangers.pause_s(5, 5, 0.5) == 0.5, "attempts that ran say nothing about who handles it"


async def test_two_programs_on_one_queue_leave_each_other_their_jobs(tmp_path, caplog):
    caplog.set_level(logging.ERROR, "procession")
    now = [1_800_000_000_000]
    url = f"sqlite:///{tmp_path}/shared.db"
    ran: dict[str, int] = {"a": 0, "b": 0}
    apps = {name: Procession(url, clock=lambda: now[0]) for name in ran}
    for name, app in apps.items():

        def run(of: str = name) -> None:
            ran[of] += 1

        app.job(name)(run)
    await apps["a"].open(run_workers=False, migrate=True)
    await apps["b"].open(run_workers=False)
    try:
        for name in ran:
            await apps["a"].enqueue_many(name, [{}] * 20)
        for turn in range(60):
            for app in (apps["a"], apps["b"]) if turn % 2 else (apps["b"], apps["a"]):
                await app.run_until_idle()
            now[0] += 1_000
            if sum(ran.values()) == 40:
                break
    finally:
        for app in apps.values():
            await app.close()
    assert ran == {"a": 20, "b": 20}
