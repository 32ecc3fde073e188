"""Named statements with values written in as literals: this protocol's text has no other place for them.

``:name`` stands for one value or a list of them. Between two ``/* rows */`` marks stands a row that is repeated with
commas, between two ``/* cases */`` one repeated with blanks, between two ``/* any */`` one repeated with OR; in all of
them ``?`` is the row's next value, ``?2`` its second, ``?name`` the one of that name.

A value is looked at once, when it is written: nothing in it can become part of the statement. Sessions are set up so
that a backslash escapes and the text is UTF-8 (_sessions.py); both belong together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, cast

from procession.errors import Bug, InvalidValue
from procession.store._shared.statements import load_statements

PACKAGE: Final = "procession.store.mysql"

Literals = tuple[bytes, ...]  # a row of values, each written down already

_PART: Final = re.compile(r"/\* (rows|cases|any) \*/\s*(.*?)\s*/\* \1 \*/|:([a-z_]+)", re.DOTALL)
_PLACE: Final = re.compile(r"\?([a-z_]+|\d*)")
_JOINTS: Final = {"rows": b", ", "cases": b" ", "any": b" OR "}


class Blob:
    """Bytes that are no text."""

    __slots__ = ("value",)

    def __init__(self, value: bytes) -> None:
        self.value = value


class Written:
    """Values that are written down already, with commas."""

    __slots__ = ("sql",)

    def __init__(self, sql: bytes) -> None:
        self.sql = sql


class Repeated:
    """A fragment that is written once per row."""

    def __init__(self, fragment: str, joint: bytes) -> None:
        places = [match[1] for match in _PLACE.finditer(fragment)]
        self._form = _PLACE.sub("%b", fragment.replace("%", "%%")).encode()
        self._joint = joint
        self._names = [place for place in places if place and not place.isdigit()]
        chosen = [int(place) - 1 for place in places if place.isdigit()]
        if len(self._names) not in (0, len(places)) or len(chosen) not in (0, len(places)):
            raise Bug(f"Expected places of one kind in a repeated row, got several: {fragment}")
        self._choose: Any = itemgetter(*chosen) if chosen else None

    def write(self, rows: Sequence[Literals] | Sequence[Mapping[str, object]]) -> bytes:
        """The fragment for each row."""
        form, choose, names = self._form, self._choose, self._names
        if names:
            named = cast("Sequence[Mapping[str, object]]", rows)
            return self._joint.join([form % tuple([literal(row[name]) for name in names]) for row in named])
        if choose is None:
            return self._joint.join([form % row for row in rows])
        return self._joint.join([form % choose(row) for row in rows])


class Statement:
    """One statement, taken apart once."""

    def __init__(self, name: str, sql: str) -> None:
        self.name = name
        self._parts: list[bytes | str | Repeated] = []
        text = without_comments(sql)
        end = 0
        for match in _PART.finditer(text):
            self._parts.append(text[end : match.start()].encode())
            end = match.end()
            self._parts.append(match[3] or Repeated(match[2], _JOINTS[match[1]]))
        self._parts.append(text[end:].encode())
        self.uses_now = "@now" in text
        self.repeats = any(isinstance(part, Repeated) for part in self._parts)

    def write(self, values: Mapping[str, object], rows: Sequence[Literals] | Sequence[Mapping[str, object]]) -> bytes:
        """The statement with these values."""
        written: list[bytes] = []
        for part in self._parts:
            if isinstance(part, bytes):
                written.append(part)
            elif isinstance(part, str):
                written.append(literal(values[part]))
            else:
                written.append(part.write(rows))
        return b"".join(written)


def without_comments(sql: str) -> str:
    """The statement without the lines that are comments."""
    return "\n".join(line for line in sql.splitlines() if not line.lstrip().startswith("--")).strip()


SOURCES: Final = load_statements(PACKAGE)
# What scripts of _shared/queue ask for; some are several statements here.
QUEUE: Final = {
    name: tuple(Statement(name, part) for part in sql.split(";\n"))
    for name, sql in load_statements(PACKAGE, "queue").items()
}
STATEMENTS: Final = {name: Statement(name, sql) for name, sql in SOURCES.items()}


def literal(value: object) -> bytes:
    """A value, or a list of values, as SQL. Bytes are JSON: text in UTF-8. An empty list is a list of nothing."""
    if isinstance(value, int):  # an enumeration's number, or a boolean, too
        return b"%d" % value
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bytes):
        return quoted(value)
    if value is None:
        return b"NULL"
    if isinstance(value, Blob):
        return blob(value.value)
    if isinstance(value, Written):
        return value.sql
    if isinstance(value, float):
        return repr(value).encode()
    if isinstance(value, list | tuple):
        each_of = cast("Sequence[object]", value)
        return b", ".join([literal(each) for each in each_of]) or b"NULL"
    raise InvalidValue(f"Expected a number, a text or bytes as a value for the database, got {type(value).__name__}")


def number(value: int) -> bytes:
    """A number; a boolean is 0 or 1."""
    return b"%d" % value


def text(value: str) -> bytes:
    """A text."""
    try:
        return quoted(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidValue(f"Expected Unicode text, got {value[:60]!r}: {error.reason}") from error


def quoted(value: bytes) -> bytes:
    """A text in UTF-8."""
    return b"'" + value.replace(b"\\", b"\\\\").replace(b"'", b"\\'") + b"'"


def blob(value: bytes) -> bytes:
    """Bytes that are no text."""
    return b"_binary" + quoted(value)
