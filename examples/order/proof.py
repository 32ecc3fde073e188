"""The proof: a worker is killed in the middle of its work, another goes on, and the books balance.

This process only starts orders and looks on; the work is done by `orders.py` in processes of their own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from books import DONE_AT_END, Ended, problems
from rich.console import Console
from screen import heading, say
from world import Plan, World, many

from procession import Procession

if TYPE_CHECKING:
    from shop import Call, Shop

LONGEST_S = 60.0
LOOK_S = 0.05
PAGE = 1000


class Worker:
    """`orders.py` in a process of its own."""

    def __init__(self) -> None:
        environment = {**os.environ, "ORDERS_NETWORK_S": "0.05"}
        program = str(Path(__file__).with_name("orders.py"))
        self._process = subprocess.Popen([sys.executable, program], env=environment)  # noqa: S603 - a file of ours
        self.id = self._process.pid

    def check(self) -> None:
        """Raises RuntimeError if it has ended by itself."""
        code = self._process.poll()
        if code is not None:
            raise RuntimeError(f"Expected worker {self.id} to work, found that it ended with exit code {code}")

    def kill(self) -> None:
        """At once, without a word: what a power cut or the kernel's memory killer does."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int:
        """Ask it to finish what it does and go; its exit code."""
        self._process.terminate()
        return self._process.wait(timeout=30)


class Proof:
    """One run of it; ``run`` gives the id of the process that was killed."""

    def __init__(self, app: Procession, shop: Shop, console: Console) -> None:
        self._app = app
        self._console = console
        self._world = World(app, shop)
        self._living: asyncio.Task[None] | None = None
        self._before = 0
        self._began = time.monotonic()

    async def run(self, plans: Sequence[Plan]) -> tuple[dict[int, Plan], int]:
        """Start the orders, let a worker work, kill it, let another finish: (orders by key, id of the killed one)."""
        self._before = await self._ended()
        for plan in plans:
            key = await self._app.start("order", plan.variables(), business_id=plan.order_id)
            self._world.plans[key] = plan
        self._tell(f"{len(plans)} orders are placed; nobody works yet")
        self._living = asyncio.create_task(self._world.live())
        worker = Worker()
        try:
            self._tell(f"worker {worker.id} starts")
            await self._until(worker, self._have_ended(len(plans) // 3))
            worker.kill()
            killed = worker.id
            held = await self._held_by(worker)
            ended = await self._ended()
            self._tell(f"worker {killed} is killed (SIGKILL): {ended} orders have ended, it held {len(held)} jobs")
            worker = Worker()
            self._tell(f"worker {worker.id} starts; the jobs come back when the heartbeat of the dead one is missed")
            await self._until(worker, self._are_given_back(held))
            self._tell(f"worker {worker.id} has got every one of the {len(held)} jobs")
            await self._until(worker, self._have_ended(len(plans)))
            self._tell(f"all {len(plans)} orders have ended")
            self._tell(f"worker {worker.id} was asked to stop, and did so with exit code {worker.stop()}")
        except BaseException:
            worker.kill()
            raise
        finally:
            self._living.cancel()
        return self._world.plans, killed

    async def _until(self, worker: Worker, reached: Callable[[], Awaitable[bool]]) -> None:
        """Look on. Raises TimeoutError when nothing more happens, and what befell the world."""
        deadline = time.monotonic() + LONGEST_S
        assert self._living is not None
        while not await reached():
            worker.check()
            await asyncio.wait([self._living], timeout=LOOK_S)
            if self._living.done():
                self._living.result()
            if time.monotonic() > deadline:
                raise TimeoutError(f"Expected the orders to go on, found them waiting for {LONGEST_S:.0f} s")

    def _have_ended(self, count: int) -> Callable[[], Awaitable[bool]]:
        async def reached() -> bool:
            return await self._ended() >= count

        return reached

    def _are_given_back(self, held: set[tuple[int, int]]) -> Callable[[], Awaitable[bool]]:
        async def reached() -> bool:
            return not held & await self._running()

        return reached

    async def _ended(self) -> int:
        """How many of these orders have ended."""
        return (await self._app.count_instances("order")).get("COMPLETED", 0) - self._before

    async def _held_by(self, worker: Worker) -> set[tuple[int, int]]:
        """The jobs that are leased to a worker, as (job, node); a process is a node, named after its host and id."""
        nodes = {node.node for node in await self._app.nodes() if node.name.endswith(f"-{worker.id}")}
        return {(job, node) for job, node in await self._running() if node in nodes}

    async def _running(self) -> set[tuple[int, int]]:
        """What is in whose hands."""
        return {(job.job_key, job.node) for job in await self._app.jobs(state="RUNNING", limit=PAGE)}

    def _tell(self, text: str) -> None:
        say(self._console, f"{time.monotonic() - self._began:6.2f} s  {text}")


async def prove(app: Procession, shop: Shop, console: Console, before: dict[int, Plan], count: int) -> bool:
    """Kill a worker, compare the books of all orders, print them; whether they balance."""
    heading(console, f"{count} more orders, and a worker that is killed in the middle of its work")
    await app.open(run_workers=False)
    try:
        plans, killed = await Proof(app, shop, console).run(many(count))
        orders = [await ended(app, key, plan) for key, plan in {**before, **plans}.items()]
        found = problems(orders, shop.effects())
        found += [f"{n} jobs are left in '{queue}' ({state})" for (queue, state), n in (await app.count_jobs()).items()]
        found += [f"incident: {incident.error_message}" for incident in await app.incidents()]
    finally:
        await app.close()
    print_books(console, orders, shop.calls(), killed)
    for problem in found:
        say(console, f"✗ {problem}", "red")
    if found:
        say(console, "✗ The books do not balance.", "bold red")
    else:
        say(
            console,
            "✓ The books balance: every order ended once, and the world did once what it had to do.",
            "bold green",
        )
    return not found


async def ended(app: Procession, key: int, plan: Plan) -> Ended:
    """What the engine says about an order."""
    history = await app.history(key)
    ends = [event.element_id for event in history if event.event in {"passed", "activated"}]
    return Ended(
        order_id=plan.order_id,
        state=(await app.instance(key)).instance.state,
        times=sum(event.event == "ended" for event in history),
        ends=[end for end in ends if end in DONE_AT_END],
    )


def print_books(console: Console, orders: Sequence[Ended], calls: Sequence[Call], killed: int) -> None:
    """How the orders ended, and how often their cards were charged."""
    heading(console, "The books")
    ends = Counter(end for order in orders for end in order.ends)
    say(console, f"  {len(orders)} orders: " + ", ".join(f"{n} {end}" for end, n in sorted(ends.items())))
    charges: dict[str, list[Call]] = {}
    for call in calls:
        if call.what == "charge":
            charges.setdefault(call.order_id, []).append(call)
    asked = Counter(len(attempts) for attempts in charges.values())
    say(console, "  charges by number of attempts: " + ", ".join(f"{n}: {asked[n]} orders" for n in sorted(asked)))
    cut = [attempts for attempts in charges.values() if any(_was_cut(call, attempts, killed) for call in attempts)]
    say(console, f"  charges that the kill cut short: {len(cut)}")
    for attempts in cut[:8]:
        told = ", ".join(f"attempt {c.attempt} by {c.process}: {c.answer or 'killed'}" for c in attempts)
        say(console, f"    {attempts[0].order_id}  {told}", "dim")
    again = Counter((call.order_id, call.what) for call in calls if call.answer == "done")
    twice = sum(1 for n in again.values() if n > 1)
    say(
        console,
        f"  done, but killed before that was committed, so asked for again: {twice} (idempotency keys make it one)",
    )


def _was_cut(call: Call, attempts: Sequence[Call], killed: int) -> bool:
    """Whether the kill came before the answer, or before the answer was written down."""
    again = any(later.attempt > call.attempt for later in attempts)
    return call.process == killed and (not call.answer or (again and call.answer == "done"))
