"""What a failure of the driver means for the caller: our three families of errors. It raises nothing itself.

- The server or the way to it failed, or it gave up on our behalf: ``Unavailable``. What was under way may have been
  committed, and is safe to resend.
- The server ended our transaction in favour of another's: ``Collided``. Nothing was written; the store tries again.
- The server refuses a value: ``InvalidValue``. Nothing was written.
- The schema is not this program's: ``SchemaMismatch``. Everything else is a ``Bug`` of ours.

Codes are the server's error numbers, alike on MariaDB and MySQL where both have them.
"""

from __future__ import annotations

from typing import Final

from asyncmy import errors as driver

from procession.errors import Bug, InvalidValue, Misconfigured, ProcessionError, SchemaMismatch, Unavailable

# deadlock, lock wait timeout, record changed since last read
_COLLIDED: Final = frozenset({1213, 1205, 1020})
# null, duplicate key, packet, out of range, truncated, no text of its character set, no default, too long, constraint
_REFUSED: Final = frozenset(
    {1048, 1062, 1153, 1169, 1264, 1265, 1292, 1300, 1301, 1364, 1366, 1367, 1406, 1438, 1690, 3140, 3141, 3819, 4025}
)
DUPLICATE: Final = 1062
# the server is full, starts, stops, gives up, reads only, or the way to it is broken; a cluster that is not ready
_UNAVAILABLE: Final = frozenset(
    {
        *(1021, 1030, 1037, 1038, 1040, 1041, 1042, 1047, 1053, 1077, 1078, 1079, 1080, 1114, 1129, 1152, 1158, 1159),
        *(1160, 1161, 1184, 1203, 1206, 1226, 1290, 1317, 1430, 1792, 1836, 1880, 1927, 1969, 3024, 3100, 3101, 4031),
    }
)
# after these the session can go on: the statement was ended, not the session
_ENDED_STATEMENT: Final = frozenset({1317, 1969, 3024, 1290, 1792, 1836})
# database or user unknown, or not allowed; unknown plugin, setting or time zone; a binary log that cannot take us
_MISCONFIGURED: Final = frozenset({1044, 1045, 1049, 1102, 1193, 1227, 1231, 1232, 1251, 1298, 1665, 1698, 1862, 1873})
_NOT_GRANTED: Final = frozenset({1142, 1143, 1370})
_WRONG_SCHEMA: Final = frozenset({1054, 1146, 1176, 1305, 1356})
_PACKET_TOO_LARGE: Final = 1153
_OF_THE_DRIVER: Final = range(2000, 3000)
_DETAIL_CHARS_MAX: Final = 300


class Collided(Unavailable):
    """The server ended our transaction in favour of another's: nothing was written, and it may be tried at once."""


class Duplicate(InvalidValue):
    """A row with this key is there already."""


def meaning_of(failure: BaseException, where: str, deadline_s: float) -> ProcessionError:
    """The error to raise in place of a failure of the driver or of the network."""
    if isinstance(failure, ProcessionError):
        return failure
    if isinstance(failure, TimeoutError):
        return Unavailable(f"The database did not answer within {deadline_s:g} s ({where})")
    if isinstance(failure, driver.MySQLError):
        return _meaning_of_code(failure, where)
    if isinstance(failure, OSError | EOFError):
        return Unavailable(f"The connection to the database failed ({where}): {failure or type(failure).__name__}")
    return Bug(f"Unexpected failure in MariaDB's store ({where}): {type(failure).__name__}: {failure}")


def meaning_of_connecting(failure: BaseException, server: str, deadline_s: float) -> ProcessionError:
    """The same for a connection that was not made, with the server that it was to lead to; never with the password."""
    if isinstance(failure, ValueError | TypeError):
        return Misconfigured(f"The URL to {server} cannot be used: {failure}")
    if isinstance(failure, RuntimeError):  # the driver lacks something, such as a package for the password's method
        return Misconfigured(f"Cannot connect to {server}: {failure}")
    return meaning_of(failure, f"connecting to {server}", deadline_s)


def leaves_connection_usable(failure: BaseException) -> bool:
    """Whether a session can go on after this failure: only after an answer that says what went wrong."""
    if not isinstance(failure, driver.MySQLError):
        return False
    code = _code_of(failure)
    if code == 0 or code in _OF_THE_DRIVER or code == _PACKET_TOO_LARGE:
        return False
    return code not in _UNAVAILABLE or code in _ENDED_STATEMENT


def code_of(failure: BaseException | None) -> int:
    """The server's number of an error, 0 if it has none."""
    return _code_of(failure) if isinstance(failure, driver.MySQLError) else 0


def _code_of(failure: driver.MySQLError) -> int:
    return failure.args[0] if failure.args and isinstance(failure.args[0], int) else 0


def _meaning_of_code(failure: driver.MySQLError, where: str) -> ProcessionError:
    code = _code_of(failure)
    said = failure.args[1] if len(failure.args) > 1 else failure
    text = f"{said} [{code}]"[:_DETAIL_CHARS_MAX]
    if code in _COLLIDED:
        return Collided(f"The database ended the transaction in favour of another ({where}): {text}")
    if code == DUPLICATE:
        return Duplicate(f"The database has a row with this key ({where}): {text}")
    if code in _REFUSED:
        return InvalidValue(f"The database refuses a value ({where}): {text}")
    if code == 0 or code in _UNAVAILABLE or code in _OF_THE_DRIVER:
        return Unavailable(f"The database is not available ({where}): {text}")
    if code in _MISCONFIGURED:
        return Misconfigured(
            f"The database does not let us work: {text}; check the URL's user, password and database, and the settings"
        )
    if code in _NOT_GRANTED:
        return Misconfigured(f"The database user may not do this ({where}): {text}; grant it")
    if code in _WRONG_SCHEMA:
        return SchemaMismatch(
            f"The database's schema is not this program's ({where}): {text}; run `procession db migrate`"
        )
    return Bug(f"The database did not accept a statement of ours ({where}): {text}")
