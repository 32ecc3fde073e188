"""The server that benchmarks and tests run on: it keeps what it promised, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import asyncpg
import psutil
import psycopg
import pytest

from procession.errors import Misconfigured, Unavailable
from procession.lab import _postgres_programs
from procession.lab.postgres_server import PostgresServer
from tests.support.postgres import database_of

END_S_MAX = 30

OWNER = """
import sys
from procession.lab.postgres_server import PostgresServer
server = PostgresServer(durable=False)
server.start()
print(server.pid, server.directory, flush=True)
sys.stdin.read()
"""


def one(url: str, statement: str):
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()
    return row[0] if row else None


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def await_end(pid: int) -> None:
    """Return when a process that is not our child has ended."""
    if not is_alive(pid):
        return
    psutil.Process(pid).wait(timeout=END_S_MAX)


@pytest.mark.parametrize("end", ["stop", "stop at once", "kill"])
def test_a_durable_server_keeps_what_was_committed(postgres_server, end):
    url = postgres_server.url()
    execute(url, "create table kept (value int); insert into kept values (7)")
    {
        "stop": postgres_server.stop,
        "stop at once": lambda: postgres_server.stop(immediate=True),
        "kill": postgres_server.kill,
    }[end]()
    assert not postgres_server.is_running
    with pytest.raises(psycopg.OperationalError):
        one(url, "select 1")

    postgres_server.start()

    assert postgres_server.url() == url
    assert one(url, "select value from kept") == 7
    assert one(url, "show fsync") == "on"


def test_a_kill_ends_every_process_of_the_server(postgres_server):
    processes = [psutil.Process(postgres_server.pid), *psutil.Process(postgres_server.pid).children(recursive=True)]
    assert len(processes) > 3

    postgres_server.kill()

    assert not [process.pid for process in processes if is_alive(process.pid)]


def test_a_restart_ends_the_sessions_and_keeps_the_url(postgres_server):
    url = postgres_server.url()
    with psycopg.connect(url) as connection:
        postgres_server.restart()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
    assert one(url, "select 1") == 1


def test_settings_given_win_over_ours(make_postgres_server):
    server = make_postgres_server(durable=False, settings={"shared_buffers": "64MB", "fsync": "on"})
    assert one(server.url(), "show shared_buffers") == "64MB"
    assert one(server.url(), "show fsync") == "on"
    assert one(server.url(), "show full_page_writes") == "off"


def test_a_setting_that_postgresql_refuses_is_reported_with_its_words():
    server = PostgresServer(settings={"shared_buffers": "much"})
    with pytest.raises(Unavailable, match=r'invalid value for parameter "shared_buffers": "much"'):
        server.start()
    assert not server.is_running
    directory = server.directory
    server.close()
    assert not directory.exists()


def test_the_server_never_runs_as_root(postgres_databases):
    assert psutil.Process(postgres_databases.server.pid).uids().effective != 0


def test_a_stranger_without_the_password_is_refused(postgres_databases):
    url = postgres_databases.server.url()
    password = url.split(":")[2].split("@")[0]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        one(url.replace(password, "guess"), "select 1")


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_the_server_and_its_folder_go_with_an_owner_that_is_killed(ending):
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout
        pid, directory = owner.stdout.readline().split()
        supervisor = psutil.Process(int(pid)).ppid()
        assert is_alive(int(pid))
        owner.send_signal(ending)
        owner.wait()

    await_end(supervisor)

    assert not is_alive(int(pid))
    assert not Path(directory).exists()


def test_programs_in_a_folder_that_the_user_cannot_enter_are_copied(tmp_path, monkeypatch):
    if os.geteuid() != 0:
        pytest.skip("only root runs PostgreSQL as somebody else")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    installed = _postgres_programs._installed_package()
    for name in (installed.name, f"{installed.name}.libs"):
        (closed / name).symlink_to(installed.with_name(name))
    monkeypatch.setattr(_postgres_programs, "_installed_package", lambda: closed / installed.name)

    with PostgresServer(durable=False) as server:
        assert (server.directory / "programs").is_dir()
        assert one(server.url(), "show server_version_num").startswith("18")


def test_missing_programs_are_named_with_the_way_to_get_them(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(Misconfigured, match=r"pip install 'procession\[bench\]'"):
        PostgresServer().start()


def test_a_server_that_was_never_started_has_no_folder():
    with pytest.raises(Unavailable, match="call start"):
        _ = PostgresServer().directory


async def test_each_test_has_an_empty_database_of_its_own(bare_postgres_url, postgres_databases):
    connection = await asyncpg.connect(bare_postgres_url)
    try:
        assert await connection.fetchval("select current_database()") == database_of(bare_postgres_url)
        assert await connection.fetchval("select count(*) from pg_tables where schemaname = 'public'") == 0
        await connection.execute("create table mine (value int)")
    finally:
        await connection.close()
    other = postgres_databases.create()
    copy = postgres_databases.create(template=bare_postgres_url)
    assert one(other, "select to_regclass('mine')") is None
    assert one(copy, "select to_regclass('mine')") == "mine"
    postgres_databases.drop(other)
    postgres_databases.drop(copy)
