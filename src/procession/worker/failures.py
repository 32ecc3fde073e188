"""A failure as text for a person: type, message, and a traceback that is bounded and shows the handler's own frames."""

from __future__ import annotations

import asyncio
import traceback

from procession.limits import ERROR_TEXT_CHARS_MAX

FRAMES_MAX = 12


class FarError(Exception):
    """What a handler in a process raised, where the exception itself cannot be carried here: told instead of raised."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.text = text


def written(text: str) -> str:
    """The text with lone surrogates escaped, as a file name that is no UTF-8 brings them: no store takes those."""
    return text.encode("utf-8", "backslashreplace").decode()


def failure_text(error: BaseException) -> str:
    """Type and message first, then where it came from; too long a text loses its middle."""
    if isinstance(error, FarError):
        return error.text
    summary = traceback.TracebackException.from_exception(error, limit=-FRAMES_MAX)
    head = "".join(summary.format_exception_only()).strip()
    where = "".join(summary.format()).strip()
    return cut(head if where == head else f"{head}\n{where}", ERROR_TEXT_CHARS_MAX)


def type_name(error: BaseException) -> str:
    """What kind of error it is: with its module, unless that is Python's own or ours."""
    if isinstance(error, FarError):
        return error.kind
    kind = type(error)
    is_plain = kind.__module__ == "builtins" or kind.__module__.startswith("procession.")
    return kind.__qualname__ if is_plain else f"{kind.__module__}.{kind.__qualname__}"


def is_not_its_own(error: BaseException, task: asyncio.Task[None] | None) -> bool:
    """Whether it is of the process (Ctrl-C) or of its loop, while a handler of this task happened to run.

    A GeneratorExit that ends a coroutine comes while its task is at rest; otherwise it was the handler that raised it.
    """
    if not isinstance(error, GeneratorExit):
        return isinstance(error, KeyboardInterrupt)
    try:
        return task is None or asyncio.current_task() is not task
    except RuntimeError:  # the loop has ended
        return True


def cut(text: str, chars_max: int) -> str:
    """Too long a text without its middle."""
    if len(text) <= chars_max:
        return text
    half = chars_max // 2 - 20
    return f"{text[:half]}\n… {len(text) - 2 * half} characters …\n{text[-half:]}"
