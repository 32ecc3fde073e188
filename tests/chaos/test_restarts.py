"""A database crashes and comes back, or loses sessions, while instances run: loops survive, and the books balance."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import psycopg
import pymysql
import pytest

from procession.lab._own_server import OwnServer
from procession.lab.mariadb_server import MariadbServer
from procession.lab.postgres_server import PostgresServer
from tests.chaos.books import SHOWN, differences, query
from tests.chaos.herd import Herd
from tests.chaos.ledger import read
from tests.chaos.scene import SEED, active, prepare
from tests.support import mariadb
from tests.support.servers import SERVERS

INSTANCES = int(os.environ.get("CHAOS_RESTART_INSTANCES", "1600"))
RESTARTS = int(os.environ.get("CHAOS_RESTARTS", "2"))
LONGEST_S = 40 + INSTANCES / 40
LOOK_S = 0.05

pytestmark = [pytest.mark.kill, pytest.mark.timeout(LONGEST_S + 60)]


class Running:
    """Two workers and a starter that must outlive whatever happens to the database."""

    def __init__(self, herd: Herd) -> None:
        self.herd = herd
        self.workers = [herd.worker(), herd.worker()]
        self.starter = herd.starter(INSTANCES)
        self.deadline = time.monotonic() + LONGEST_S

    def until_runs(self, count: int) -> None:
        """So many more runs of handlers."""
        goal = len(read(self.herd.runs)) + count
        while len(read(self.herd.runs)) < goal:
            self.look_on("handlers run")

    def look_on(self, what: str) -> None:
        self.herd.check()
        assert time.monotonic() < self.deadline, f"Expected that {what}:\n{self.herd.log('worker')}"
        time.sleep(LOOK_S)

    def end(self) -> None:
        """What was not answered is mended; everything ends; workers that never died stop when they are asked to."""
        while self.starter.poll() is None:
            self.look_on("everything is asked for")
        assert self.starter.returncode == 0, self.herd.log("starter")
        mender = self.herd.starter(INSTANCES, "mend")
        while mender.poll() is None or active(self.herd.url):
            self.look_on("instances end")
        assert mender.returncode == 0, self.herd.log("starter")
        beating = {int(name.rpartition("-")[2]) for (name,) in query(self.herd.url, "select name from {s}node")}
        assert beating >= {worker.pid for worker in self.workers}, "both have come back, the heartbeats too"
        for worker in self.workers:
            assert self.herd.stop(worker) == 0, self.herd.log("worker")


@contextmanager
def running(url: str, folder) -> Iterator[Running]:
    """Programs at work; at the end the books are compared."""
    asyncio.run(prepare(url))
    began = time.monotonic()
    with Herd(url, folder) as herd:
        runs = Running(herd)
        yield runs
        runs.end()
        print(  # noqa: T201 - figures, for whoever runs it with -s
            f"seed {SEED}: {INSTANCES} instances, {len(read(herd.runs))} runs, {time.monotonic() - began:.1f} s"
        )
        found = asyncio.run(differences(url, read(herd.starts), read(herd.runs)))
        assert not found, f"seed {SEED}, {len(found)} differences:\n" + "\n".join(found[:SHOWN])


@pytest.fixture(params=[*SERVERS])
def server(request: pytest.FixtureRequest) -> OwnServer:
    """A durable server of the test's own."""
    return request.getfixturevalue(f"{request.param}_server")


def database_on(server: OwnServer) -> str:
    """The URL of a database on it."""
    if isinstance(server, PostgresServer):
        return server.url()
    assert isinstance(server, MariadbServer)
    with closing(mariadb.connect(server.url())) as connection:
        connection.query("create database chaos")
    return server.url("chaos")


def test_a_database_that_crashes_twice_under_load_loses_nothing(server: OwnServer, tmp_path):
    with running(database_on(server), tmp_path) as runs:
        for _ in range(RESTARTS):
            runs.until_runs(INSTANCES // 4)
            server.restart(immediate=True)


def test_a_database_that_is_killed_and_away_for_a_while_loses_nothing(server: OwnServer, tmp_path):
    with running(database_on(server), tmp_path) as runs:
        runs.until_runs(INSTANCES // 4)
        server.kill()
        until = time.monotonic() + 3  # longer than any heartbeat may be missed
        while time.monotonic() < until:
            runs.look_on("the database is away")
        server.start()


@pytest.fixture(params=[*SERVERS])
def url(request: pytest.FixtureRequest) -> str:
    """A database whose sessions can be ended."""
    return request.getfixturevalue(f"{request.param}_url")


@contextmanager
def ending_sessions(url: str, chance: random.Random) -> Iterator[Callable[[], bool]]:
    """A function that ends one session of ours, whichever; whether there was one."""
    if url.startswith("mysql"):
        with closing(mariadb.connect(url, autocommit=True)) as killer, killer.cursor() as cursor:

            def end_mariadb() -> bool:
                cursor.execute(
                    "select id from information_schema.processlist where db = database() and id <> connection_id()"
                )
                sessions = [number for (number,) in cursor.fetchall()]
                if sessions:
                    with suppress(pymysql.err.OperationalError):  # it has ended by itself
                        cursor.execute(f"kill connection {chance.choice(sessions)}")
                return bool(sessions)

            yield end_mariadb
        return
    with psycopg.connect(url, autocommit=True) as killer:

        def end_postgres() -> bool:
            sessions = killer.execute(
                "select pid from pg_stat_activity where application_name like 'procession%' "
                "and datname = current_database() order by pid"
            ).fetchall()
            if sessions:
                killer.execute("select pg_terminate_backend(%s)", chance.choice(sessions))
            return bool(sessions)

        yield end_postgres


def test_sessions_that_are_ended_one_by_one_lose_nothing(url: str, tmp_path):
    with running(url, tmp_path) as runs, ending_sessions(url, random.Random(SEED)) as end_one:
        ended = 0
        while ended < 60:
            runs.look_on("sessions end")
            ended += bool(active(url)) and end_one()
