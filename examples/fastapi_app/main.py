"""An order is inserted and its process started in one transaction: both are there after the commit, or neither.

`uvicorn main:api` serves it on a SQLite file in this folder; `SHOP_DATABASE` names another database.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel, Field
from sqlalchemy import BigInteger
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from procession import Procession
from procession.contrib.fastapi import Transaction, in_transaction, lifespan

URL = os.environ.get("SHOP_DATABASE", "sqlite:///shop.db")  # Procession and SQLAlchemy share the database
DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
CREDIT_LIMIT = Decimal(5000)

scheme, _, rest = URL.partition("://")
database = create_async_engine(f"{DRIVERS[scheme]}://{rest}")
new_session = async_sessionmaker(database, expire_on_commit=False)
processes = Procession(URL)


class Table(DeclarativeBase):
    """The application's own tables."""


class Order(Table):
    """A row of the application's, with the key of the instance that takes care of it."""

    __tablename__ = "shop_order"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer: Mapped[str]
    total: Mapped[Decimal]
    status: Mapped[str] = mapped_column(default="placed")
    process_instance_key: Mapped[int | None] = mapped_column(BigInteger)  # keys are 64-bit numbers


class NewOrder(BaseModel):
    """What a client sends."""

    customer: str = Field(min_length=1)
    total: Decimal = Field(gt=0)


@processes.job("reserve-stock", backoff="5s")
async def reserve_stock(order_id: int) -> None:
    """A job of the process; it may run twice, so it says what the status is and does not count."""
    await _set_status(order_id, "reserved")


@processes.job("confirm-order")
async def confirm_order(order_id: int) -> None:
    """The last job."""
    await _set_status(order_id, "confirmed")


@asynccontextmanager
async def tables(_: FastAPI) -> AsyncIterator[None]:
    """The application's own tables, made before the engine opens."""
    async with database.begin() as connection:
        await connection.run_sync(Table.metadata.create_all)
    yield
    await database.dispose()


async def transaction() -> AsyncIterator[AsyncSession]:
    """A session in a transaction that ends with the request: by commit, or by rollback if it fails."""
    async with new_session.begin() as session:
        yield session


# The application's life is the engine's: it works on jobs while it serves requests.
diagram = Path(__file__).with_name("fulfilment.bpmn")
api = FastAPI(lifespan=lifespan(processes, migrate=True, deploy=[diagram], within=tables))
# "function": the commit comes before the answer is sent, so that nobody is told of an order that is not there.
Session = Annotated[AsyncSession, Depends(transaction, scope="function")]
Processes = Annotated[Transaction, Depends(in_transaction(processes, transaction, scope="function"))]


@api.post("/orders", status_code=201)
async def place_order(new: NewOrder, session: Session, begun: Processes) -> dict[str, int]:
    """Insert the order and start its process; whatever is raised before the end takes both back."""
    order = Order(customer=new.customer, total=new.total)
    session.add(order)
    await session.flush()  # gives the order its id
    key = await begun.start("fulfilment", {"orderId": order.id}, business_id=f"order-{order.id}")
    order.process_instance_key = key
    if new.total > CREDIT_LIMIT:
        raise HTTPException(422, f"The credit limit is {CREDIT_LIMIT}")
    return {"orderId": order.id, "processInstanceKey": key}


@api.get("/orders/{order_id}")
async def show_order(order_id: int, session: Session) -> dict[str, object]:
    """The order, and where its process is."""
    order = await session.get(Order, order_id)
    if order is None or order.process_instance_key is None:
        raise HTTPException(404, f"There is no order {order_id}")
    details = await processes.instance(order.process_instance_key)
    return {
        "status": order.status,
        "process": details.instance.state,
        "elements": [element.element_id for element in details.elements],
    }


async def _set_status(order_id: int, status: str) -> None:
    async with new_session.begin() as session:
        order = await session.get_one(Order, order_id)
        order.status = status
