"""The schema's versions in the database: applies what is missing, once, whoever comes first.

Each statement of a definition commits by itself here, so a migration can stop halfway. How far it came is kept with it;
who comes next goes on there. Only one statement can have been done without that being known, the next one: that it is
done already is no failure then.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any, Final

from asyncmy.errors import MySQLError

from procession.errors import ProcessionError, Unavailable
from procession.store._shared.migrations import Migration, load_migrations, missing_migrations
from procession.store.mysql._failures import code_of, meaning_of
from procession.store.mysql._sessions import Session
from procession.store.mysql._statements import PACKAGE, STATEMENTS, without_comments

MIGRATIONS: Final[tuple[Migration, ...]] = load_migrations(PACKAGE)
MIGRATION_S_MAX: Final = 3_600.0  # a migration may rewrite a large table

# Binary, without padding: 'A' is not 'a', and 'a ' is not 'a'.
_COLLATIONS: Final = {True: "utf8mb4_nopad_bin", False: "utf8mb4_0900_bin"}
# table, column, key or row is there already; column or key is gone already
_DONE_ALREADY: Final = frozenset({1050, 1060, 1061, 1062, 1091})
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS procession_migration (
    version INT PRIMARY KEY,
    name VARCHAR(255) NOT NULL,
    statements INT NOT NULL,
    applied_at BIGINT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4
"""


async def migrate(session: Session) -> list[str]:
    """Bring the schema to this program's version; the names of the migrations applied."""
    if session.is_mariadb:
        await _execute(session, "SET SESSION max_statement_time = 0, idle_transaction_timeout = 0")
    database = (await _execute(session, "SELECT DATABASE()"))[0][0]
    lock = (
        "procession " + hashlib.sha256(database.encode()).hexdigest()[:40]
    )  # names of locks are the server's, and short
    if (await _execute(session, f"SELECT GET_LOCK('{lock}', {int(MIGRATION_S_MAX)})"))[0][0] != 1:
        raise Unavailable("Another process migrates the schema and does not come to an end")
    try:
        missing = missing_migrations(await applied_versions(session), MIGRATIONS)
        if missing:
            await _execute(session, _TABLE)
        for migration in missing:
            await _apply(session, migration)
    finally:
        if session.usable:
            await _named(session, "schema_unlock", name=lock)
    return [migration.name for migration in missing]


async def applied_versions(session: Session) -> list[int]:
    """The versions that were applied wholly; none where there is no schema of ours."""
    if not (await _named(session, "schema_exists"))[0][0]:
        return []
    return [row[0] for row in await _named(session, "schema_versions")]


async def _apply(session: Session, migration: Migration) -> None:
    version = migration.version
    rows = await _named(session, "schema_progress", version=version)
    done = rows[0][0] if rows else 0
    if not rows:
        await _named(session, "schema_begin", version=version, name=migration.name)
    collation = _COLLATIONS[session.is_mariadb]
    statements = list(statements_of(migration.sql.replace("{collation}", collation)))
    for number, sql in enumerate(statements[done:], done + 1):
        try:
            await _execute(session, sql)
        except ProcessionError as failure:
            # The first one after a stop may have been done.
            if not (rows and number == done + 1 and code_of(failure.__cause__) in _DONE_ALREADY):
                raise
        await _named(session, "schema_advance", version=version, statements=number)
    await _named(session, "schema_enter", version=version)


def statements_of(script: str) -> Iterator[str]:
    """The statements of a script: each ends with a line that ends with a semicolon."""
    lines: list[str] = []
    for line in without_comments(script).splitlines():
        lines.append(line)
        if line.rstrip().endswith(";"):
            yield "\n".join(lines).strip().removesuffix(";")
            lines = []


async def _named(session: Session, name: str, /, **values: object) -> Any:  # noqa: ANN401 - rows of any query
    return await _execute(session, STATEMENTS[name].write(values, ()).decode())


async def _execute(session: Session, sql: str) -> Any:  # noqa: ANN401 - rows of any query
    """Execute one statement without our deadline: it may take as long as a large table needs."""
    connection = session.connection
    try:
        async with asyncio.timeout(MIGRATION_S_MAX):
            await connection.query(sql.encode())
    except (MySQLError, OSError, TimeoutError) as failure:
        raise meaning_of(failure, "migrate", MIGRATION_S_MAX) from failure
    return connection._result.rows or ()  # noqa: SLF001 - as in _sessions.py
