"""Fresh databases on one PostgreSQL server, and how a test comes by them. The server is `procession.lab`'s."""

from __future__ import annotations

import itertools
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from procession.lab.postgres_server import PostgresServer

FIXTURES = frozenset(
    {"postgres_url", "bare_postgres_url", "postgres_databases", "postgres_server", "make_postgres_server"}
)


class PostgresDatabases:
    """Makes and drops databases on a running server. Making one takes about 10 ms, dropping it 4 ms."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self._numbers = itertools.count(1)
        self._connection = psycopg.connect(server.url(), autocommit=True)

    def create(self, *, template: str | None = None) -> str:
        """The URL of a new database: empty, or a copy of the one at the URL `template`, which nobody may be using."""
        name = f"test_{next(self._numbers)}"
        source = database_of(template) if template else "template0"
        # Copying files is three times as fast as writing the copy to the log, as long as nothing is flushed.
        statement = sql.SQL("create database {} template {} strategy file_copy")
        self._connection.execute(statement.format(sql.Identifier(name), sql.Identifier(source)))
        return self.server.url(name)

    def drop(self, url: str) -> None:
        """Drop a database, ending the sessions that are still on it."""
        self._connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(database_of(url))))

    def close(self) -> None:
        """Give the connection back; the databases go with their server."""
        self._connection.close()


def database_of(url: str) -> str:
    """The name of the database that a URL leads to."""
    return urlsplit(url).path.removeprefix("/")
