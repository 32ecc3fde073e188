"""The FastAPI project: the order and its instance are there together, or neither is. On SQLite and on PostgreSQL."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Iterator
from types import ModuleType

import httpx
import pytest
import pytest_asyncio

from tests.support.sources import ROOT

PROGRAM = ROOT / "examples" / "fastapi_app" / "main.py"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'shop.db'}"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def program(url, monkeypatch) -> Iterator[ModuleType]:
    """The program, loaded with this database."""
    monkeypatch.setenv("SHOP_DATABASE", url)
    spec = importlib.util.spec_from_file_location("fastapi_example", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest_asyncio.fixture
async def client(program) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=program.api)
    async with (
        program.api.router.lifespan_context(program.api),
        httpx.AsyncClient(transport=transport, base_url="http://shop") as client,
    ):
        yield client


async def test_an_order_is_placed_and_its_process_runs_to_its_end(client, program):
    answer = await client.post("/orders", json={"customer": "Ada", "total": "20.50"})
    assert answer.status_code == 201, answer.text
    placed = answer.json()
    await program.processes.wait(placed["processInstanceKey"], timeout=30)
    shown = (await client.get(f"/orders/{placed['orderId']}")).json()
    assert shown == {"status": "confirmed", "process": "COMPLETED", "elements": []}


async def test_a_request_that_fails_leaves_neither_the_order_nor_an_instance(client, program):
    answer = await client.post("/orders", json={"customer": "Ada", "total": "9000"})
    assert answer.status_code == 422
    assert "credit limit" in answer.text

    assert (await client.get("/orders/1")).status_code == 404
    assert await program.processes.instances() == []
    assert await program.processes.jobs() == []


async def test_an_order_after_a_refused_one_goes_its_way(client, program):
    await client.post("/orders", json={"customer": "Ada", "total": "9000"})
    placed = (await client.post("/orders", json={"customer": "Ada", "total": "10"})).json()
    ended = await program.processes.wait(placed["processInstanceKey"], timeout=30)
    assert ended.state == "COMPLETED"
    assert [instance.process_instance_key for instance in await program.processes.instances()] == [
        placed["processInstanceKey"]
    ]
