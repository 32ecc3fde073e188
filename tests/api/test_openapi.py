"""The description of the interface, made of the code: complete, true, and tried by requests that nobody would write."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks

from procession import Procession
from procession.api.openapi import document
from procession.api.server import Server, serve
from procession.api.settings import Settings
from procession.api.tables import endpoints
from tests.api.conftest import PAYMENT

DOCUMENT = document(endpoints(), identity=False)
OPERATIONS = [
    (method.upper(), path)
    for path, methods in DOCUMENT["paths"].items()
    for method in methods
    if not path.startswith("/v2/clock")  # 501 by its nature, where the clock is the world's
]


def test_every_endpoint_is_described_once_with_a_name_of_its_own():
    names = [operation["operationId"] for path in DOCUMENT["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names)) > 80


def test_every_reference_leads_somewhere():
    known = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert set(re.findall(r"#/components/schemas/[^'\"]+", str(DOCUMENT))) <= known


def test_identity_is_part_of_the_description_where_it_is_on():
    described = document(endpoints(), identity=True)
    assert described["components"]["securitySchemes"].keys() == {"basic", "bearer"}
    assert described["paths"]["/v2/topology"]["get"]["security"]
    assert "security" not in described["paths"]["/v2/status"]["get"]


async def test_it_is_served(served):
    answer = await served.client.get("/openapi.json")
    assert answer.json()["paths"].keys() == DOCUMENT["paths"].keys()


class Background:
    """A server in a thread of its own, for a tool that is not asynchronous."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ready = threading.Event()
        self.server: Server | None = None
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._run()), daemon=True)

    async def _run(self) -> None:
        quick = Settings(identity=False, port=0, stop_s=1.0, body_s=5.0)
        async with Procession(self._url, history="full") as app, serve(app, quick) as self.server:
            await app.deploy(("payment.bpmn", PAYMENT))
            await app.start("payment", {"amount": 1})
            self._ready.set()
            await self._stop.wait()

    def __enter__(self) -> str:
        self._thread.start()
        assert self._ready.wait(30)
        assert self.server is not None
        return self.server.url

    def __exit__(self, *_) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        self._loop.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("described")
    with Background(f"sqlite:///{folder / 'described.db'}") as url:
        yield url


STREAMS = [("GET", "/api/events")]  # has no end; tests/api/test_pages.py listens
CHECKED = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
EXAMPLES = 6


@pytest.fixture(scope="module")
def schema(address):
    described = schemathesis.openapi.from_dict(DOCUMENT)
    described.config.update(base_url=address)
    return described


# schemathesis draws from `random`, which its own plugin would allow
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("method", "path"), [each for each in OPERATIONS if each not in STREAMS], ids=str)
def test_no_request_is_answered_with_a_defect_or_what_is_not_described(schema, method, path):
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=schema[path][method].as_strategy())
    def attempt(case) -> None:
        if path in WAITING and isinstance(case.body, dict):
            case.body["requestTimeout"] = WAITING[path]
        case.call_and_validate(checks=CHECKED, timeout=20)

    attempt()


WAITING = {"/v2/jobs/activation": -1, "/v2/process-instances": 50}  # so that no request waits for what does not come
