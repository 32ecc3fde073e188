"""The code behind `order.bpmn`: a method and the jobs. A worker is `python orders.py` or `procession work orders:app`.

Parameters take the variable of their name (`order_id` takes `orderId`) and are decoded by their annotation. What a
handler returns becomes variables.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import msgspec
from shop import Declined, Shop

from procession import BpmnError, Job, Procession
from procession.engine import Settings

DIAGRAM = Path(__file__).with_name("order.bpmn")
# The demonstration cannot wait the usual ten seconds for a killed process to be called dead.
LIVELY = Settings(heartbeat_ms=500, dead_after_ms=3_000, lead_term_ms=2_000)

app = Procession(os.environ.get("ORDERS_DATABASE", "sqlite:///orders.db"), settings=LIVELY)
shop = Shop(os.environ.get("ORDERS_BOOKS", "books.db"))
network_s = float(os.environ.get("ORDERS_NETWORK_S", "0.15"))  # how long the world takes to answer


@dataclass
class Item:
    """A line of an order."""

    name: str
    quantity: int
    price: Decimal


class Receipt(msgspec.Struct, rename="camel"):
    """What the bank gives for a charge; as variables: `receiptId`, `charged`."""

    receipt_id: str
    charged: Decimal


@app.method("price-order")
def price_order(items: list[Item]) -> dict[str, Decimal]:
    """Quick and without side effects, hence a method: it runs within the step and costs no commit of its own."""
    return {"total": sum((item.quantity * item.price for item in items), Decimal(0))}


@app.job("charge-card", backoff=["300ms", "600ms", "2s"], timeout="10s")
async def charge_card(job: Job, order_id: str, card: str, total: Decimal) -> Receipt:
    """An exception is tried again; a BpmnError goes the way that the diagram shows for it."""
    await asyncio.sleep(network_s)
    try:
        await asyncio.to_thread(shop.charge, order_id, card, job.attempt)
    except Declined as answer:
        raise BpmnError("payment-declined", str(answer), {"reason": str(answer)}) from answer
    return Receipt(receipt_id=f"R-{order_id}", charged=total)


@app.job("refund-card")
async def refund_card(job: Job, order_id: str) -> None:
    """Give the money back."""
    await asyncio.to_thread(_do, job, order_id, "refund")


# These block, so they run in threads: nothing else waits for them.
@app.job("ask-warehouse")
def ask_warehouse(job: Job, order_id: str) -> None:
    """Ask for the goods; the answer is the message `stock-confirmed`."""
    _do(job, order_id, "ask")


@app.job("ship-order")
def ship_order(job: Job, order_id: str) -> dict[str, str]:
    """Send the goods."""
    _do(job, order_id, "ship")
    return {"parcel": f"P-{order_id}"}


@app.job("notify-customer")
def notify_customer(job: Job, order_id: str, reason: str) -> None:
    """Write to the customer why there will be no goods; `reason` came with the error."""
    assert reason
    _do(job, order_id, "notify")


@app.job("remind-warehouse")
def remind_warehouse(job: Job, order_id: str) -> None:
    """The warehouse takes too long."""
    _do(job, order_id, "remind warehouse")


@app.job("remind-managers")
def remind_managers(job: Job, order_id: str) -> None:
    """The managers take too long."""
    _do(job, order_id, "remind managers")


def _do(job: Job, order_id: str, what: str) -> None:
    """Ask the world for something and wait for its answer."""
    call = shop.ask(order_id, what, job.attempt)
    time.sleep(network_s)
    shop.done(call)


if __name__ == "__main__":
    logging.basicConfig(format=f"{'':11}worker {os.getpid()}: %(message)s")
    asyncio.run(app.run())
