"""What a failure of the driver means for the caller: our three families of errors. It raises nothing itself.

- The database or the way to it failed, or it gave up on our behalf: ``Unavailable``. What was under way may have been
  committed, and is safe to resend.
- The database refuses a value: ``InvalidValue``. Nothing was written.
- The schema is not this program's: ``SchemaMismatch``. Everything else is a ``Bug`` of ours.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import asyncpg

from procession.errors import Bug, InvalidValue, Misconfigured, ProcessionError, SchemaMismatch, Unavailable

# Classes of SQLSTATE (its first two characters).
_REFUSED: Final = frozenset({"22", "23", "54"})  # data exception, constraint, program limit
_LOST: Final = frozenset({"08", "53", "57", "58", "XX"})  # connection, resources, intervention, system, corruption
_MISCONFIGURED: Final = frozenset({"28", "3D"})  # password or user, database
_WRONG_SCHEMA: Final = frozenset({"42P01", "42703", "3F000", "42883", "0A000"})
_UNKNOWN_SETTING: Final = frozenset({"42704", "22023", "42602", "55P02"})  # no such one, or not with this value
_TRY_AGAIN: Final = frozenset({"25", "40", "55"})  # read-only after a failover, deadlock or serialization, lock
_DETAIL_CHARS_MAX: Final = 300


class Collided(Unavailable):
    """The database ended our transaction in favour of another's: nothing was written, and it may be tried at once."""


def meaning_of(failure: BaseException, where: str, deadline_s: float) -> ProcessionError:
    """The error to raise in place of a failure of the driver or of the network."""
    if isinstance(failure, ProcessionError):
        return failure
    if isinstance(failure, TimeoutError):
        return Unavailable(f"PostgreSQL did not answer within {deadline_s:g} s ({where})")
    if isinstance(failure, asyncpg.PostgresError):
        return _meaning_of_state(failure, where)
    if isinstance(failure, asyncpg.InterfaceError | asyncpg.InternalClientError | OSError):
        return Unavailable(f"The connection to PostgreSQL failed ({where}): {failure or type(failure).__name__}")
    if isinstance(failure, ValueError | TypeError | OverflowError):
        return InvalidValue(f"A value cannot be sent to PostgreSQL ({where}): {failure}")
    return Bug(f"Unexpected failure in PostgreSQL's store ({where}): {type(failure).__name__}: {failure}")


def meaning_of_connecting(failure: BaseException, url: str, deadline_s: float) -> ProcessionError:
    """The same for a connection that was not made, with the server that it was to lead to; never with the password."""
    server = urlsplit(url).netloc.rpartition("@")[2] or "the driver's default server"
    if isinstance(failure, ValueError | TypeError):  # the driver's errors about its own arguments among them
        return Misconfigured(f"The URL to {server} cannot be used: {failure}")
    if isinstance(failure, asyncpg.PostgresError) and failure.sqlstate in _UNKNOWN_SETTING:
        return Misconfigured(f"The URL to {server} has an option that PostgreSQL does not take: {failure}")
    return meaning_of(failure, f"connecting to {server}", deadline_s)


def leaves_connection_usable(failure: BaseException) -> bool:
    """Whether a session can go on after this failure: only after an answer that says what went wrong."""
    if not isinstance(failure, asyncpg.PostgresError):
        return False
    return (failure.sqlstate or "XX")[:2] not in _LOST and not isinstance(
        failure, asyncpg.OutdatedSchemaCacheError | asyncpg.InvalidCachedStatementError
    )


def _meaning_of_state(failure: asyncpg.PostgresError, where: str) -> ProcessionError:
    state = failure.sqlstate or "XX000"
    text = f"{failure} [{state}]"[:_DETAIL_CHARS_MAX]
    if state[:2] == "40":
        return Collided(f"PostgreSQL ended the transaction in favour of another ({where}): {text}")
    if state[:2] in _LOST | _TRY_AGAIN:
        return Unavailable(f"PostgreSQL is not available ({where}): {text}")
    if state[:2] in _REFUSED:
        return InvalidValue(f"PostgreSQL refuses a value ({where}): {text}")
    if state[:2] in _MISCONFIGURED:
        return Misconfigured(f"PostgreSQL does not let us in: {text}; check the URL's user, password and database")
    if state in _WRONG_SCHEMA:
        return SchemaMismatch(
            f"The database's schema is not this program's ({where}): {text}; run `procession db migrate`"
        )
    if state == "42501":
        return Misconfigured(f"The database user may not do this ({where}): {text}; grant it")
    return Bug(f"PostgreSQL did not accept a statement of ours ({where}): {text}")
