"""A worker of either version: ``python queue_program.py URL NAME``. What it imports is on its PYTHONPATH.

It runs jobs of the queue, puts some of its own under the same limits and unique keys, and writes when each run began
and ended. Only what both versions have is used.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time

from procession import Limit, Procession, Unique, WorkerSettings

PAUSE_S = 0.01
DOOR, PACE = Limit("door", most=2), Limit("pace", rate=50, per="1s", burst=2)
OWN = 10


def say(*words: object) -> None:
    """A line for whoever started this program."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def application(url: str, name: str, ran: list[tuple[str, str, float, float]]) -> Procession:
    """Handlers that say when they ran."""
    app = Procession(url, name=name, slots=WorkerSettings(concurrency=4))

    @app.job("work", queue="shared")
    async def work(of: str) -> str:
        began = time.time()
        await asyncio.sleep(PAUSE_S)
        ran.append((name, of, began, time.time()))
        say("ran", *ran[-1])
        return of

    return app


async def main(url: str, name: str) -> None:
    """Work until told to stop."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    app = application(url, name, [])
    await app.open()
    say("ready")
    for _ in range(OWN):
        await app.enqueue("work", {"of": "door"}, queue="shared", limits=[DOOR])
        await app.enqueue("work", {"of": "pace"}, queue="shared", limits=[PACE])
        await app.enqueue("work", {"of": "unique"}, queue="shared", unique=Unique("once", for_="1h"))
    say("enqueued")
    await stop.wait()
    await app.close()
    say("stopped")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
