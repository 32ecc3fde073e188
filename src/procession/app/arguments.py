"""What callers give, made what the engine takes: keys, texts, numbers, spans of time, files' contents. Pure.

Every argument of the public object passes here, so that a wrong one is refused by its own name, alike on every
database, before anything is asked or written. It looks nothing up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

from procession.errors import InvalidValue, Misconfigured
from procession.jobs.retry import span_ms
from procession.jobs.schedule import duration_ms
from procession.limits import (
    ERROR_TEXT_CHARS_MAX,
    KEY_TEXT_BYTES_MAX,
    MESSAGE_TTL_MS_MAX,
    NAME_BYTES_MAX,
    PAGE_MAX,
    TAGS_MAX,
)

KEY_MAX = 2**63 - 1
VERSION_MAX = 2**31 - 1
SHOWN_CHARS = 60  # of a value that is repeated in a message


def key(value: object, what: str) -> int:
    """The key of something that exists. Raises InvalidValue."""
    return whole(value, what, 1, KEY_MAX)


def key_or_none(value: object, what: str) -> int:
    """A key, or 0 for none of them. Raises InvalidValue."""
    return whole(value, what, 0, KEY_MAX)


def whole(value: object, what: str, least: int, most: int) -> int:
    """A whole number within bounds. Raises InvalidValue."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    message = f"Expected {what} to be a whole number from {least} to {most}, found {shown(value)}"
    raise InvalidValue(message)


def flag(value: object, what: str) -> bool:
    """True or False, and nothing that stands for it. Raises InvalidValue."""
    if isinstance(value, bool):
        return value
    message = f"Expected {what} to be True or False, found {shown(value)}"
    raise InvalidValue(message)


def page(limit: object) -> int:
    """How many rows a page has. Raises InvalidValue."""
    if isinstance(limit, int) and not isinstance(limit, bool) and 1 <= limit <= PAGE_MAX:
        return limit
    message = f"Expected a limit from 1 to {PAGE_MAX} (PAGE_MAX), found {shown(limit)}"
    raise InvalidValue(message)


def name(value: object, what: str) -> str:
    """A name that must be there. Raises InvalidValue."""
    if value == "":
        message = f"Expected {what} to be a text of at least one character, found an empty one"
        raise InvalidValue(message)
    return text(value, what)


def text(value: object, what: str, bytes_max: int = NAME_BYTES_MAX, limit: str = "NAME_BYTES_MAX") -> str:
    """A text that every database can hold; it may be empty. Raises InvalidValue."""
    if not isinstance(value, str):
        message = f"Expected {what} to be a text, found {shown(value)}"
        raise InvalidValue(message)
    if "\0" in value:
        message = f"Expected {what} without the NUL character (U+0000), found {shown(value)}"
        raise InvalidValue(message)
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        message = f"Expected {what} as Unicode text, found a lone surrogate at character {error.start}: {shown(value)}"
        raise InvalidValue(message) from error
    if size > bytes_max:
        message = f"Expected {what} of at most {bytes_max} bytes ({limit}), found {size}: {shown(value)}"
        raise InvalidValue(message)
    return value


def key_text(value: object, what: str) -> str:
    """A correlation key or a message id: it is indexed, so it is short. Raises InvalidValue."""
    return text(value, what, KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX")


def reason(value: object) -> str:
    """Why somebody did something. Raises InvalidValue."""
    return text(value, "reason", ERROR_TEXT_CHARS_MAX, "ERROR_TEXT_CHARS_MAX")


def variables(values: Any) -> Any:  # noqa: ANN401 - a mapping, or an object that the engine makes one of
    """Variables, none for None; what is empty without being a mapping is a mistake. Raises InvalidValue."""
    if values is None:
        return {}
    if values or isinstance(values, Mapping):
        return cast("Any", values)
    message = f"Expected variables to be an object of names and values, found {shown(values)}"
    raise InvalidValue(message)


def tags(values: object) -> list[str]:
    """Tags of an instance; a single text is not taken for a list of letters. Raises InvalidValue."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        message = f"Expected tags to be a list of texts, found {shown(values)}"
        raise InvalidValue(message)
    found = [name(value, "a tag") for value in cast("Iterable[object]", values)]
    if len(found) > TAGS_MAX:
        message = f"Expected at most {TAGS_MAX} tags (TAGS_MAX), found {len(found)}"
        raise InvalidValue(message)
    return found


def names(values: object, what: str) -> list[str]:
    """Names; a single text is not taken for a list of letters. Raises InvalidValue."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        message = f"Expected {what} to be a list of names, found {shown(values)}"
        raise InvalidValue(message)
    return [name(value, f"a name in {what}") for value in cast("Iterable[object]", values)]


def mapping(values: object, what: str) -> Mapping[Any, Any]:
    """What is paired with what; nothing for None. Raises InvalidValue."""
    if values is None:
        return {}
    if isinstance(values, Mapping):
        return cast("Mapping[Any, Any]", values)
    message = f"Expected {what} to be an object of names and values, found {shown(values)}"
    raise InvalidValue(message)


def names_to_names(values: object, what: str) -> dict[str, str]:
    """Names that stand for other names. Raises InvalidValue."""
    pairs = mapping(values, what).items()
    return {name(one, f"a name in {what}"): name(other, f"a name in {what}") for one, other in pairs}


def rate(value: object, what: str) -> float:
    """How many in a second; 0 for as fast as it goes. Raises InvalidValue."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return value
    message = f"Expected {what} of 0 (as fast as it goes) or more, found {shown(value)}"
    raise InvalidValue(message)


def seconds(value: object, what: str) -> float | None:
    """A time limit in seconds; None, or infinity, for none. Raises InvalidValue.

    A NaN would put the event loop's timers out of order: every one of them would be late for ever.
    """
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return None if math.isinf(value) else float(value)
    message = f"Expected {what} to be seconds from 0 on, or None for no limit, found {shown(value)}"
    raise InvalidValue(message)


def ttl_ms(value: object) -> int:
    """A time to live, in milliseconds: seconds, '30s', '1h', ISO 8601, a timedelta. Raises InvalidValue."""
    try:
        is_iso = isinstance(value, str) and value.strip().startswith("P")
        milliseconds = duration_ms(value) if is_iso else span_ms(value, "a time to live")
    except Misconfigured:
        milliseconds = -1
    if 0 <= milliseconds <= MESSAGE_TTL_MS_MAX:
        return milliseconds
    message = (
        "Expected a time to live to be seconds, a text such as '30s', '1h' or 'PT1H', or a timedelta, from 0 to "
        f"{MESSAGE_TTL_MS_MAX} ms (MESSAGE_TTL_MS_MAX), found {shown(value)}"
    )
    raise InvalidValue(message)


def content(value: object, what: str) -> bytes:
    """The bytes of a file. Raises InvalidValue."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(cast("bytes", value))
    message = f"Expected {what} to be bytes, found {shown(value)}"
    raise InvalidValue(message)


def shown(value: Any) -> str:  # noqa: ANN401 - whatever a caller gave
    """A value as a message repeats it: what it is, and the beginning of what it holds."""
    try:
        found = repr(value)
    except Exception:  # noqa: BLE001 - a caller's own __repr__
        found = "?"
    cut = found if len(found) <= SHOWN_CHARS else f"{found[:SHOWN_CHARS]}..."
    return cut if isinstance(value, str) or value is None else f"{type(value).__name__} {cut}"
