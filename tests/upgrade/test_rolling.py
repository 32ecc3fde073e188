"""A program of an earlier version and this one work on the same database, while the tables are brought forward.

The earlier version is a commit of this repository, unpacked beside it; both use the same installed packages. Where the
clone does not reach back so far (a shallow one), the tests are skipped and say so.
"""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from procession import Procession
from tests.support.servers import SERVERS
from tests.support.sources import ROOT
from tests.upgrade.program import MODEL, application


class Earlier(NamedTuple):
    """A commit, and the version of its tables."""

    commit: str
    version: int


# Before forms, the queue's options and what came after them; MariaDB came after those: before failed attempts were kept
# and flows had titles, and before limits were claimed in one order with what has none.
BEFORE_FORMS = Earlier("1f62b040caa7698179a918943263dc44a84e7ba8", 2)
BEFORE_ATTEMPTS = Earlier("c32c48a7d40c902aa174aa132212b31c609b2598", 8)
PROGRAM = Path(__file__).with_name("program.py")
STEPS = 60  # starts of each program after both are at work
LONGEST_S = 90.0


@pytest.fixture
def version(url: str) -> Earlier:
    """The earlier version for this database."""
    return BEFORE_ATTEMPTS if url.startswith("mysql") else BEFORE_FORMS


@pytest.fixture
def earlier(version: Earlier, tmp_path: Path) -> Path:
    """Its sources."""
    packed = subprocess.run(["git", "archive", version.commit, "src"], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        commit = version.commit[:7]
        pytest.skip(f"this clone does not have commit {commit}, whose program is the earlier version: fetch it")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(tmp_path / "earlier", filter="data")
    return tmp_path / "earlier" / "src"


@pytest.fixture(params=["sqlite", *SERVERS])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'both.db'}"
    elif request.param == "postgres":
        yield request.getfixturevalue("bare_postgres_url")
    else:
        databases = request.getfixturevalue("mariadb_databases")
        url = databases.create()
        yield url
        databases.drop(url)


class Running:
    """A program in a process of its own, and what it has said."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said: list[str] = []

    async def until(self, word: str, count: int = 1) -> None:
        """Listen until it has said a word so often from now on."""
        assert self.process.stdout is not None
        async with asyncio.timeout(LONGEST_S):
            while count:
                line = (await self.process.stdout.readline()).decode()
                assert line, f"it ended with {await self.process.wait()}; it said last: {self.said[-5:]}"
                self.said.append(line.strip())
                count -= line.startswith(word)

    def keys(self) -> list[int]:
        return [int(line.split()[1]) for line in self.said if line.startswith("started")]


@asynccontextmanager
async def running(sources: Path, url: str, name: str, program: Path = PROGRAM) -> AsyncIterator[Running]:
    """A program of the version whose sources these are."""
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(program), url, name),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def migrate_by(sources: Path, url: str) -> None:
    """Bring the tables to the version of these sources."""
    code = "import asyncio, sys; from procession import Procession; asyncio.run(Procession(sys.argv[1]).migrate())"
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    subprocess.run([sys.executable, "-c", code, url], env=environment, check=True, timeout=60)


async def test_the_earlier_program_goes_on_while_this_one_migrates_and_both_share_the_work(
    earlier: Path, version: Earlier, url: str
):
    await asyncio.to_thread(migrate_by, earlier, url)
    async with running(earlier, url, "earlier") as old:
        await old.until("ready")
        await old.until("started", 20)
        app = application(url, "later")
        assert (await app.schema_version())[0] == version.version
        await app.migrate()
        await app.open()
        await app.deploy(("order.bpmn", MODEL))
        keys = [await app.start("order", {"by": "later"}) for _ in range(STEPS)]
        await old.until("started", STEPS)
        old.process.terminate()
        await old.until("stopped")
        assert await old.process.wait() == 0
        keys += old.keys()
        ended = await asyncio.gather(*(app.wait(key, timeout=LONGEST_S) for key in keys))
        assert {each.state for each in ended} == {"COMPLETED"}
        assert await app.incidents() == []
        workers = {name for key in keys for name in (await app.instance(key)).variables if "_by_" in name}
        assert {"packed_by_earlier", "packed_by_later"} <= workers, "both have worked"
        await app.close()


async def test_the_earlier_program_does_not_begin_on_later_tables_and_says_why(
    earlier: Path, version: Earlier, url: str
):
    await Procession(url).migrate()
    async with running(earlier, url, "earlier") as old:
        with pytest.raises(AssertionError):
            await old.until("ready")
    why = f"this program knows versions up to {version.version}: update this program"
    assert any(why in line for line in old.said)
