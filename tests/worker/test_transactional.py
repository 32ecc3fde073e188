"""What a transactional handler writes is committed with the end of its job, or not at all; on each database."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncmy
import psycopg
import pytest

from procession import BpmnError, Fail, Job, Procession, Settings
from procession.errors import Misconfigured
from procession.jobs.kinds import JobKind
from procession.store.rows import NewJob
from procession.testing.bpmn import process
from tests.support import mariadb
from tests.support.servers import SERVERS
from tests.support.sources import ROOT

ORDER = (
    process("order")
    .start()
    .service("book", type="book", retries=2)
    .user("look")
    .end()
    .boundary("refused", on="book", error="no-room")
    .end("sent-back")
)
BOOKED = process("booked").start().service("book", type="book").end()
STEPS = process("steps").start().task("price").task("note").service("ship", type="ship").end()
KILLED = 137


class Books:
    """The business table of the database of an application, on connections of its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._run("create table booking (number int primary key, job bigint)")

    def rows(self) -> list[int]:
        return [row[0] for row in self._run("select number from booking order by number")]

    def _run(self, sql: str) -> list[Any]:
        if self.url.startswith("sqlite"):
            with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=30)) as connection, connection:
                return connection.execute(sql).fetchall()
        if self.url.startswith("mysql"):
            with closing(mariadb.connect(self.url, autocommit=True)) as connection, connection.cursor() as cursor:
                cursor.execute(sql)
                return list(cursor.fetchall())
        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []


async def book(job: Job, number: int) -> None:
    """Write a row in the transaction of the job."""
    if isinstance(job.connection, sqlite3.Connection):
        job.connection.execute("insert into booking values (?, ?)", (number, job.key))
    elif isinstance(job.connection, asyncmy.connection.Connection):
        async with job.connection.cursor() as cursor:
            await cursor.execute("insert into booking values (%s, %s)", (number, job.key))
    else:
        await job.connection.execute("insert into booking values ($1, $2)", number, job.key)


async def say(job: Job, sql: str) -> None:
    """A statement without values in the transaction of the job."""
    if isinstance(job.connection, sqlite3.Connection):
        job.connection.execute(sql)
    elif isinstance(job.connection, asyncmy.connection.Connection):
        await job.connection.query(sql)
    else:
        await job.connection.execute(sql)


@pytest.fixture(params=["sqlite", *SERVERS])
def url(request, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'books.db'}"
        return
    url = request.getfixturevalue(f"{request.param}_url")
    yield url
    if request.param == "mariadb":  # its databases are lent again
        with closing(mariadb.connect(url, autocommit=True)) as connection:
            connection.query("drop table if exists booking")


@pytest.fixture
def books(url: str) -> Books:
    return Books(url)


@pytest.fixture
async def app(url: str) -> AsyncIterator[Procession]:
    """Closed at the end; each test registers its handlers and opens it."""
    made = Procession(url)
    yield made
    await made.close()


async def opened(app: Procession) -> Procession:
    await app.open(run_workers=False, migrate=True)
    await app.deploy(("order.bpmn", ORDER.xml()), ("steps.bpmn", STEPS.xml()))
    return app


async def at(app: Procession, key: int) -> list[str]:
    return [element.element_id for element in (await app.instance(key)).elements]


async def test_the_row_and_the_step_are_there_together(app: Procession, books: Books):
    seen: list[list[int]] = []

    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> dict:
        await book(job, number)
        seen.append(books.rows())
        return {"booked": number}

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    assert seen == [[]], "nobody sees it before the commit"
    assert books.rows() == [7]
    assert await at(app, key) == ["look"]
    assert (await app.instance(key)).variables["booked"] == 7


async def test_an_exception_takes_the_row_back_and_the_next_attempt_writes_it_once(app: Procession, books: Books):
    attempts: list[int] = []

    @app.job("book", transactional=True, backoff="0s")
    async def handler(job: Job, number: int) -> None:
        attempts.append(job.attempt)
        await book(job, number)
        if job.attempt == 1:
            raise ConnectionError("the other side did not answer")

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    assert (attempts, books.rows(), await at(app, key)) == ([1, 2], [7], ["look"])


async def test_an_outcome_takes_the_row_back(app: Procession, books: Books):
    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> Fail:
        await book(job, number)
        return Fail("there is no room")

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    (incident,) = await app.incidents(process_instance_key=key)
    assert "there is no room" in incident.error_message
    assert books.rows() == []


async def test_a_bpmn_error_takes_the_row_back_and_goes_its_modelled_way(app: Procession, books: Books):
    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> None:
        await book(job, number)
        raise BpmnError("no-room")

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    passed = [event.element_id for event in await app.history(key) if event.event == "passed"]
    assert "sent-back" in passed
    assert books.rows() == []


async def test_a_result_that_cannot_be_stored_takes_the_row_back(app: Procession, books: Books):
    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> dict:
        await book(job, number)
        return {"text": "a NUL: \0"}

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    assert len(await app.incidents(process_instance_key=key)) == 1
    assert books.rows() == []


async def test_another_writer_of_the_instance_costs_neither_the_row_nor_the_step(
    app: Procession, books: Books, url: str
):
    if url.startswith("sqlite"):
        pytest.skip("on SQLite nobody else writes while a handler's transaction lasts")
    other = await Procession(url).open(run_workers=False, migrate=True)
    calls: list[int] = []

    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> dict:
        calls.append(number)
        await book(job, number)
        await other.set_variables(job.process_instance_key, {"noted": True})  # another process: this step is stale now
        return {"booked": number}

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    variables = (await app.instance(key)).variables
    assert (calls, books.rows(), await at(app, key)) == ([7], [7], ["look"])
    assert (variables["noted"], variables["booked"]) == (True, 7)
    await other.close()


def take_away(url: str, key: int) -> None:
    """Make a job ready again, by hand."""
    if url.startswith("mysql"):
        with closing(mariadb.connect(url, autocommit=True)) as connection, connection.cursor() as cursor:
            cursor.execute("update procession_job set state = 0, owner = 0, lease = lease + 1 where `key` = %s", (key,))
        return
    with psycopg.connect(url) as connection:
        connection.execute(
            "update procession.job set state = 0, owner = null, lease = lease + 1 where key = %s", (key,)
        )


async def test_a_lease_that_was_lost_takes_the_row_back(app: Procession, books: Books, url: str):
    if url.startswith("sqlite"):
        pytest.skip("on SQLite nobody else writes while a handler's transaction lasts")
    runs: list[int] = []

    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> None:
        runs.append(job.lease)
        await book(job, number)
        if len(runs) == 1:  # others think this process dead, and give its job to somebody else
            take_away(url, job.key)

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    assert len(runs) == 2
    assert (books.rows(), await at(app, key)) == ([7], ["look"])


async def test_an_instance_that_is_cancelled_meanwhile_takes_the_row_back(app: Procession, books: Books, url: str):
    if url.startswith("sqlite"):
        pytest.skip("on SQLite nobody else writes while a handler's transaction lasts")
    other = await Procession(url).open(run_workers=False, migrate=True)

    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> None:
        await book(job, number)
        await other.cancel(job.process_instance_key)

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    assert (await app.instance(key)).instance.state == "TERMINATED"
    assert (books.rows(), await app.jobs()) == ([], [])
    await other.close()


async def test_a_constraint_that_is_looked_at_by_the_commit_uses_an_attempt(postgres_url: str):
    app = Procession(postgres_url)
    attempts: list[int] = []

    @app.job("book", transactional=True, retries=2, backoff="0s")
    async def handler(job: Job, number: int) -> None:
        attempts.append(job.attempt)
        await job.connection.execute("insert into child values (1)")

    with psycopg.connect(postgres_url) as connection:
        connection.execute("create table parent (id int primary key)")
        connection.execute("create table child (id int references parent deferrable initially deferred)")
    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    (incident,) = await app.incidents(process_instance_key=key)
    assert attempts == [1, 2]
    assert "foreign key" in incident.error_message
    await app.close()


async def test_a_handler_that_ends_the_transaction_itself_is_told_and_tried_again(app: Procession, books: Books):
    attempts: list[int] = []

    @app.job("book", transactional=True, backoff="0s")
    async def handler(job: Job, number: int) -> None:
        attempts.append(job.attempt)
        if job.attempt == 1:
            await say(job, "commit")
        else:
            await book(job, number)

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    assert (attempts, books.rows(), await at(app, key)) == ([1, 2], [7], ["look"])


async def test_a_savepoint_of_the_handlers_is_its_own(app: Procession, books: Books, url: str):
    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> None:
        await book(job, number)
        await say(job, "savepoint mine")
        await book(job, number + 1)
        await say(job, "rollback to savepoint mine")

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    assert (books.rows(), await at(app, key)) == ([7], ["look"])


# -- methods ------------------------------------------------------------------------------------------------------


async def test_methods_in_a_row_share_the_transaction_of_their_step(app: Procession, books: Books):
    fails = [True]

    @app.method("price", transactional=True)
    async def price(job: Job, number: int) -> dict:
        await book(job, number)
        return {"priced": True}

    @app.method("note", transactional=True, backoff="0s")
    async def note(job: Job, number: int) -> None:
        await book(job, number + 1)
        if fails:
            fails.pop()
            raise ConnectionError("the whole step is tried again")

    await app.open(run_workers=False, migrate=True)
    await app.deploy(("steps.bpmn", STEPS.xml()))
    key = await app.start("steps", {"number": 7})
    await app.run_until_idle()
    assert (books.rows(), await at(app, key)) == ([7, 8], ["ship"])


async def test_methods_without_it_run_beside_those_with_it(app: Procession, books: Books):
    connections: list[object] = []

    @app.method("price")
    def price(job: Job) -> None:
        connections.append(job.connection)

    @app.method("note", transactional=True)
    async def note(job: Job, number: int) -> None:
        await book(job, number)

    await app.open(run_workers=False, migrate=True)
    await app.deploy(("steps.bpmn", STEPS.xml()))
    keys = [await app.start("steps", {"number": number}) for number in range(5)]
    await app.run_until_idle()
    assert connections == [None] * 5
    assert books.rows() == [0, 1, 2, 3, 4]
    assert [await at(app, key) for key in keys] == [["ship"]] * 5


# -- plain jobs ---------------------------------------------------------------------------------------------------


async def test_a_plain_job_goes_with_the_row_that_it_has_written(app: Procession, books: Books):
    runs: list[int] = []

    @app.job("book", transactional=True, backoff="0s")
    async def handler(job: Job, number: int) -> None:
        runs.append(job.attempt)
        await book(job, number)
        if job.attempt == 1:
            raise ConnectionError("again")

    await opened(app)
    engine = app._engine
    (key,) = await engine.take_keys(1)
    await engine.enqueue(
        [NewJob(key=key, kind=JobKind.TASK, queue="default", type="book", retries=3, args=b'{"number": 7}')]
    )
    await app.run_until_idle()
    assert (runs, books.rows(), await app.jobs()) == ([1, 2], [7], [])


# -- where it runs ------------------------------------------------------------------------------------------------


async def test_a_plain_function_may_write_on_sqlite_and_is_refused_on_servers(app: Procession, books: Books, url: str):
    @app.job("book", transactional=True)
    def handler(job: Job, number: int) -> None:
        job.connection.execute("insert into booking values (?, ?)", (number, job.key))

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    incidents = await app.incidents(process_instance_key=key)
    if url.startswith("sqlite"):
        assert (incidents, books.rows(), await at(app, key)) == ([], [7], ["look"])
    else:
        assert "to be a coroutine function" in incidents[0].error_message
        assert books.rows() == []


async def test_in_memory_there_is_no_connection_and_the_step_is_as_always():
    app = Procession("memory://")
    seen: list[object] = []

    @app.job("book", transactional=True)
    async def handler(job: Job) -> None:
        seen.append(job.connection)

    await opened(app)
    key = await app.start("order", {"number": 7})
    await app.run_until_idle()
    assert (seen, await at(app, key)) == ([None], ["look"])
    await app.close()


def test_it_needs_the_job_and_this_process():
    app = Procession("memory://")
    with pytest.raises(Misconfigured, match="a parameter annotated Job for transactional=True"):

        @app.job("book", transactional=True)
        async def handler(number: int) -> None: ...

    with pytest.raises(Misconfigured, match="found process=True"):

        @app.job("book", transactional=True, process=True)
        def in_a_process(job: Job) -> None: ...


async def test_many_at_once_are_all_committed_and_give_their_connections_back(app: Procession, books: Books):
    @app.job("book", transactional=True, concurrency=50)
    async def handler(job: Job, number: int) -> None:
        await book(job, number)

    await app.open(migrate=True)
    await app.deploy(("booked.bpmn", BOOKED.xml()))
    keys = await asyncio.gather(*(app.start("booked", {"number": number}) for number in range(100)))
    await asyncio.gather(*(app.wait(key, timeout=90) for key in keys))
    assert books.rows() == list(range(100))


# -- a process that dies ------------------------------------------------------------------------------------------

QUICK = Settings(
    heartbeat_ms=200,
    heartbeat_missed_max=4,
    dead_after_ms=1_200,
    lead_term_ms=600,
    promote_poll_ms_max=200,
    claim_poll_ms_max=200,
    crash_backoff_ms=100,
)


def application(url: str, *, dies: str = "") -> Procession:
    """Books, and in one of the ways of ``dies`` is killed meanwhile."""
    app = Procession(url, settings=QUICK)

    @app.job("book", transactional=True)
    async def handler(job: Job, number: int) -> None:
        await book(job, number)
        if dies == "after the row":
            os.kill(os.getpid(), signal.SIGKILL)
        if dies == "at the commit":
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGKILL)

    return app


@pytest.mark.kill
@pytest.mark.parametrize("dies", ["after the row", "at the commit"])
async def test_a_process_that_is_killed_leaves_neither_row_nor_step_and_another_makes_both_once(
    books: Books, url: str, dies: str
):
    starter = await Procession(url).open(run_workers=False, migrate=True)
    await starter.deploy(("booked.bpmn", BOOKED.xml()))
    keys = [await starter.start("booked", {"number": number}) for number in range(3)]
    command = [sys.executable, "-m", "tests.worker.test_transactional", url, dies]
    killed = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    async with application(url):
        await asyncio.gather(*(starter.wait(key, timeout=60) for key in keys))
    assert books.rows() == [0, 1, 2]
    assert await starter.incidents() == []
    await starter.close()


if __name__ == "__main__":
    asyncio.run(application(sys.argv[1], dies=sys.argv[2]).run())
