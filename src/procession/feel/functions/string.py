"""Built-in functions on strings. Positions count code points, from 1, or from the end with -1."""

from typing import Final

from procession.feel import regex
from procession.feel.functions.registry import builtin
from procession.feel.limits import STRING_LENGTH_MAX
from procession.feel.numbers import Number, whole
from procession.feel.problems import Invalid, LimitReached
from procession.feel.run import Run
from procession.feel.values import feel, kind_of


@builtin("substring(string: string, start position: number, length?: number)")
def substring(text: str, start_position: Number, length: Number | None = None) -> str:
    start = whole(start_position)
    if not start or abs(start) > len(text):
        raise Invalid(f"the start position must lie in the string of {len(text)} characters, found {start}")
    first = start - 1 if start > 0 else len(text) + start
    if length is None:
        return text[first:]
    if length < 1:
        raise Invalid(f"the length must be at least 1, found {length}")
    return text[first : first + whole(length)]


@builtin("string length(string: string)")
def string_length(text: str) -> int:
    return len(text)


@builtin("upper case(string: string)")
def upper_case(text: str) -> str:
    return text.upper()


@builtin("lower case(string: string)")
def lower_case(text: str) -> str:
    return text.lower()


@builtin("substring before(string: string, match: string)")
def substring_before(text: str, match: str) -> str:
    return text.partition(match)[0] if match and match in text else ""


@builtin("substring after(string: string, match: string)")
def substring_after(text: str, match: str) -> str:
    return text.partition(match)[2] if match else text


@builtin("contains(string: string, match: string)")
def contains(text: str, match: str) -> bool:
    return match in text


@builtin("starts with(string: string, match: string)")
def starts_with(text: str, match: str) -> bool:
    return text.startswith(match)


@builtin("ends with(string: string, match: string)")
def ends_with(text: str, match: str) -> bool:
    return text.endswith(match)


@builtin("matches(input: string, pattern: string, flags?: string?)")
def matches(run: Run, text: str, pattern: str, flags: str | None = None) -> bool:
    return regex.compile_pattern(pattern, flags or "").search(text, run) is not None


@builtin("replace(input: string, pattern: string, replacement: string, flags?: string?)")
def replace(run: Run, text: str, pattern: str, replacement: str, flags: str | None = None) -> str:
    return regex.compile_pattern(pattern, flags or "").replace(text, replacement, run)


@builtin("split(string: string, delimiter: string)")
def split(run: Run, text: str, delimiter: str) -> list[str]:
    return regex.compile_pattern(delimiter, "").split(text, run)


@builtin(
    "string join(list: list)",
    "string join(list: list, delimiter: string?)",
    "string join(list: list, delimiter: string?, prefix: string?, suffix: string?)",
)
def string_join(
    items: list[object], delimiter: str | None = None, prefix: str | None = None, suffix: str | None = None
) -> str:
    """Nulls are left out."""
    parts: list[str] = []
    gap, length = len(delimiter or ""), 0
    for item in map(feel, items):
        if isinstance(item, str):
            parts.append(item)
            length += len(item) + gap
            bounded_length(length)
        elif item is not None:
            raise Invalid(f"all items must be strings, found a {kind_of(item)}")
    return bounded((prefix or "") + (delimiter or "").join(parts) + (suffix or ""))


_MAX: Final = STRING_LENGTH_MAX


def bounded(text: str) -> str:
    """Raises LimitReached for a string that is too long."""
    bounded_length(len(text))
    return text


def bounded_length(length: int) -> None:
    """Raises LimitReached for a string that would be too long, before it is made."""
    if length > _MAX:
        raise LimitReached("STRING_LENGTH_MAX", _MAX)
