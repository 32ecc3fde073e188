"""Rows turned into columns, as the statements take them, and the few values that only PostgreSQL refuses.

What is the same for many rows is sent once. A column that holds nothing but defaults is null, one that holds a single
value has one element; ``unnest`` fills both with nulls, and the statement puts the value in their place. What jobs have
in common (queue, type, element, ...) is a list of its own, which each job points into. Of the 60 us that a new instance
with one job cost in batches of 8, half went into arrays that said "order" eight times. Zeros and empty texts that mean
"none" are nulls in the database.

The two statements that almost every step uses take whole columns as one value each (``numbers``, ``lines``,
``pieces``), because the driver asks of every element of every array whether it is a sequence: about a microsecond for
each, and there were fourteen of them in an instance of two steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Final

import msgspec

from procession.store.rows import NewJob, Step

Columns = list[Any]

encode_json: Final = msgspec.json.Encoder().encode
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HIGH: Final = range(0xD800, 0xDC00)
_LOW: Final = range(0xDC00, 0xE000)


def job_columns(jobs: Sequence[NewJob]) -> Columns:
    """The eight values of new jobs, in the order of enqueue.sql: seven columns, and what jobs are like."""
    if not jobs:
        return [None] * 8
    likenesses: dict[tuple[Any, ...], int] = {}
    numbers = [likenesses.setdefault(_likeness(job), len(likenesses) + 1) for job in jobs]
    return [
        [job.key for job in jobs],
        sparse([job.instance or None for job in jobs]),
        sparse([job.element_instance or None for job in jobs]),
        numbers,
        sparse([job.run_at or None for job in jobs]),
        sparse([job.delay_ms for job in jobs]),
        sparse([job.args or None for job in jobs]),
        encode_json([dict(zip(_LIKENESS, values, strict=True)) for values in likenesses]),
    ]


def packed_jobs(jobs: Sequence[NewJob]) -> Columns:
    """The same eight values for commit_start.sql and commit_step.sql: four columns of numbers, each as one text."""
    if not jobs:
        return [None] * 8
    likenesses: dict[tuple[Any, ...], int] = {}
    return [
        numbers([job.key for job in jobs]),
        numbers([job.instance or None for job in jobs]),
        numbers([job.element_instance or None for job in jobs]),
        numbers([likenesses.setdefault(_likeness(job), len(likenesses) + 1) for job in jobs]),
        sparse([job.run_at or None for job in jobs]),
        sparse([job.delay_ms for job in jobs]),
        sparse([job.args or None for job in jobs]),
        encode_json([dict(zip(_LIKENESS, values, strict=True)) for values in likenesses]),
    ]


def numbers(column: list[int] | list[int | None]) -> str:
    """Whole numbers as the text of an array: ``{1,2,null}``."""
    return "{" + encode_json(column)[1:-1].decode() + "}"


def lines(column: list[bytes | None]) -> str | None:
    """JSON values, a line for each; None where there is none at all. JSON needs no line break of its own."""
    if not any(column):
        return None
    joined = b"\n".join([value or b"" for value in column])
    if joined.count(b"\n") != len(column) - 1:  # between the tokens of a value that we have not made ourselves
        joined = b"\n".join([(value or b"").replace(b"\n", b" ") for value in column])
    return joined.decode()


def pieces(column: list[bytes]) -> Columns:
    """Bytes, one after the other: all of them, where each begins (from 1), how long it is."""
    lengths = [len(value) for value in column]
    return [b"".join(column), numbers(list(accumulate(lengths[:-1], initial=1))), numbers(lengths)]


def sparse(column: list[Any]) -> list[Any] | None:
    """The column, or no column at all when it holds nothing but zeros, empty values and nulls."""
    return column if any(column) else None


def compact(column: list[Any]) -> list[Any]:
    """The column, or its first value alone when it holds no other. No nulls."""
    return column if column.count(column[0]) != len(column) else column[:1]


_LIKENESS: Final = ("kind", "queue", "type", "element", "definition", "priority", "retries", "owner", "tenant")


def _likeness(job: NewJob) -> tuple[Any, ...]:
    """What a job has in common with many others of a batch."""
    return (
        int(job.kind),
        job.queue,
        job.type,
        job.element or None,
        job.definition or None,
        job.priority,
        job.retries,
        job.owner or None,
        job.tenant or None,
    )


def refusal_of_json(values: Iterable[bytes | None]) -> str:
    """Why PostgreSQL's JSON cannot hold one of these, or an empty text.

    Its texts have no U+0000 and no half of a surrogate pair. Only an escape can say either, and the encoder writes
    few, so almost every value is let through by looking for two bytes.
    """
    for value in values:
        if value and b"\\u" in value and (why := _refusal_of_escapes(value)):
            return why
    return ""


def refusal_of_step(step: Step) -> str:
    """Why PostgreSQL refuses the JSON of a step, or an empty text."""
    variables, events = step.variables, step.events
    if (variables and b"\\u" in variables) or (events and b"\\u" in events):
        why = refusal_of_json((variables, events))
        if why:
            return why
    for job in step.new_jobs:
        if job.args and b"\\u" in job.args and (why := _refusal_of_escapes(job.args)):
            return why
    return ""


def _refusal_of_escapes(value: bytes) -> str:
    high_ends_at = -1
    for match in _ESCAPE.finditer(value):
        code = int(match[1], 16) if match[1] else -1
        if code == 0:
            return "Expected JSON without the NUL character (U+0000), which PostgreSQL cannot store"
        follows_high = high_ends_at == match.start()
        if (code in _LOW) != follows_high:
            return "Expected JSON of Unicode text, got half of a surrogate pair, which PostgreSQL cannot store"
        high_ends_at = match.end() if code in _HIGH else -1
        if high_ends_at >= 0 and value[high_ends_at : high_ends_at + 2] != b"\\u":
            return "Expected JSON of Unicode text, got half of a surrogate pair, which PostgreSQL cannot store"
    return ""
