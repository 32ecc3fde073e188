"""Statements of ours on a connection of the caller's: rows that live and die with the caller's own transaction.

Known are asyncpg, psycopg (sync and async), SQLAlchemy (connections and sessions, sync and async), Django's connection
wrappers, sqlite3, PyMySQL and asyncmy (``adapters``). It never commits, never rolls back, and never opens a connection.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from procession.app.adapters import DATABASE_NAME, LIBRARIES, Connection, Library
from procession.app.wiring import Target
from procession.errors import Misconfigured
from procession.store.rows import Statement

# SQLSTATE of a table and of a schema that are not there, and MySQL's number of a table that is not
MISSING_TABLE = frozenset({"42P01", "3F000", "42S02", 1146})
CHAIN_MAX = 8  # causes of an exception that are looked at


def execute(connection: Connection, statements: Sequence[Statement], *, target: Target) -> Awaitable[None] | None:
    """Execute statements in order on a connection; an awaitable where the connection is asynchronous.

    ``target`` is the database that it must lead to. Raises Misconfigured for a connection of an unknown kind, to
    another database, or that commits each statement by itself; errors of its driver are passed on as they are.
    """
    library = _library_of(connection)
    found = library.database(connection)
    if found != target.database:
        message = (
            f"Expected connection= to lead to the {target.database} database of this Procession, found one to {found}"
        )
        raise Misconfigured(message)
    if library.commits_by_itself(connection):
        message = (
            "Expected connection= to be within a transaction, found one that commits each statement by itself: begin "
            f"one first ({library.begin})"
        )
        raise Misconfigured(message)
    other = _other_place(library, connection, target)
    if inspect.isawaitable(other):
        return _execute_later(library, connection, statements, target, other)
    _expect_here(str(other), target)
    try:
        waiting = library.run(connection, statements)
    except Exception as error:
        _expect_tables(error, target)
        raise
    return None if waiting is None else _execute_async(waiting, target)


def end_of(connection: Connection) -> Callable[[], bool]:
    """A function that says whether the transaction of now is over; it may be called from any thread.

    To be called on the thread of the connection, when something was executed. Raises Misconfigured.
    """
    return _library_of(connection).end(connection)


async def _execute_later(
    library: Library,
    connection: Connection,
    statements: Sequence[Statement],
    target: Target,
    other: Awaitable[str],
) -> None:
    """When the connection has said where it leads to."""
    _expect_here(await other, target)
    waiting = library.run(connection, statements)
    assert waiting is not None, "what is asked asynchronously runs so"
    await _execute_async(waiting, target)


async def _execute_async(waiting: Awaitable[None], target: Target) -> None:
    """Wait for the statements."""
    try:
        await waiting
    except Exception as error:
        _expect_tables(error, target)
        raise


def _library_of(connection: Connection) -> Library:
    """Which library a connection belongs to, by the module of its class and of its bases. Raises Misconfigured."""
    for base in type(connection).__mro__:
        # `django.db.connection` is a proxy
        package = "django" if base.__module__ == "django.utils.connection" else base.__module__.partition(".")[0]
        for library in LIBRARIES:
            if library.package == package and hasattr(connection, library.mark):
                return library
    name = f"{type(connection).__module__}.{type(connection).__qualname__}"
    message = (
        "Expected connection= to be a connection of asyncpg, psycopg 3, SQLAlchemy, Django, sqlite3, PyMySQL or "
        f"asyncmy (the one that your transaction runs on; no pool, engine or cursor), found {name}"
    )
    raise Misconfigured(message)


def _other_place(library: Library, connection: Connection, target: Target) -> str | Awaitable[str]:
    """The database or file that a connection leads to if it is another one than ours, or an empty text."""
    place = library.place(connection)
    if not target.place or not place or place.startswith("file:"):
        return ""
    if target.database == "sqlite":
        return "" if _same_file(place, target.place) else place
    if place == target.place:
        return ""
    # The names differ, but a pooler may have another name for the same database: the server knows.
    found = library.ask(connection, DATABASE_NAME[target.database])
    return _unless_ours(found, target.place) if inspect.isawaitable(found) else ("" if found == target.place else place)


async def _unless_ours(found: Awaitable[object], ours: str) -> str:
    """The name that the server gave, or an empty text."""
    name = str(await found)
    return "" if name == ours else name


def _same_file(one: str, other: str) -> bool:
    """Whether two paths are the same file."""
    first, second = Path(one), Path(other)
    try:
        return first.samefile(second)
    except OSError:
        return first.absolute() == second.absolute()


def _expect_here(other: str, target: Target) -> None:
    """The connection leads to our database. Raises Misconfigured."""
    if other:
        message = (
            f"Expected connection= to lead to the database '{target.place}' of this Procession, found one to '{other}'"
        )
        raise Misconfigured(message)


def _expect_tables(error: Exception, target: Target) -> None:
    """The error is not that our tables are missing. Raises Misconfigured."""
    if not _is_missing_table(error):
        return
    message = (
        "Expected connection= to lead to the database of this Procession, found one that has none of its tables "
        f"({target.schema or 'procession_...'}): {error}"
    )
    raise Misconfigured(message) from error


def _is_missing_table(error: BaseException) -> bool:
    """Whether a driver's error, or what it was made of, says that a table is not there."""
    current: BaseException | None = error
    for _ in range(CHAIN_MAX):
        if current is None:
            return False
        said = {getattr(current, "sqlstate", None), *(each for each in current.args[:1] if isinstance(each, int))}
        if said & MISSING_TABLE or "no such table: procession_" in str(current):
            return True
        current = getattr(current, "orig", None) or current.__cause__
    return False
