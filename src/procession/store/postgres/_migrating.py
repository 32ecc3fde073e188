"""The schema's versions in the database: applies what is missing, once, whoever comes first."""

from __future__ import annotations

from typing import Final

from procession.store._shared.migrations import (
    Migration,
    SchemaChange,
    SchemaScript,
    load_migrations,
    missing_migrations,
)
from procession.store.postgres._sessions import PACKAGE, Session, Statements

MIGRATIONS: Final[tuple[Migration, ...]] = load_migrations(PACKAGE)
MIGRATION_S_MAX: Final = 3_600.0  # a migration may rewrite a large table

# One for all schemas of a database: `create ... if not exists` is not safe against itself, and nobody migrates often.
_LOCK: Final = "select pg_advisory_xact_lock(hashtextextended('procession schema_version', 0))"
_PREPARE: Final = """
create schema if not exists {schema};
create table if not exists {schema}.schema_version (
    version int primary key,
    name text not null,
    applied_at timestamptz not null default now()
);
"""


async def migrate(session: Session, statements: Statements) -> list[str]:
    """Bring the schema to this program's version, in one transaction; the names of the migrations applied."""
    async with session.transaction():
        await session.execute("set local statement_timeout = 0", "migrate")
        await session.execute(_LOCK, "migrate", MIGRATION_S_MAX)
        missing = missing_migrations(await applied_versions(session), MIGRATIONS)
        if missing:
            await session.execute(_PREPARE.format(schema=statements.schema), "migrate")
        for migration in missing:
            await session.execute(statements.of_schema(migration.sql), migration.name, MIGRATION_S_MAX)
            await session.fetch("schema_enter", migration.version, migration.name)
    return [migration.name for migration in missing]


def schema_script(schema: str) -> SchemaScript:
    """The schema for a connection that is not ours. Raises Misconfigured for a name that cannot be one."""
    statements = Statements(schema)
    return SchemaScript(
        prepare=["set local statement_timeout = 0", _LOCK, _PREPARE.format(schema=statements.schema)],
        applied=statements["schema_versions"],
        changes=[
            SchemaChange(
                each.version,
                each.name,
                [
                    statements.of_schema(each.sql),
                    _entry(statements, each),
                ],
            )
            for each in MIGRATIONS
        ],
    )


def _entry(statements: Statements, migration: Migration) -> str:
    """``schema_enter`` with its values, a number and the name of a file of ours."""
    return statements["schema_enter"].replace("$1", str(migration.version)).replace("$2", f"'{migration.name}'")


async def applied_versions(session: Session) -> list[int]:
    """The versions that were applied; none where there is no schema of ours."""
    if not (await session.fetch("schema_exists"))[0][0]:
        return []
    return [row[0] for row in await session.fetch("schema_versions")]
