"""What the demonstration shows: a live table, a story, the books. On a terminal it moves; elsewhere it is lines."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text
from story import Line

COLOURS = {"✗": "red", "✓": "green", "◷": "yellow", "↯": "red", "●": "bold green"}


class Row:
    """An order on the table."""

    def __init__(self, order_id: str, about: str) -> None:
        self.order_id = order_id
        self.about = about
        self.total = ""
        self.place = "not placed yet"
        self.trail = ""


class Board:
    """The table of running orders; ``show`` after changing rows."""

    def __init__(self, console: Console, rows: Sequence[Row]) -> None:
        self._console = console
        self._rows = rows
        self._live = Live(self._table(), console=console, auto_refresh=False) if console.is_terminal else None
        self._shown: dict[str, str] = {}

    def show(self, elapsed_s: float) -> None:
        """Draw again, or print the rows whose place has changed."""
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
            return
        for row in self._rows:
            if self._shown.get(row.order_id) != row.place:
                self._shown[row.order_id] = row.place
                self._console.print(f"{elapsed_s:6.2f} s  {row.order_id}  {row.place}", highlight=False)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("order")
        table.add_column("what is special", max_width=34)
        table.add_column("total", justify="right", min_width=8)
        table.add_column("where it is", min_width=32)
        table.add_column("the way so far", min_width=20)
        for row in self._rows:
            style = "green" if row.place.startswith("●") else ""
            table.add_row(row.order_id, row.about, row.total, Text(row.place, style), coloured(row.trail))
        return table

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()


def coloured(symbols: str) -> Text:
    """Symbols in their colours."""
    return Text.assemble(*((symbol, COLOURS.get(symbol, "cyan")) for symbol in symbols))


def print_story(console: Console, title: str, lines: Sequence[Line]) -> None:
    """The way of one order through the diagram, from top to bottom, with the time at which it came by."""
    heading(console, title)
    for line in lines:
        text = Text()
        text.append(f"{line.at:7.2f} s  ", style="dim")
        text.append("│  " * line.depth, style="dim")
        text.append(f"{line.symbol} ", style=COLOURS.get(line.symbol, "cyan"))
        text.append(line.text, style="" if line.symbol not in "✗✓" else COLOURS[line.symbol])
        note = ", ".join(part for part in (line.note, f"{line.took:.2f} s" if line.took else "") if part)
        if note:
            text.append(" " * max(2, 48 - len(text.plain)))
            text.append(note, style="dim")
        console.print(text, highlight=False, soft_wrap=True)


def heading(console: Console, text: str) -> None:
    """A title with a line of air above."""
    console.print()
    console.print(Text(text, style="bold"), highlight=False, soft_wrap=True)


def say(console: Console, text: str, style: str = "") -> None:
    """A sentence."""
    console.print(Text(text, style), highlight=False, soft_wrap=True)
