"""The help is quick: it loads no driver, no server, no event loop, and nothing that decides about a process."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "asyncio",
    "ssl",
    "sqlite3",
    "asyncpg",
    "psycopg",
    "asyncmy",
    "pymysql",
    "aiohttp",
    "starlette",
    "granian",
    "uvicorn",
    "grpc",
    "lxml",
    "uvloop",
    "procession.api",
    "procession.app",
    "procession.core",
    "procession.dmn",
    "procession.engine",
    "procession.explorer",
    "procession.feel",
    "procession.lab",
    "procession.model",
    "procession.store",
    "procession.worker",
)
LOADED = """
import contextlib, io, sys
from procession.cli import main
sys.argv = ["procession", *sys.argv[1:]]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as said:
    main()
assert "Usage" in said.getvalue(), said.getvalue()
print(*sorted(sys.modules), sep="\\n")
"""


@pytest.mark.parametrize("command", [["--help"], ["batch", "--help"], ["tasks", "--help"], ["work", "--help"]])
def test_help_loads_nothing_heavy(command: list[str]):
    done = subprocess.run([sys.executable, "-c", LOADED, *command], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint(HEAVY), f"load these where they are used: {sorted(loaded.intersection(HEAVY))}"
    assert "procession.cli.program" in loaded
