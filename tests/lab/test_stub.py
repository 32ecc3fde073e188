"""The two calls: a stub that counts what it answers, wherever it runs, and a normal client."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from procession.lab.stub import REPLY, StubServer, calls, nginx_program, stub_elsewhere

REQUEST = b"GET /test.json?v=1 HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
async def stub():
    server = StubServer()
    await server.open()
    yield server
    server.close()


class Collecting(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data):
        self.written += data


@pytest.mark.parametrize(
    "pieces",
    [[REQUEST], [REQUEST[:10], REQUEST[10:]], [REQUEST + REQUEST], [REQUEST + REQUEST[:-2], REQUEST[-2:]]],
    ids=["one", "cut", "two at once", "two, the second cut within its end"],
)
def test_each_request_is_answered_once_however_its_bytes_arrive(pieces):
    server, transport = StubServer(), Collecting()
    connection = server.connection()
    connection.connection_made(transport)
    for piece in pieces:
        connection.data_received(piece)

    expected = b"".join(pieces).count(REQUEST)
    assert transport.written == REPLY * expected
    assert server.answered == expected


@pytest.mark.parametrize("client", ["aiohttp", "pyreqwest"])
async def test_the_client_reads_what_the_stub_answers(stub, client):
    async with calls(client, stub.url, 4) as call:
        await asyncio.gather(*(call() for _ in range(20)))
    assert stub.answered == 20


async def test_without_a_client_there_is_no_call(stub):
    async with calls("none", stub.url, 4) as call:
        assert call is None


@pytest.mark.parametrize("kind", ["process", "nginx"])
async def test_a_stub_elsewhere_answers_the_same(kind):
    if kind == "nginx" and nginx_program() is None:
        pytest.skip("nginx is not installed")
    with stub_elsewhere(kind) as url:
        async with aiohttp.ClientSession() as session, session.get(f"{url}?v=1") as reply:
            assert (reply.status, await reply.json()) == (200, {})


def test_a_stub_in_the_same_process_has_no_address_yet():
    with stub_elsewhere("same-process") as url:
        assert url == ""
