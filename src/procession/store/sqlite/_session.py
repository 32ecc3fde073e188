"""One transaction of the store: statements by their names, rows in few steps, keys of the store's own."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from procession.ids import FIRST_PARTITION, key_of
from procession.store._shared.queue.script import Ask
from procession.store._shared.statements import load_statements, repeat_rows

# Rows per statement when many are inserted. One statement for many rows is faster than a statement for each (330,000
# job rows a second against 230,000) and hands the interpreter's lock over once, not once a row.
_CHUNKS: Final = (256, 64, 16, 4, 1)

STATEMENTS: Final = load_statements("procession.store.sqlite")
QUEUE: Final = load_statements("procession.store.sqlite", "queue")  # what scripts of _shared/queue ask for

_encode = msgspec.json.Encoder().encode
_decode_pairs = msgspec.json.Decoder(list[tuple[int, int]]).decode


def as_json(value: object) -> str:
    """JSON as SQLite takes it."""
    return _encode(value).decode()


class Session:
    """What a piece of work may do within its transaction. ``now`` is the instant at which the transaction began."""

    def __init__(self, connection: sqlite3.Connection, now: int, *, careful: bool = False) -> None:
        self._connection = connection
        self.now = now
        self.careful = careful  # something was refused: go one by one, in savepoints

    def run(self, name: str, /, **values: object) -> sqlite3.Cursor:
        """Execute a statement."""
        return self._connection.execute(STATEMENTS[name], values)

    def rows(self, name: str, /, **values: object) -> list[Any]:
        """All rows of a query."""
        return self._connection.execute(STATEMENTS[name], values).fetchall()

    def value(self, name: str, /, **values: object) -> Any:  # noqa: ANN401 - a column of any type
        """The first column of the first row, or None; statements that return rows are run to their end."""
        found = self._connection.execute(STATEMENTS[name], values).fetchall()
        return found[0][0] if found else None

    def answer(self, question: Ask) -> list[Any]:
        """The rows of a statement that a script of the queue asks for; JSON goes as text."""
        if question.name == "clock":
            return [(self.now,)]
        values = [value.decode() if isinstance(value, bytes) else value for value in question.values]
        return self._connection.execute(QUEUE[question.name], values).fetchall()

    def pairs(self, name: str, keys: Sequence[int]) -> dict[int, int]:
        """A number for each of these keys that exists."""
        return dict(_decode_pairs(self.value(name, keys=as_json(keys))))

    def for_keys(self, name: str, keys: Sequence[int], /, **values: object) -> None:
        """Execute a statement for many keys at once."""
        if keys:
            self.run(name, keys=as_json(keys), **values)

    def insert(self, name: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Execute a statement with a repeated row, for as many rows at a time as possible."""
        sql, start, left = STATEMENTS[name], 0, len(rows)
        for size in _CHUNKS:
            while left >= size:
                values = rows[start] if size == 1 else tuple(chain.from_iterable(rows[start : start + size]))
                self._connection.execute(repeat_rows(sql, size), values)
                start += size
                left -= size

    def insert_pairs(self, name: str, shared: tuple[object, ...], pairs: Sequence[object]) -> None:
        """As ``insert``, of rows with two values each, in a flat list; the statement names first what all share."""
        sql, start, left = STATEMENTS[name], 0, len(pairs) // 2
        for size in _CHUNKS:
            while left >= size:
                self._connection.execute(repeat_rows(sql, size), (*shared, *pairs[start : start + 2 * size]))
                start += 2 * size
                left -= size

    def for_each(self, name: str, rows: Sequence[dict[str, object]]) -> None:
        """Execute a statement for each row of values."""
        if rows:
            self._connection.executemany(STATEMENTS[name], rows)

    def take_keys(self, count: int) -> range:
        """Keys of the store's own."""
        start = key_of(FIRST_PARTITION, self.value("take_keys", count=count))
        return range(start, start + count)

    def begin_part(self) -> None:
        """From here on can be undone alone."""
        self._connection.execute("SAVEPOINT part")

    def keep_part(self) -> None:
        """What was done since ``begin_part`` stays."""
        self._connection.execute("RELEASE part")

    def undo_part(self) -> None:
        """Undo what was done since ``begin_part``."""
        self._connection.execute("ROLLBACK TO part")
        self._connection.execute("RELEASE part")
