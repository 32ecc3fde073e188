"""What the walks meet: orders at every stage, and a process that fails. The worker is this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from procession import BpmnError, Job, Procession
from procession.api.server import serve
from procession.api.settings import Settings
from procession.testing.bpmn import process
from procession.ui import routes
from tests.support.sources import ROOT

ORDER = ROOT / "examples" / "order" / "order.bpmn"
FAILING = (
    process("import", name="Import of a file")
    .start("begin", name="File has come")
    .service("fetch", type="fetch-file", retries=1, name="Fetch the file")
    .service("parse", type="parse-file", retries=1, name="Parse the file")
    .end("imported", name="Imported")
    .xml()
)
History = Literal["activity", "full"]
LOOK_S = 0.02
PATIENCE_S = 20.0


class World:
    """An application with its server."""

    def __init__(self, app: Procession, url: str) -> None:
        self.app = app
        self.url = url

    async def order(self, order_id: str, **variables: Any) -> int:
        """Start an order; it waits for the warehouse (or a manager, if it is big) unless its card is declined."""
        items = [{"name": "goods", "quantity": 1, "price": variables.pop("price", 40)}]
        given = {"orderId": order_id, "card": "good", "items": items, **variables}
        return await self.app.start("order", given, business_id=order_id, tags=["shop"])

    async def fail(self, name: str = "broken.csv", **options: Any) -> int:
        """Start an import that ends in an incident."""
        key = await self.app.start("import", {"file": name}, **options)
        await self.until(key, lambda details: bool(details.incidents))
        return key

    async def until(self, key: int, is_so: Any) -> Any:
        """The details of an instance, once they are so."""
        async with asyncio.timeout(PATIENCE_S):
            while not is_so(details := await self.app.instance(key)):  # noqa: ASYNC110 - a worker takes its own time
                await asyncio.sleep(LOOK_S)
        return details

    async def until_waits(self, key: int, *elements: str) -> Any:
        """The details of an instance, once it waits at these elements and no others."""
        return await self.until(key, lambda details: {each.element_id for each in details.elements} == set(elements))


@asynccontextmanager
async def open_world(url: str, *, identity: bool = False, history: History = "full") -> AsyncIterator[World]:
    """A server with its data, on an empty database; with ``identity`` it wants to know who comes."""
    app = Procession(url, history=history)
    _handlers(app)
    _queue_handlers(app)
    await app.migrate()
    async with app, serve(app, Settings(identity=identity, port=0, stop_s=1), routes=routes()) as server:
        world = World(app, server.url)
        await app.deploy(ORDER)
        await app.deploy(("import.bpmn", FAILING))
        yield world


def _handlers(app: Procession) -> None:
    @app.method("price-order")
    def price_order(items: list[dict[str, Any]]) -> dict[str, Any]:
        return {"total": sum(item["quantity"] * item["price"] for item in items)}

    @app.job("charge-card")
    async def charge_card(order_id: str, card: str) -> dict[str, Any]:
        if card == "declined":
            raise BpmnError("payment-declined", "the bank says no", {"reason": "the bank says no"})
        return {"receiptId": f"R-{order_id}"}

    @app.job("fetch-file")
    async def fetch_file(file: str) -> dict[str, Any]:
        return {"bytes": len(file)}

    @app.job("parse-file", retries=1)
    async def parse_file(file: str) -> dict[str, Any]:
        if "long" in file:
            raise ValueError("\n".join(f"{file}: expected 7 columns in line {line}, found 5" for line in range(40)))
        if "broken" in file:
            raise ValueError(f"{file}: expected 7 columns in line 3, found 5")
        return {"rows": 3}

    for name in ("notify-customer", "ask-warehouse", "remind-warehouse", "remind-managers", "refund-card"):
        app.job(name)(_nothing)

    flaky: set[str] = set()

    @app.job("weigh-parcel", retries=3, backoff="10ms")
    async def weigh_parcel(name: str) -> dict[str, Any]:
        if name not in flaky:
            flaky.add(name)
            raise ValueError("the scales are not level")
        return {"grams": 300}

    @app.job("ship-order")
    async def ship_order(order_id: str) -> dict[str, Any]:
        return {"parcel": f"P-{order_id}"}


async def _nothing() -> None:
    pass


OPENED: set[str] = set()  # names of jobs that may go on


def _queue_handlers(app: Procession) -> None:
    """Jobs without a process."""

    @app.job("send-letter", queue="letters", retries=1)
    async def send_letter(to: str) -> str:
        if to == "nobody":
            raise ValueError(f"no such address: {to}")
        return to

    @app.job("count-pages", queue="pages", retries=1)
    async def count_pages(job: Job, name: str) -> None:
        await job.log("page 1 is counted")
        await job.progress(0.5, "page 1 of 2")
        while name not in OPENED:  # noqa: ASYNC110 - the worker may have a loop of its own
            await asyncio.sleep(LOOK_S)
        await job.log("page 2 is counted")
