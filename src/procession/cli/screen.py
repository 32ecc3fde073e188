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
    from procession.cli.tables import Column

WIDE = 10_000  # columns where there is no terminal
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
    with to_errors():
        paragraph(styled("Error: ", "bold red").append(message, "none"))


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


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], below: Iterable[str | Text] | None = None
) -> None:
    """A table for eyes; ``below`` is a line of its own under each row, or nothing.

    Columns without content are left out, and some where the terminal is too narrow; that is said.
    """
    from procession.cli.tables import GAP, layout  # noqa: PLC0415 - as above

    cells = [[styled(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
    longest = [max((row[index].cell_len for row in cells), default=0) for index in range(len(columns))]
    made = layout(columns, longest, output().width)
    titles = [styled(columns[index].title, "bold") for index in made.shown]
    under = list(below) if below is not None else [""] * len(cells)
    rights = [columns[index].right for index in made.shown]
    _row(titles, made.widths, rights, GAP)
    for row, text in zip(cells, under, strict=True):
        _row([row[index] for index in made.shown], made.widths, rights, GAP)
        if text:
            paragraph(text, indent=GAP)
    if made.left_out:
        names = ", ".join(columns[index].title for index in made.left_out)
        note((f"Too narrow for: {names} (--json has them)", "dim"))


def _row(cells: Sequence[Text], widths: Sequence[int], rights: Sequence[bool], gap: int) -> None:
    """The lines of one row."""
    console = output()
    wrapped = [
        list(cell.wrap(console, max(1, width), overflow="fold")) for cell, width in zip(cells, widths, strict=True)
    ]
    for number in range(max(map(len, wrapped), default=0)):
        text = styled("", "")
        for lines, width, right in zip(wrapped, widths, rights, strict=True):
            part = lines[number].copy() if number < len(lines) else styled("", "")
            part.rstrip()
            (part.pad_left if right else part.pad_right)(max(0, width - part.cell_len))
            text.append_text(part)
            text.append(" " * gap)
        text.rstrip()
        console.print(text, soft_wrap=True)


def pairs(rows: Iterable[tuple[str, str | Text]], indent: int = 2) -> None:
    """Names and values, one pair a line; long values continue under themselves."""
    found = list(rows)
    names = max((len(name) for name, _ in found), default=0)
    for name, value in found:
        _row(
            [styled(" " * indent + name, "dim"), styled(value, "") if isinstance(value, str) else value],
            [indent + names, max(20, output().width - indent - names - 2)],
            [False, False],
            2,
        )


def paragraph(text: str | Text, *, indent: int = 0, style: str = "") -> None:
    """A text that may be longer than a line: broken between words, every line indented."""
    console = output()
    whole = styled(text, style) if isinstance(text, str) else text
    for part in whole.wrap(console, max(20, console.width - indent), overflow="fold"):
        part.rstrip()
        console.print(styled(" " * indent, "") + part, soft_wrap=True)


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
    """An instant on this machine's clock: the time if it is of today, else the day too, and another year's with it."""
    if instant is None:
        return ""
    local = instant.astimezone()
    now = datetime.now(local.tzinfo)
    if local.date() == now.date():
        return f"{local:%H:%M:%S}"
    return f"{local:%m-%d %H:%M}" if local.year == now.year else f"{local:%Y-%m-%d %H:%M}"


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


def counted(number: int, name: str) -> str:
    """A number of things."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


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

    def to(self, done: int) -> None:
        """So many are done."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done)


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
    console = output()
    at = f"{at_s:8.2f} s  " if at_s < 3600 else f"{lasting(at_s):>10}  "
    start = styled(at + indent, "dim")
    room = max(20, console.width - start.cell_len)
    column = min(42, console.width // 2 + 4)
    first = start + text
    gap = max(2, column - first.cell_len)
    if note and first.cell_len + gap + len(note) <= console.width:
        console.print(first + styled(" " * gap + note, "dim"), soft_wrap=True)
        return
    parts = [*text.wrap(console, room, overflow="fold")]
    if note:
        parts += [*styled("  " + note, "dim").wrap(console, room, overflow="fold")]
    for number, part in enumerate(parts):
        part.rstrip()
        before = start if number == 0 else styled(" " * len(at) + indent, "dim")
        console.print(before + part, soft_wrap=True)
