"""The world outside the process: a bank, a warehouse, a mail server, and the books of all that they were asked to do.

Real ones answer over a network; these write to a SQLite file, so that several processes can be checked against it. As
a bank does, each of them takes an idempotency key (the order and what is asked): asked twice, it does the thing once.
That is what turns "at least once" into "once" outside the database, and only the other side can do it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCHEMA = """
create table if not exists call (at real, order_id text, what text, attempt integer, process integer, answer text);
create table if not exists effect (order_id text, what text, primary key (order_id, what)) without rowid;
"""
GOOD_CARD = "4242 4242 4242 4242"
DECLINED_CARD = "4000 0000 0000 0002"
FLAKY_CARD = "4000 0000 0000 0119"  # the bank does not answer the first two requests


class NoAnswer(ConnectionError):
    """The other side did not answer; asking again may help."""


class Declined(Exception):
    """The bank answered, and said no; asking again does not help."""


@dataclass
class Call:
    """A request that somebody made, and its answer; empty if the process was killed before it came."""

    at: float
    order_id: str
    what: str
    attempt: int
    process: int
    answer: str


class Shop:
    """The books at ``path``; safe from several threads and processes."""

    def __init__(self, path: str | Path) -> None:
        self._path = path
        with self._connection() as connection:
            connection.execute("pragma journal_mode = wal")
            connection.executescript(SCHEMA)

    def charge(self, order_id: str, card: str, attempt: int) -> None:
        """Take the money. Raises Declined, NoAnswer."""
        call = self.ask(order_id, "charge", attempt)
        if card == FLAKY_CARD and attempt <= 2:
            self._answer(call, "no answer")
            raise NoAnswer("The bank does not answer")
        if card == DECLINED_CARD:
            self._answer(call, "declined")
            raise Declined("The bank declined the card")
        self.done(call)

    def ask(self, order_id: str, what: str, attempt: int) -> int:
        """Note that something is asked for; the number of the call."""
        with self._connection() as connection:
            values = (time.time(), order_id, what, attempt, os.getpid(), "")
            return connection.execute("insert into call values (?, ?, ?, ?, ?, ?)", values).lastrowid or 0

    def done(self, call: int) -> None:
        """Do what was asked for, unless it was done already for the same order."""
        with self._connection() as connection:
            connection.execute("insert or ignore into effect select order_id, what from call where rowid = ?", (call,))
            connection.execute("update call set answer = 'done' where rowid = ?", (call,))

    def calls(self, order_id: str = "") -> list[Call]:
        """Everything that was asked for, in order."""
        with self._connection() as connection:
            rows = connection.execute(
                "select * from call where ? in ('', order_id) order by rowid", (order_id,)
            ).fetchall()
        return [Call(*row) for row in rows]

    def effects(self) -> set[tuple[str, str]]:
        """What was really done: (order, what)."""
        with self._connection() as connection:
            return set(connection.execute("select order_id, what from effect"))

    def _answer(self, call: int, answer: str) -> None:
        with self._connection() as connection:
            connection.execute("update call set answer = ? where rowid = ?", (answer, call))

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection for one transaction."""
        connection = sqlite3.connect(self._path, timeout=30)
        try:
            with connection:
                yield connection
        finally:
            connection.close()
