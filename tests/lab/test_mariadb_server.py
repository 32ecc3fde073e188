"""The MariaDB that benchmarks and tests run on: it keeps what it promised, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pymysql
import pytest

from procession.errors import Misconfigured, Unavailable
from procession.lab import mariadb_server as lab
from procession.lab.mariadb_server import MariadbServer
from tests.support.mariadb import connect

END_S_MAX = 30

OWNER = """
import sys
from procession.lab.mariadb_server import MariadbServer
server = MariadbServer(durable=False)
server.start()
print(server.pid, server.directory, flush=True)
sys.stdin.read()
"""


def one(url: str, statement: str):
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
    return row[0] if row else None


@pytest.mark.parametrize("end", ["stop", "stop at once", "kill"])
def test_a_durable_server_keeps_what_was_committed(mariadb_server: MariadbServer, end: str) -> None:
    with closing(connect(mariadb_server.url(), autocommit=True)) as connection:
        connection.query("create database shop")
        connection.query("create table shop.kept (value int)")
        connection.query("insert into shop.kept values (7)")
    url = mariadb_server.url("shop")
    {
        "stop": mariadb_server.stop,
        "stop at once": lambda: mariadb_server.stop(immediate=True),
        "kill": mariadb_server.kill,
    }[end]()
    assert not mariadb_server.is_running
    with pytest.raises(pymysql.err.OperationalError):
        one(url, "select 1")

    mariadb_server.start()

    assert mariadb_server.url("shop") == url
    assert one(url, "select value from kept") == 7
    assert one(url, "select @@innodb_flush_log_at_trx_commit") == 1


def test_settings_given_win_over_ours(make_mariadb_server) -> None:
    server = make_mariadb_server(durable=False, settings={"innodb_flush_log_at_trx_commit": "1"})
    assert one(server.url(), "select @@innodb_flush_log_at_trx_commit") == 1
    assert one(server.url(), "select @@innodb_doublewrite") == 0


def test_a_setting_that_mariadb_refuses_is_reported_with_its_words(mariadb_is_there) -> None:
    server = MariadbServer(settings={"no_such_setting": "7"})
    with pytest.raises(Unavailable, match="no-such-setting"):
        server.start()
    assert not server.is_running
    directory = server.directory
    server.close()
    assert not directory.exists()


def test_the_server_never_runs_as_root_and_strangers_are_refused(mariadb_databases) -> None:
    server = mariadb_databases.server
    assert psutil.Process(server.pid).uids().effective != 0
    password = server.url().split(":")[2].partition("@")[0]
    for url in (server.url().replace(password, "guessed"), server.url().replace(f":{password}", ":")):
        with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
            one(url, "select 1")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_the_server_is_gone_when_its_owner_is(mariadb_is_there, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    ) as owner:
        assert owner.stdout is not None
        pid, directory = owner.stdout.readline().split()
        server = psutil.Process(int(pid))
        owner.send_signal(number)
        server.wait(timeout=END_S_MAX)
    psutil.wait_procs([], timeout=0)
    deadline = END_S_MAX * 100
    while Path(directory).exists() and deadline:
        deadline -= 1
        psutil.wait_procs([psutil.Process()], timeout=0.01)
    assert not Path(directory).exists()


def test_without_programs_the_package_is_named(monkeypatch) -> None:
    monkeypatch.setattr(lab, "PROGRAM_FOLDERS", ())
    monkeypatch.setenv("PATH", "/nowhere")
    assert not lab.mariadb_is_installed()
    with pytest.raises(Misconfigured, match="apt-get install mariadb-server"):
        MariadbServer().start()
