"""Other BPMN engines beside our core: a process of two tasks from start to end in memory, in processor time.

Each runs in an environment of its own. What cannot be installed or run is a note, never a failure.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from procession.errors import Unavailable
from procession.lab.drivers import Drivers
from procession.lab.loop import run
from procession.lab.peer_environments import Installed, default_folder, install
from procession.lab.peer_table import PEERS, PeerSpec
from procession.lab.queue_orders import Done, Order
from procession.lab.results import PeerFigure

CASE: Final = "two tasks, start to end"
INSTANCES: Final = 200
RUN_S_MAX: Final = 60.0
LOOK_S: Final = 0.01


def time_core_peers(rounds: int, folder: str) -> tuple[list[PeerFigure], list[str]]:
    """Figures of the others, the best of the rounds, and notes about those that could not be timed."""
    return run(_time_all(rounds, Path(folder) if folder else default_folder()))


async def _time_all(rounds: int, folder: Path) -> tuple[list[PeerFigure], list[str]]:
    figures: list[PeerFigure] = []
    notes: list[str] = []
    for spec in (spec for spec in PEERS if not spec.stores):
        found = await install(spec, folder)
        if found.problem:
            notes.append(f"{spec.name}: {found.problem}")
            continue
        try:
            best = min([await _time_once(spec, found) for _ in range(rounds)])
        except (Unavailable, TimeoutError) as error:
            notes.append(f"{spec.name}: {error or f'not over after {RUN_S_MAX:g} s'}")
            continue
        figures.append(
            PeerFigure(engine=spec.name, version=found.version, expression=CASE, way="in memory", us=round(best, 1))
        )
    return figures, notes


async def _time_once(spec: PeerSpec, found: Installed) -> float:
    """Microseconds of the processor for an instance. Raises Unavailable, TimeoutError."""
    order = Order(workload="steps", url="", jobs=INSTANCES, settings=spec.settings)
    drivers = Drivers(found.command)
    try:
        await drivers.start([order])
        drivers.go()
        async with asyncio.timeout(RUN_S_MAX):
            while drivers.done_hint < INSTANCES:
                drivers.check()
                await asyncio.sleep(LOOK_S)
            reports: list[Done] = await drivers.stop()
    finally:
        await drivers.end()
    return reports[0].cpu_s / INSTANCES * 1e6
