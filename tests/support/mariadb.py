"""Databases on one MariaDB server, and how a test comes by them. The server is `procession.lab`'s."""

from __future__ import annotations

import itertools
from urllib.parse import urlsplit

import pymysql

from procession.lab.mariadb_server import MariadbServer
from procession.store.mysql import MysqlStore
from tests.support.apart import run_apart

FIXTURES = frozenset({"mariadb_url", "mariadb_databases", "mariadb_server", "make_mariadb_server"})
MISSING = "no MariaDB server on this machine: on Debian and Ubuntu `apt-get install mariadb-server` brings it"

_KEPT = frozenset({"procession_migration", "procession_channel_lock"})
_COUNTED = ("procession_node", "procession_history")  # numbers that the server gives, from 1 again
_RESET = {
    "procession_sequence": "update {table} set `next` = 1 where name = 'key'",
    "procession_leader": "update {table} set node = 0, term = 0, `until` = 0",
}


class MariadbDatabases:
    """Lends databases on a running server. There are no copies of databases here, so migrated ones are used again."""

    def __init__(self, server: MariadbServer) -> None:
        self.server = server
        self._numbers = itertools.count(1)
        self._connection = connect(server.url(), autocommit=True)
        self._migrated: list[str] = []

    def create(self) -> str:
        """The URL of a new, empty database without our schema."""
        name = f"test_{next(self._numbers)}"
        self._execute(f"create database {name}")
        return self.server.url(name)

    def drop(self, url: str) -> None:
        """Drop a database, ending the sessions that are still on it."""
        self._end_sessions(database_of(url))
        self._execute(f"drop database {database_of(url)}")

    def lend(self) -> str:
        """The URL of an empty database with our schema."""
        if self._migrated:
            return self._migrated.pop()
        url = self.create()
        run_apart(migrate(url))
        return url

    def give_back(self, url: str) -> None:
        """A test is done with a database that was lent: it is emptied."""
        name = database_of(url)
        self._end_sessions(name)
        with self._connection.cursor() as cursor:
            cursor.execute("show full tables from " + name + " where table_type = 'BASE TABLE'")
            tables = [table for table, _ in cursor.fetchall() if table not in _KEPT]
            # most are empty, and to look costs less than to delete nothing
            cursor.execute(" union all ".join(f"(select '{table}' from {name}.{table} limit 1)" for table in tables))
            for (table,) in cursor.fetchall():
                cursor.execute(_RESET.get(table, "delete from {table}").format(table=f"{name}.{table}"))
            for table in _COUNTED:
                cursor.execute(f"alter table {name}.{table} auto_increment = 1")
        self._migrated.append(url)

    def close(self) -> None:
        """Give the connection back; the databases go with their server."""
        self._connection.close()

    def _execute(self, sql: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)

    def _end_sessions(self, name: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute("select id from information_schema.processlist where db = %s", (name,))
            for (number,) in cursor.fetchall():
                try:
                    cursor.execute(f"kill connection {number}")
                except pymysql.err.OperationalError:  # it has ended meanwhile
                    continue


def connect(url: str, **options) -> pymysql.Connection:
    """A connection of a user's to the database that a URL leads to."""
    parts = urlsplit(url)
    return pymysql.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=parts.username,
        password=parts.password or "",
        database=database_of(url),
        ssl_disabled=True,  # loading the certificates of the machine takes longer than most tests
        **options,
    )


def database_of(url: str) -> str:
    """The name of the database that a URL leads to."""
    return urlsplit(url).path.removeprefix("/")


async def migrate(url: str) -> None:
    """Bring a database to this program's schema."""
    store = MysqlStore(url)
    await store.migrate()
    await store.close()
