"""Rows turned into columns, as the statements take them, and the few values that only PostgreSQL refuses.

A column that holds nothing but defaults is sent empty: ``unnest`` fills it with nulls, and neither side spends time on
it. Zeros and empty texts that mean "none" are nulls in the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from procession.store.rows import NewJob, Step

Columns = list[list[Any]]

encode_json: Final = msgspec.json.Encoder().encode
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HIGH: Final = range(0xD800, 0xDC00)
_LOW: Final = range(0xDC00, 0xE000)


def job_columns(jobs: Sequence[NewJob]) -> Columns:
    """The fifteen columns of new jobs, in the order of enqueue.sql."""
    if not jobs:
        return [[] for _ in range(15)]
    return [
        [job.key for job in jobs],
        [int(job.kind) for job in jobs],
        [job.queue for job in jobs],
        [job.type for job in jobs],
        sparse([job.instance or None for job in jobs]),
        sparse([job.element_instance or None for job in jobs]),
        sparse([job.element or None for job in jobs]),
        sparse([job.definition or None for job in jobs]),
        sparse([job.priority for job in jobs]),
        sparse([job.run_at or None for job in jobs]),
        sparse([job.delay_ms for job in jobs]),
        [job.retries for job in jobs],
        sparse([job.args or None for job in jobs]),
        sparse([job.owner or None for job in jobs]),
        sparse([job.tenant or None for job in jobs]),
    ]


def sparse(column: list[Any]) -> list[Any]:
    """The column, or an empty one when it holds nothing but zeros, empty values and nulls."""
    return column if any(column) else []


def tags_column(steps: Sequence[Step]) -> list[bytes | None]:
    """Lists of tags as JSON: PostgreSQL has no ragged arrays."""
    return sparse([encode_json(step.tags) if step.tags else None for step in steps])


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
    why = refusal_of_json((step.variables, step.events))
    if not why and step.new_jobs:
        why = refusal_of_json(job.args for job in step.new_jobs)
    return why


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
