"""Handlers that ignore that they are to end: said by name, their job ends, and what they held is replaced."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from procession import Procession, WorkerSettings
from procession.worker.processes import Processes
from tests.worker import handlers

PATIENCE_S = 60.0


async def until(found: Callable[[], Awaitable[object]]) -> Any:
    """What is found at last: other processes give no signal that could be awaited."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if value := await found():
                return value
            await asyncio.sleep(0.01)


async def gone(pid: int) -> bool:
    """Whether a process is there no more."""

    async def is_gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    return await until(is_gone)


async def written(said: Path) -> int:
    """The number that a process writes into a file."""
    return int(await until(lambda: asyncio.to_thread(lambda: said.read_text() if said.exists() else "")))


async def test_a_thread_that_goes_on_is_named_and_another_takes_its_place(caplog):
    caplog.set_level(logging.ERROR)
    app = Procession("memory://", slots=WorkerSettings(stuck_ms=20))
    free, ran = threading.Event(), []

    @app.job("wedged", concurrency=1, retries=1, timeout="10ms", queue="one")
    def wedged() -> None:
        free.wait(30)

    @app.job("next", concurrency=1, queue="one")
    def following() -> None:
        ran.append(threading.current_thread().name)

    await app.open(run_workers=False)
    lost = await app.enqueue("wedged", priority=1)
    await app.enqueue("next")
    await app.run_until_idle()
    assert len(ran) == 1
    record = await app.job_record(lost.job_key)
    assert (record.state, record.attempt) == ("FAILED", 1)
    assert "'wedged' did not end within its timeout" in record.error_message
    assert f"'wedged' ignores its cancellation (job {lost.job_key}): it is stuck, its slot is replaced" in caplog.text
    assert app.counters.jobs_stuck == 1
    free.set()
    await app.close()


async def test_a_process_that_goes_on_is_killed_and_another_takes_its_place(tmp_path: Path, caplog):
    app = Procession("memory://", slots=WorkerSettings(processes=1))
    app.job("wedge", process=True, queue="one")(handlers.wedge)
    app.job("whoami", process=True, queue="one")(handlers.whoami)
    async with app:
        lost = await app.enqueue("wedge", {"said": str(tmp_path / "pid")})
        pid = await written(tmp_path / "pid")
        following = await app.enqueue("whoami", output=True)
        await app.delete_job(lost.job_key, reason="it hangs")
        await app._engine.queue_duties.cancel_once()
        assert await gone(pid)

        async def output() -> object:
            return (await app.job_record(following.job_key)).output

        assert await until(output) != pid
    assert "the process that ran wedge is killed" in caplog.text


async def test_a_process_that_has_grown_is_replaced():
    pool = Processes(1, 1_000, memory_mb_max=1)
    first, second = [await pool.run(handlers.whoami, [], {}) for _ in range(2)]
    pool.stop()
    assert first != second
    assert await gone(first)


async def test_a_call_that_gives_up_waiting_for_a_process_leaves_its_turn_to_the_next():
    pool = Processes(1, 1_000)
    process = await pool._take()
    waiting = [asyncio.create_task(pool._take()) for _ in range(2)]
    await asyncio.sleep(0)
    pool._give_back(process)
    waiting[0].cancel()
    assert await waiting[1] is process
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]
    pool._give_back(process)
    pool.stop()
