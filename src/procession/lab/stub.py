"""The two REST calls: a stub that answers `GET /test.json?v=...` with a static `{}`, and the client that calls it.

The stub is part of the benchmark and as lean as it can be, so that it is not what is measured. The client is a normal
one, as a user would use: aiohttp, or pyreqwest, whose work is done by compiled code in threads of its own.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

import aiohttp
from pyreqwest.client import ClientBuilder

from procession.errors import Misconfigured, Unavailable
from procession.lab.options import Client, Stub

REPLY: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
END_OF_REQUEST: Final = b"\r\n\r\n"
START_S_MAX: Final = 10.0

Call = Callable[[], Awaitable[None]]

_NGINX: Final = """daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/log;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 100000000;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  server {{
    listen 127.0.0.1:{port};
    location = /test.json {{ default_type application/json; return 200 '{{}}'; }}
  }}
}}
"""


class StubServer:
    """The stub within an event loop; `answered` counts its requests."""

    def __init__(self) -> None:
        self.answered = 0
        self.url = ""
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen on a free port of loopback."""
        self._server = await asyncio.get_running_loop().create_server(self.connection, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/test.json"

    def connection(self) -> asyncio.Protocol:
        """What answers on one connection."""
        return _Connection(self)

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()


class _Connection(asyncio.Protocol):
    """One connection: a reply per request, however the bytes arrive."""

    def __init__(self, server: StubServer) -> None:
        self._server = server
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # uvloop's is none by its classes

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        count = data.count(END_OF_REQUEST)
        self._rest = b"" if data.endswith(END_OF_REQUEST) else data[data.rfind(END_OF_REQUEST) + 4 if count else 0 :]
        if count:
            self._server.answered += count
            self._transport.write(REPLY * count)


@asynccontextmanager
async def calls(client: Client, url: str, connections: int) -> AsyncGenerator[Call | None, None]:
    """One call of the client, as a function; None where no call is asked for."""
    if client == "none":
        yield None
    elif client == "aiohttp":
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=connections)) as session:

            async def call() -> None:
                async with session.get(url, params={"v": random.getrandbits(40)}) as reply:
                    await reply.json()

            yield call
    else:
        async with ClientBuilder().max_connections(connections).build() as requests:

            async def call() -> None:
                reply = await requests.get(url).query({"v": str(random.getrandbits(40))}).build().send()
                await reply.json()

            yield call


def nginx_program() -> str | None:
    """Where nginx is, also in the folders that only administrators have in their path."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def stub_elsewhere(stub: Stub) -> Generator[str, None, None]:
    """A stub outside the measured process, as long as needed: its URL; empty for one in the same process."""
    if stub == "same-process":
        yield ""
    elif stub == "process":
        with _python_stub() as url:
            yield url
    else:
        with _nginx() as url:
            yield url


@contextmanager
def _python_stub() -> Generator[str, None, None]:
    command = [sys.executable, "-m", "procession.lab.stub_process"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().decode().strip()
        process.stdin.close()  # the end of the stream is the order to stop


@contextmanager
def _nginx() -> Generator[str, None, None]:
    program = nginx_program()
    if program is None:
        message = "Expected nginx to be installed for --stub nginx, found no such program; use --stub process"
        raise Misconfigured(message)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory(prefix="procession-nginx-") as folder:
        Path(folder, "conf").write_text(_NGINX.format(folder=folder, port=port))
        with subprocess.Popen([program, "-c", f"{folder}/conf", "-p", folder], start_new_session=True) as process:
            try:
                url = f"http://127.0.0.1:{port}/test.json"
                _await_listening(url, process)
                yield url
            finally:
                process.terminate()


def _await_listening(url: str, process: subprocess.Popen[bytes]) -> None:
    """Return when connections are accepted. Raises Unavailable."""
    parts = urlsplit(url)
    for _ in range(int(START_S_MAX / 0.05)):
        with socket.socket() as probe:
            probe.settimeout(0.05)
            if probe.connect_ex((parts.hostname or "", parts.port or 0)) == 0:
                return
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        break
    message = f"nginx did not start to listen within {START_S_MAX:g} s"
    raise Unavailable(message)
