"""What is printed: tables, pairs, JSON, progress. Human output is for eyes, ``--json`` for programs.

Data goes to stdout, everything else (progress, warnings, errors) to stderr. Without a terminal there are no colours and
no width, so that nothing is cut in a pipe.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID
    from rich.status import Status as RichStatus
    from rich.text import Text

    from procession.app.views import View

WIDE = 10_000  # columns where there is no terminal
KEY_WIDTH = 16  # digits of a key
STYLES = {
    "ACTIVE": "cyan",
    "COMPLETED": "green",
    "TERMINATED": "yellow",
    "SUSPENDED": "magenta",
    "READY": "cyan",
    "RUNNING": "bold cyan",
    "FAILED": "red",
    "error": "red",
    "warning": "yellow",
    "info": "blue",
}


class Column(msgspec.Struct, frozen=True):
    """A column of a table: its title, and whether its cells are kept on one line (keys, states, times)."""

    title: str
    whole: bool = False
    right: bool = False


KEY = Column("key", whole=True)


_to_errors: ContextVar[bool] = ContextVar("to_errors", default=False)


def output() -> Console:
    """Where data goes."""
    return _console(sys.stderr if _to_errors.get() else sys.stdout)


@contextmanager
def to_errors() -> Generator[None]:
    """What is printed within belongs to an error."""
    token = _to_errors.set(True)
    try:
        yield
    finally:
        _to_errors.reset(token)


def errors() -> Console:
    """Where everything else goes."""
    return _console(sys.stderr)


def _console(stream: IO[str]) -> Console:
    from rich.console import Console  # noqa: PLC0415 - JSON needs none of it

    width = None if stream.isatty() else WIDE
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def line(*parts: Text | str | tuple[str, str]) -> None:
    """A line of texts, or of (text, style) pairs; it is never broken by us."""
    from rich.text import Text  # noqa: PLC0415 - as above

    output().print(Text.assemble(*parts), soft_wrap=True)


def note(*parts: Text | str | tuple[str, str]) -> None:
    """A line beside the data."""
    from rich.text import Text  # noqa: PLC0415 - as above

    errors().print(Text.assemble(*parts), soft_wrap=True)


def error(message: str) -> None:
    """Something went wrong."""
    note(("Error: ", "bold red"), message)


def error_json(value: dict[str, Any]) -> None:
    """Something went wrong, for programs."""
    sys.stderr.write(msgspec.json.encode(value).decode() + "\n")


def json(value: object) -> None:
    """JSON on stdout; on a terminal with indentation. Views get their JSON names."""
    encoded = msgspec.json.encode(value, enc_hook=str)
    if sys.stdout.isatty():
        encoded = msgspec.json.format(encoded, indent=2)
    sys.stdout.write(encoded.decode() + "\n")
    sys.stdout.flush()


def json_line(value: object) -> None:
    """One JSON object on a line of stdout, at once."""
    sys.stdout.write(msgspec.json.encode(value, enc_hook=str).decode() + "\n")
    sys.stdout.flush()


def views(rows: Iterable[View]) -> None:
    """Views as a JSON array."""
    json([row.to_dict() for row in rows])


def table(columns: Sequence[Column], rows: Iterable[Sequence[str | Text]]) -> None:
    """A table for eyes; columns without any content are left out."""
    from rich.table import Table  # noqa: PLC0415 - as above

    cells = [list(row) for row in rows]
    shown = [index for index in range(len(columns)) if any(str(row[index]) for row in cells)]
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index in shown:
        column = columns[index]
        width = KEY_WIDTH if column is KEY else None
        made.add_column(
            column.title,
            no_wrap=column.whole,
            overflow="ellipsis" if column.whole else "fold",
            justify="right" if column.right else "left",
            min_width=width,
        )
    for row in cells:
        made.add_row(*(row[index] for index in shown))
    output().print(made)


def pairs(rows: Iterable[tuple[str, str | Text]], indent: int = 2) -> None:
    """Names and values, one pair a line; long values continue under themselves."""
    from rich.padding import Padding  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415 - as above

    made = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True, style="dim")
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(name, value)
    output().print(Padding(made, (0, 0, 0, indent)))


def paragraph(text: str, *, indent: int = 0, style: str = "") -> None:
    """A text that may be longer than a line: broken between words, every line indented."""
    from rich.padding import Padding  # noqa: PLC0415 - as above

    output().print(Padding(styled(text, style), (0, 0, 0, indent), expand=False))


def styled(text: str, style: str) -> Text:
    """A text in a style."""
    from rich.text import Text  # noqa: PLC0415 - as above

    return Text(text, style)


def heading(text: str) -> None:
    """A title with a line of air above."""
    output().print()
    line((text, "bold"))


def state(name: str, *, has_incident: bool = False) -> Text:
    """A state in its colour, marked if a person is needed."""
    from rich.text import Text  # noqa: PLC0415 - as above

    text = Text(name, STYLES.get(name, ""))
    if has_incident:
        text.append(" !", "bold red")
    return text


def key(number: int) -> str:
    """A key, or nothing for none."""
    return str(number) if number else ""


def when(instant: datetime | None) -> str:
    """An instant on this machine's clock: the time if it is of today, else the day too."""
    if instant is None:
        return ""
    local = instant.astimezone()
    today = local.date() == datetime.now(local.tzinfo).date()
    return f"{local:%H:%M:%S}" if today else f"{local:%Y-%m-%d %H:%M}"


def lasting(seconds: float) -> str:
    """A duration for eyes."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def value(found: object) -> str:
    """A variable's value as JSON."""
    return msgspec.json.encode(found, enc_hook=str).decode()


def more(rows: Sequence[object], limit: int, last_key: int) -> None:
    """Say that there may be more than this page."""
    if len(rows) == limit:
        note((f"The first {limit}; go on with --after {last_key}", "dim"))


@contextmanager
def waiting(text: str, *, quiet: bool = False) -> Generator[Status]:
    """A spinner on a terminal while the caller waits; elsewhere nothing."""
    console = errors()
    if quiet or not console.is_terminal:
        yield Status(None)
        return
    with console.status(text) as shown:
        yield Status(shown)


class Status:
    """A text that changes while the caller waits."""

    def __init__(self, shown: RichStatus | None) -> None:
        self._shown = shown

    def say(self, text: str) -> None:
        """What is waited for now."""
        if self._shown is not None:
            self._shown.update(text)


class Progress:
    """How much of a number of things is done."""

    def __init__(self, bar: Bar | None = None, task: TaskID | None = None) -> None:
        self._bar = bar
        self._task = task

    def step(self) -> None:
        """One more is done."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)


@contextmanager
def progress(text: str, total: int, *, quiet: bool = False) -> Generator[Progress]:
    """A bar on a terminal for many things; elsewhere nothing."""
    console = errors()
    if quiet or total < 2 or not console.is_terminal:
        yield Progress()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - as above
    from rich.progress import Progress as NewBar  # noqa: PLC0415 - as above

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with NewBar(*columns, console=console, transient=True) as bar:
        yield Progress(bar, bar.add_task(text, total=total))


def timed(at_s: float, indent: str, text: Text, note: str) -> None:
    """A line of a story: when, what, and a note at the right, or below where the terminal is too narrow for it."""
    from rich.table import Table  # noqa: PLC0415 - as above

    console = output()
    made = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(width=10, justify="right", style="dim", no_wrap=True)
    made.add_column(overflow="fold", min_width=min(44, console.width // 2))
    made.add_column(overflow="fold", style="dim")
    made.add_row(f"{at_s:.2f} s" if at_s < 3600 else lasting(at_s), styled(indent, "dim") + text, note)
    console.print(made)
