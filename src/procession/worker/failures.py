"""A failure as text for a person: type, message, and a traceback that is bounded and shows the handler's own frames."""

from __future__ import annotations

import traceback

from procession.limits import ERROR_TEXT_CHARS_MAX

FRAMES_MAX = 12
NOT_ITS_OWN = (KeyboardInterrupt, GeneratorExit)  # of the process and of its loop, while a handler happened to run


def written(text: str) -> str:
    """The text with lone surrogates escaped, as a file name that is no UTF-8 brings them: no store takes those."""
    return text.encode("utf-8", "backslashreplace").decode()


def failure_text(error: BaseException) -> str:
    """Type and message first, then where it came from; too long a text loses its middle."""
    summary = traceback.TracebackException.from_exception(error, limit=-FRAMES_MAX)
    head = "".join(summary.format_exception_only()).strip()
    where = "".join(summary.format()).strip()
    return cut(f"{head}\n{where}", ERROR_TEXT_CHARS_MAX)


def type_name(error: BaseException) -> str:
    """What kind of error it is: with its module, unless that is Python's own or ours."""
    kind = type(error)
    is_plain = kind.__module__ == "builtins" or kind.__module__.startswith("procession.")
    return kind.__qualname__ if is_plain else f"{kind.__module__}.{kind.__qualname__}"


def cut(text: str, chars_max: int) -> str:
    """Too long a text without its middle."""
    if len(text) <= chars_max:
        return text
    half = chars_max // 2 - 20
    return f"{text[:half]}\n… {len(text) - 2 * half} characters …\n{text[-half:]}"
