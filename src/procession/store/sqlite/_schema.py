"""The schema's version in the file, and how it is brought forward. Runs on a connection of its own."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from procession.store._shared.migrations import (
    Migration,
    SchemaChange,
    SchemaScript,
    load_migrations,
    missing_migrations,
)
from procession.store.sqlite._connection import Synchronous, connect, failure_of, failure_of_opening, is_locked

MIGRATIONS: Final = load_migrations("procession.store.sqlite")
_WAIT_S: Final = 30.0  # for another process that migrates
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS procession_migration (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""
_ENTER: Final = "INSERT INTO procession_migration (version, name, applied_at)"
_HAS_TABLE: Final = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'procession_migration'"


def read_version(path: Path) -> int:
    """The version of the schema in the file; 0 when there is none. It creates nothing."""
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as connection:
            return _version(connection)
    except sqlite3.Error as error:
        raise failure_of_opening(error, path) from error


def migrate(path: Path, synchronous: Synchronous, now: int) -> list[str]:
    """Apply what is missing, all in one transaction; the names of what was applied."""
    with closing(connect(path, synchronous)) as connection:
        try:
            _begin(connection)
            connection.execute(_TABLE)
            applied = [version for (version,) in connection.execute("SELECT version FROM procession_migration")]
            missing = missing_migrations(applied, MIGRATIONS)
            for migration in missing:
                _apply(connection, migration, now)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise failure_of(error, path) from error
    return [migration.name for migration in missing]


def schema_script(now: int) -> SchemaScript:
    """The schema for a connection that is not ours."""
    return SchemaScript(
        prepare=[_TABLE],
        applied="SELECT version FROM procession_migration",
        changes=[
            SchemaChange(
                each.version,
                each.name,
                [
                    *_statements(each.sql),
                    # a number, the name of a file of ours, a number
                    f"{_ENTER} VALUES ({each.version}, '{each.name}', {now})",
                ],
            )
            for each in MIGRATIONS
        ],
    )


def _apply(connection: sqlite3.Connection, migration: Migration, now: int) -> None:
    for statement in _statements(migration.sql):
        connection.execute(statement)
    connection.execute(
        f"{_ENTER} VALUES (?, ?, ?)",
        (migration.version, migration.name, now),
    )


def _version(connection: sqlite3.Connection) -> int:
    table = connection.execute(_HAS_TABLE).fetchone()
    if table is None:
        return 0
    (version,) = connection.execute("SELECT coalesce(max(version), 0) FROM procession_migration").fetchone()
    return version


def _begin(connection: sqlite3.Connection) -> None:
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not is_locked(error) or time.monotonic() > until:
                raise
        else:
            return


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; ``executescript`` would commit first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
