"""`make demo`: seven orders on a SQLite file, the story of one of them, and a proof that a killed worker loses nothing.

    python demo.py [--directory DIR] [--orders 120]

The exit code is 1 if the books do not balance at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from proof import prove
from rich.console import Console
from screen import Board, Row, heading, print_story, say
from story import Diagram, tell, trail, where
from world import SEVEN, Plan, World

from procession import Procession

if TYPE_CHECKING:
    from shop import Shop

LOOK_S = 0.1
LONGEST_S = 60.0  # an order that takes longer is stuck, and the demonstration has failed
PATIENCE = "PT1S"  # of the timers; without it they wait for hours


async def show(app: Procession, shop: Shop, diagram: Path, console: Console, directory: Path, count: int) -> bool:
    """The whole demonstration; whether the books balance."""
    drawn = Diagram(diagram)
    say(console, f"Database {directory / 'orders.db'}, process {diagram.name}: one worker, in this process.")
    async with app:
        await app.deploy(diagram)
        plans = await seven_orders(app, shop, drawn, console)
        last = next(key for key, plan in plans.items() if plan.order_id == SEVEN[-1].order_id)
        history = await app.history(last)
        story = tell(drawn, history, shop.calls(SEVEN[-1].order_id))
        print_story(console, f"The story of {SEVEN[-1].order_id}, as the history tells it", story)
        say(console, "  ○ start  ▭ task  ◇ gateway  ▣ sub-process  ◷ timer  ↯ error  ● end  ✗ ✓ attempts", "dim")
        if console.is_terminal:
            await asyncio.sleep(2)  # to read
    return await prove(app, shop, console, plans, count)


async def seven_orders(app: Procession, shop: Shop, diagram: Diagram, console: Console) -> dict[int, Plan]:
    """Seven different orders at once, until all have ended."""
    heading(console, "Seven orders")
    rows = {plan.order_id: Row(plan.order_id, plan.about) for plan in SEVEN}
    world = World(app, shop)
    living = asyncio.create_task(world.live())
    began = time.monotonic()
    to_place = list(SEVEN)
    with Board(console, list(rows.values())) as board:
        while not all(row.place.startswith("●") for row in rows.values()):
            if to_place:
                plan = to_place.pop(0)
                key = await app.start("order", plan.variables(PATIENCE), business_id=plan.order_id)
                world.plans[key] = plan
            await look(app, shop, diagram, world, rows)
            board.show(time.monotonic() - began)
            await moment(living, began)
    living.cancel()
    return world.plans


async def moment(living: asyncio.Task[None], began: float) -> None:
    """Time passes. Raises what befell the world, or TimeoutError."""
    await asyncio.wait([living], timeout=LOOK_S)
    if living.done():
        living.result()
    if time.monotonic() - began > LONGEST_S:
        raise TimeoutError(f"Expected every order to end within {LONGEST_S:.0f} s")


async def look(app: Procession, shop: Shop, diagram: Diagram, world: World, rows: dict[str, Row]) -> None:
    """Bring the rows up to date with what is committed."""
    for key, plan in world.plans.items():
        row = rows[plan.order_id]
        if row.place.startswith("●"):
            continue
        details = await app.instance(key)
        history = await app.history(key)
        lines = tell(diagram, history, shop.calls(plan.order_id))
        row.trail = trail(lines)
        row.total = f"{details.variables['total']:,.2f}" if "total" in details.variables else ""
        if details.instance.state == "ACTIVE":
            row.place = where(diagram, [element.element_id for element in details.elements]) or "on its way"
        else:
            row.place = f"● {[line for line in lines if line.symbol == '●' and line.depth == 0][-1].text}"


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directory", type=Path, help="where the databases go (default: a temporary folder)")
    parser.add_argument("--orders", type=int, default=120, help="orders of the proof (default: 120)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="procession-demo-") as temporary:
        directory: Path = (options.directory or Path(temporary)).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        os.environ["ORDERS_DATABASE"] = f"sqlite:///{directory / 'orders.db'}"
        os.environ["ORDERS_BOOKS"] = str(directory / "books.db")
        import orders  # noqa: PLC0415 - it opens what the environment names

        balanced = asyncio.run(show(orders.app, orders.shop, orders.DIAGRAM, Console(), directory, options.orders))
    return 0 if balanced else 1


if __name__ == "__main__":
    sys.exit(main())
