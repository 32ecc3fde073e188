"""A server in the test's own loop, on the loopback, on any free port; it ends with the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from procession import Procession
from procession.api.server import Server, serve
from procession.api.settings import Settings
from procession.testing.bpmn import process

PAYMENT = (
    process("payment", name="Payment")
    .start("begin")
    .service("charge", type="charge-card", retries=3, headers={"region": "eu"}, name="Charge the card")
    .user("approve", name="Approve")
    .end("done")
    .boundary("declined", on="charge", error="card-declined")
    .end("refused")
    .xml()
)


class Served:
    """An application, its server, and a plain client of it."""

    def __init__(self, app: Procession, server: Server, client: httpx.AsyncClient) -> None:
        self.app = app
        self.server = server
        self.client = client
        self.url = server.url
        self.gate = server.web.gate

    async def post(self, path: str, body: object = None, **options) -> httpx.Response:
        return await self.client.post(f"/v2{path}", json={} if body is None else body, **options)

    async def get(self, path: str, **options) -> httpx.Response:
        return await self.client.get(f"/v2{path}", **options)

    async def deploy(self, name: str = "payment.bpmn", content: bytes = PAYMENT, **options) -> httpx.Response:
        return await self.client.post("/v2/deployments", files={"resources": (name, content)}, **options)

    async def start(self, process_id: str = "payment", **more) -> str:
        answer = await self.post("/process-instances", {"processDefinitionId": process_id, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()["processInstanceKey"]

    async def take(self, job_type: str = "charge-card", *, wait_ms: int = 5_000, **more) -> dict:
        body = {"type": job_type, "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": wait_ms, **more}
        (job,) = (await self.post("/jobs/activation", body)).json()["jobs"]
        return job

    async def until(self, path: str, body: dict, count: int = 1) -> list[dict]:
        """What a search finds once it finds so many: what follows from a command may still be under way."""
        for _ in range(200):
            items = (await self.post(path, body)).json()["items"]
            if len(items) == count:
                return items
            await self.app.rows.now()
        raise AssertionError(items)


MakeServed = Callable[..., Awaitable[Served]]


@pytest.fixture(params=["memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The database: memory unless a test asks for others by ``indirect``."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres_url")
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'served.db'}"


@pytest.fixture
async def make_served(url: str) -> AsyncIterator[MakeServed]:
    """Make servers with settings of the test's own."""
    async with AsyncExitStack() as stack:

        async def make(app: Procession | None = None, **settings) -> Served:
            app = app or Procession(url, history="full")
            await app.open(migrate=True)
            stack.push_async_callback(app.close)
            options = {"identity": False, "port": 0, "stop_s": 2.0, **settings}
            more = {name: options.pop(name) for name in ("turn_clock", "tracer_provider") if name in options}
            server = await stack.enter_async_context(serve(app, Settings(**options), **more))
            client = await stack.enter_async_context(httpx.AsyncClient(base_url=server.url, timeout=30))
            return Served(app, server, client)

        yield make


@pytest.fixture
async def served(make_served: MakeServed) -> Served:
    """A server for local use, without identity."""
    return await make_served()
