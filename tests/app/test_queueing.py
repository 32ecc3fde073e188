"""Jobs of no process: alone, many at once, later, and in the caller's own transaction with every kind of connection."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from procession import Procession, Settings
from procession.errors import Conflict, InvalidValue, Misconfigured, NotFound
from procession.limits import ENQUEUE_MAX
from procession.testing import Rehearsal
from tests.app.callers import ON_MARIADB, ON_POSTGRES, ON_SQLITE, Open, Undo


@dataclass
class Letter:
    to: str
    copies: int = 1


class Post:
    """An application that sends letters, and what it has sent."""

    def __init__(self, url: str, **options: object) -> None:
        self.app = Procession(url, **options)
        self.sent: Counter[str] = Counter()

        @self.app.job("send", queue="mail", retries=2, backoff="0s")
        async def send(to: str, copies: int = 1) -> None:
            self.sent[to] += copies
            if to == "nobody":
                raise ConnectionError("there is nobody")


@pytest.fixture(params=["memory", "sqlite", "postgres", "mariadb"])
def url(request, tmp_path: Path) -> str:
    match request.param:
        case "memory":
            return "memory://"
        case "sqlite":
            return f"sqlite:///{tmp_path / 'post.db'}"
        case server:
            return request.getfixturevalue(f"{server}_url")


@pytest.fixture
async def post(url: str) -> AsyncIterator[Post]:
    made = Post(url)
    await made.app.open(run_workers=False, migrate=True)
    yield made
    await made.app.close()


async def test_a_job_runs_with_its_arguments_and_is_gone(post: Post):
    first = await post.app.enqueue("send", {"to": "Ada"})
    second = await post.app.enqueue("send", Letter("Grace", 2))
    assert (first.type, first.queue) == ("send", "mail")
    assert first.job_key < second.job_key
    await post.app.run_until_idle()
    assert post.sent == {"Ada": 1, "Grace": 2}
    assert await post.app.jobs() == []


async def test_many_are_inserted_together_and_answered_in_order(post: Post):
    enqueued = await post.app.enqueue_many("send", [{"to": str(number)} for number in range(300)])
    rows = {job.job_key for job in await post.app.jobs(queue="mail", limit=1_000)}
    assert [job.job_key for job in enqueued] == sorted(rows)
    await post.app.run_until_idle()
    assert len(post.sent) == 300
    assert await post.app.enqueue_many("send", []) == []


async def test_a_failed_job_has_its_attempts_and_is_kept(post: Post):
    job = await post.app.enqueue("send", {"to": "nobody"})
    other = await post.app.enqueue("send", {"to": "nobody"}, retries=1)
    await post.app.run_until_idle()
    assert post.sent["nobody"] == 3
    kept = {row.job_key: row.state for row in await post.app.jobs()}
    assert kept == {job.job_key: "FAILED", other.job_key: "FAILED"}


async def test_a_failed_job_starts_over_and_a_waiting_one_is_deleted(post: Post):
    failed = await post.app.enqueue("send", {"to": "nobody"})
    waiting = await post.app.enqueue("send", {"to": "later"}, delay="1h")
    await post.app.run_until_idle()
    await post.app.requeue(failed.job_key, retries=1)
    await post.app.delete_job(waiting.job_key, reason="nobody wants it")
    await post.app.run_until_idle()
    assert post.sent == {"nobody": 3}
    (left,) = await post.app.jobs()
    assert (left.job_key, left.state) == (failed.job_key, "FAILED")
    await post.app.delete_job(failed.job_key)
    assert await post.app.jobs() == []
    for verb in (post.app.requeue, post.app.delete_job):
        with pytest.raises(NotFound, match="Expected a job with key 77"):
            await verb(77)
    ready = await post.app.enqueue("send", {"to": "a"}, queue="elsewhere")
    with pytest.raises(Conflict, match="to be failed or scheduled, and of no process, found it READY"):
        await post.app.requeue(ready.job_key)


async def test_a_scheduled_job_is_due_when_it_is_requeued(post: Post):
    job = await post.app.enqueue("send", {"to": "Ada"}, delay="1h")
    await post.app.requeue(job.job_key)
    await post.app.run_until_idle()
    assert post.sent == {"Ada": 1}


async def test_options_are_what_the_row_has(post: Post):
    later = datetime.now(UTC) + timedelta(days=1)
    await post.app.enqueue("send", {"to": "a"}, queue="slow", priority=7, retries=9)
    await post.app.enqueue("send", {"to": "b"}, delay="2h")
    await post.app.enqueue("send", {"to": "c"}, at=later)
    await post.app.enqueue("send", {"to": "d"}, at=later - timedelta(days=2))
    slow, delayed, dated, overdue = await post.app.jobs()
    assert (slow.queue, slow.priority, slow.retries, slow.state) == ("slow", 7, 9, "READY")
    assert (delayed.state, dated.state, overdue.state) == ("SCHEDULED", "SCHEDULED", "READY")
    assert timedelta(minutes=115) < delayed.run_at - datetime.now(UTC) <= timedelta(hours=2)
    assert abs(dated.run_at - later) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"type": ""}, "the type of a job"),
        ({"type": "send", "args": "Ada"}, "the arguments of a job to be an object"),
        ({"type": "send", "args": {"n": float("nan")}}, "the arguments of a job"),
        ({"type": "send", "queue": "$timer"}, "those that begin with '\\$' are the engine's own"),
        ({"type": "send", "priority": 2**31}, "priority"),
        ({"type": "send", "retries": -1}, "retries"),
        ({"type": "send", "retries": 0}, "retries to be a whole number from 1"),
        ({"type": "send", "retries": 0, "title": "t"}, "retries to be a whole number from 1"),
        ({"type": "send", "delay": "soon"}, "delay"),
        ({"type": "send", "at": datetime(2026, 1, 1)}, "aware datetime"),  # noqa: DTZ001 - what is refused
        ({"type": "send", "at": datetime.now(UTC), "delay": 1}, "either at= or delay="),
    ],
)
async def test_what_cannot_be_meant_is_refused_by_name(options: dict, message: str):
    async with Procession("memory://") as app:
        with pytest.raises(InvalidValue, match=message):
            await app.enqueue(options.pop("type"), **options)
        with pytest.raises(InvalidValue, match=f"at most {ENQUEUE_MAX} jobs"):
            await app.enqueue_many("send", [None] * (ENQUEUE_MAX + 1))
        assert await app.jobs() == []


# -- in the caller's transaction ----------------------------------------------------------------------------------


async def both_ends_and_savepoints(url: str, connect: Open) -> None:
    post = Post(url)
    app = await post.app.open(run_workers=False, migrate=True)
    async with connect(url) as caller:
        await app.enqueue("send", {"to": "undone"}, connection=caller.connection)
        await caller.rollback()
    async with connect(url) as caller:
        kept = await app.enqueue("send", {"to": "Ada", "copies": 3}, priority=5, connection=caller.connection)
        with suppress(Undo):
            async with caller.savepoint():
                await app.enqueue("send", {"to": "undone, deeper"}, connection=caller.connection)
                raise Undo
        async with caller.savepoint():
            many = await app.enqueue_many(
                "send", [{"to": "a 'quoted' %s :name \\ ü"}, {"to": "b"}], delay="1h", connection=caller.connection
            )
        assert await app.jobs() == []
        await caller.commit()
    rows = {row.job_key: row for row in await app.jobs()}
    assert rows.keys() == {kept.job_key, *(job.job_key for job in many)}
    assert (rows[kept.job_key].state, rows[kept.job_key].priority, rows[kept.job_key].retries) == ("READY", 5, 2)
    assert {rows[job.job_key].state for job in many} == {"SCHEDULED"}
    await app.run_until_idle()
    assert post.sent == {"Ada": 3}
    await app.close()


@pytest.mark.parametrize("connect", ON_POSTGRES)
async def test_on_postgresql_a_job_follows_the_callers_transaction(postgres_url: str, connect: Open):
    await both_ends_and_savepoints(postgres_url, connect)


@pytest.mark.parametrize("connect", ON_SQLITE)
async def test_on_sqlite_a_job_follows_the_callers_transaction(tmp_path: Path, connect: Open):
    await both_ends_and_savepoints(f"sqlite:///{tmp_path / 'post.db'}", connect)


@pytest.mark.parametrize("connect", ON_MARIADB)
async def test_on_mariadb_a_job_follows_the_callers_transaction(mariadb_url: str, connect: Open):
    await both_ends_and_savepoints(mariadb_url, connect)


async def test_ten_thousand_in_a_callers_transaction_are_one_statement(tmp_path: Path):
    post = Post(f"sqlite:///{tmp_path / 'post.db'}")
    async with post.app as app:
        with closing(sqlite3.connect(tmp_path / "post.db")) as connection:
            statements: list[str] = []
            connection.set_trace_callback(statements.append)
            many = await app.enqueue_many(
                "send", [{"to": str(n)} for n in range(ENQUEUE_MAX)], delay="1h", connection=connection
            )
            connection.commit()
        assert len(many) == ENQUEUE_MAX
        assert [sql.split()[0] for sql in statements] == ["pragma", "BEGIN", "INSERT", "COMMIT"]
        assert (await app.count_jobs())["mail", "SCHEDULED"] == ENQUEUE_MAX


async def test_the_commit_wakes_the_workers_of_the_queue(tmp_path: Path):
    rarely = 600_000
    settings = Settings(claim_poll_ms_min=rarely, claim_poll_ms_max=rarely, check_ms=rarely)
    post = Post(f"sqlite:///{tmp_path / 'post.db'}", settings=settings)
    arrived = asyncio.Event()

    @post.app.job("ring")
    async def ring() -> None:
        arrived.set()

    async with post.app as app:
        with closing(sqlite3.connect(tmp_path / "post.db")) as connection:
            await app.enqueue("ring", connection=connection)
            assert not arrived.is_set()
            connection.commit()
            await asyncio.wait_for(arrived.wait(), 30)


def test_the_synchronous_face_enqueues_in_the_callers_thread_and_transaction(tmp_path: Path):
    post = Post(f"sqlite:///{tmp_path / 'post.db'}")
    with post.app.sync as procession, closing(sqlite3.connect(tmp_path / "post.db")) as connection:
        with connection:
            job = procession.enqueue("send", {"to": "Ada"}, connection=connection)
            assert procession.jobs() == []
        more = procession.enqueue_many("send", [{"to": "b"}, {"to": "c"}])
        assert {row.job_key for row in procession.jobs()} == {job.job_key, *(each.job_key for each in more)}


async def test_in_memory_there_is_no_transaction_of_the_callers():
    async with Procession("memory://") as app:
        with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(Misconfigured, match="memory store"):
            await app.enqueue("send", connection=connection)


# -- rehearsed ----------------------------------------------------------------------------------------------------


async def test_a_rehearsal_shows_what_was_enqueued_and_runs_it(tmp_path: Path):
    post = Post(f"sqlite:///{tmp_path / 'post.db'}")
    async with Rehearsal(post.app, inline=True) as rehearsal:
        with closing(sqlite3.connect(":memory:")) as connection:
            await post.app.enqueue("send", {"to": "Ada", "copies": 2}, connection=connection)
        assert post.sent == {"Ada": 2}
        await post.app.enqueue("send", {"to": "Grace"}, delay="1h")
        (job,) = rehearsal.assert_enqueued("send", args={"to": "Grace"}, queue="mail", count=1)
        assert job.due - rehearsal.now == timedelta(hours=1)
        rehearsal.assert_enqueued("send", count=2)
        rehearsal.assert_not_enqueued("send", args={"to": "Grace", "copies": 2})
        with pytest.raises(AssertionError, match=r"with type 'send', args \{'to': 'Nobody'\}, found 0"):
            rehearsal.assert_enqueued("send", args={"to": "Nobody"})
        await rehearsal.advance("1h")
        assert post.sent["Grace"] == 1
