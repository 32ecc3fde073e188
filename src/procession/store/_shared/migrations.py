"""The schema's versions: which migrations exist, which are missing, and whether a program may work. No database here.

Migrations are files ``NNNN_what_it_does.sql``, numbered from 1 without gaps, and go forward only. A store applies them
in order, each with its entry in its table of applied migrations, under a lock of its own database.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from procession.errors import Bug, SchemaMismatch
from procession.store.rows import Row


class Migration(Row):
    """One numbered change of a schema."""

    version: int
    name: str  # the file's name without ``.sql``
    sql: str


class SchemaChange(Row):
    """A migration as statements for a connection that is not ours; the last one enters it among those applied."""

    version: int
    name: str
    statements: list[str]


class SchemaScript(Row):
    """How another program's migrations bring the schema forward on their own connection, within their transaction."""

    prepare: list[str]  # where there is nothing of ours yet; safe to repeat
    applied: str  # a query of the versions that were applied
    changes: list[SchemaChange]


@cache
def load_migrations(package: str, folder: str = "migrations") -> tuple[Migration, ...]:
    """The migrations of a store in order. Raises Bug when a number is missing or used twice."""
    found = sorted(
        (
            Migration(int(entry.name.partition("_")[0]), entry.name.removesuffix(".sql"), entry.read_text("utf-8"))
            for entry in files(package).joinpath(folder).iterdir()
            if entry.name.endswith(".sql")
        ),
        key=lambda migration: migration.version,
    )
    if [migration.version for migration in found] != list(range(1, len(found) + 1)):
        raise Bug(f"Expected migrations 1, 2, ... in {package}/{folder}, found {[each.name for each in found]}")
    return tuple(found)


def missing_migrations(applied: Iterable[int], known: tuple[Migration, ...]) -> list[Migration]:
    """The migrations still to apply. Raises SchemaMismatch when the database is newer than this program."""
    done = set(applied)
    newest = max(done, default=0)
    if newest > len(known):
        raise SchemaMismatch(
            f"The database's schema has version {newest}, this program knows versions up to {len(known)}: "
            "update this program"
        )
    return [migration for migration in known if migration.version not in done]


def check_version(found: int, known: int) -> None:
    """Raise SchemaMismatch unless a database of version ``found`` is what a program of version ``known`` works with."""
    if found < known:
        raise SchemaMismatch(
            f"The database's schema has version {found}, this program needs version {known}: "
            "run `procession db migrate`, or allow it at start"
        )
    if found > known:
        raise SchemaMismatch(
            f"The database's schema has version {found}, this program knows versions up to {known}: update this program"
        )
