"""A connection to the file, set up alike everywhere, and what its errors mean. It runs no statement of the store."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final, Literal

from procession.errors import InvalidValue, Misconfigured, ProcessionError, Unavailable

Synchronous = Literal["NORMAL", "FULL"]

MINIMUM: Final = (3, 38, 0)
_SET_UP_MS: Final = 5_000  # for another process that opens the file at the same moment
_READER_BUSY_MS: Final = 1_000  # readers wait only while another process recovers the log
_WRITER_BUSY_MS: Final = 2  # the writer looks again by itself, more often than SQLite would
_CACHE_KIB: Final = 32 * 1024
_CHECKPOINT_PAGES: Final = 4_000  # 16 MiB: a checkpoint flushes the disk, so under load fewer are better
_LOG_BYTES_MAX: Final = 64 * 1024 * 1024  # what is left of the log file after a checkpoint
_SHARED_STATEMENTS: Final = 512
_CLOSED: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})
_WRITABLE: Final = "; this user must be allowed to write to it and to its folder, where two more files are kept"
_LOCKED: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_VALUE: Final = frozenset(
    {sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_RANGE}
)


def check_version() -> None:
    """Raise Misconfigured when Python was built with a SQLite that is too old."""
    if sqlite3.sqlite_version_info < MINIMUM:
        minimum = ".".join(map(str, MINIMUM))
        raise Misconfigured(
            f"Expected SQLite {minimum} or newer, this Python has {sqlite3.sqlite_version}: use a newer Python"
        )


def connect(path: Path, synchronous: Synchronous, *, reads_only: bool = False) -> sqlite3.Connection:
    """Open the file for one thread. Raises Unavailable or Misconfigured."""
    if not path.parent.is_dir():
        raise Misconfigured(f"Expected the folder of the database {path} to exist: create {path.parent}")
    try:
        connection = sqlite3.connect(
            path,
            timeout=_SET_UP_MS / 1_000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_SHARED_STATEMENTS,
        )
        _use_write_ahead_log(connection)
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES_MAX}")
        connection.execute(f"PRAGMA busy_timeout = {_READER_BUSY_MS if reads_only else _WRITER_BUSY_MS}")
        if reads_only:
            connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        raise failure_of_opening(error, path) from error
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to WAL. Several processes that do so at once get an error instead of waiting: try again for a while."""
    end = time.monotonic() + _SET_UP_MS / 1_000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not is_locked(error) or time.monotonic() > end:
                raise
            time.sleep(0.005)
        else:
            return


def is_locked(error: BaseException) -> bool:
    """Whether another process is writing."""
    return isinstance(error, sqlite3.Error) and _primary_code(error) in _LOCKED


def is_about_values(error: BaseException) -> bool:
    """Whether the error is the fault of what was to be written, not of the database."""
    if isinstance(error, sqlite3.OperationalError):
        return False
    if isinstance(error, (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError)):
        return True
    if isinstance(error, sqlite3.Error):
        return _primary_code(error) in _VALUE or "Error binding" in str(error)
    return isinstance(error, (OverflowError, UnicodeError))


def failure_of(error: BaseException, path: Path) -> BaseException:
    """The exception of ours that a caller gets for an error of SQLite."""
    if isinstance(error, ProcessionError):
        return error
    if is_about_values(error):
        return InvalidValue(f"SQLite refuses a value: {error}")
    if is_locked(error):
        return Unavailable(f"Expected to write to {path}, but another process kept it locked: {error}; try again")
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        hint = _WRITABLE if _primary_code(error) in _CLOSED else ""
        return Unavailable(f"SQLite cannot work on {path}: {error} ({name}){hint}")
    return error


def failure_of_opening(error: sqlite3.Error, path: Path) -> BaseException:
    """The same where the file is opened: what is no database then will be none later either."""
    if _primary_code(error) == sqlite3.SQLITE_NOTADB:
        return Misconfigured(f"Expected {path} to be a SQLite database, found another kind of file")
    return failure_of(error, path)


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
