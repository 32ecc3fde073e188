"""What a handler in a process of its own raises and gives, where it cannot be carried as it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from procession import Procession
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
