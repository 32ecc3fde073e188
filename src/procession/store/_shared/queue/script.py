"""How the long way of the queue is written once for all stores: scripts that ask for statements by name.

A script is a generator. It yields ``Ask(name, values)`` and gets the rows; it decides, never waits, and knows no
database. A store runs it within one transaction: it looks the name up among its own statements, binds the values by
position, and sends the rows back, as sequences.

- Values are whole numbers, texts, and JSON as bytes: sets of rows go as one JSON array of objects, sets of keys as one
  JSON array of numbers or texts.
- Rows hold whole numbers, floats, texts, None; JSON comes as text or bytes (``as_bytes``). Instants are milliseconds.
- "None" is null in the database, and 0 or an empty text in the rows of the port; scripts translate.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")
Value: TypeAlias = "int | str | bytes | float | None"
Rows: TypeAlias = "list[Any]"

encode: Final = msgspec.json.Encoder().encode


class Ask(NamedTuple):
    """A named statement, and its values in order."""

    name: str
    values: tuple[Value, ...]


Script: TypeAlias = Generator[Ask, Rows, T]


def ask(name: str, *values: Value) -> Script[Rows]:
    """The rows of a statement."""
    return (yield Ask(name, values))


def ask_for(name: str, rows: Iterable[object], *values: Value) -> Script[Rows]:
    """The rows of a statement for a set of keys or rows, which is its first value; no statement where that is empty."""
    rows = list(rows)
    if not rows:
        return []
    return (yield Ask(name, (encode(rows), *values)))


def run_at_once(script: Script[T], execute: Callable[[Ask], Rows]) -> T:
    """Run a script on a store that answers at once."""
    try:
        question = next(script)
        while True:
            question = script.send(execute(question))
    except StopIteration as end:
        return end.value


async def run(script: Script[T], execute: Callable[[Ask], Awaitable[Rows]]) -> T:
    """Run a script on a store that is awaited. An error of a statement ends the script."""
    try:
        question = next(script)
        while True:
            question = script.send(await execute(question))
    except StopIteration as end:
        return end.value


def as_bytes(value: str | bytes | None) -> bytes:
    """JSON of a row."""
    if value is None:
        return b""
    return value.encode() if isinstance(value, str) else bytes(value)
