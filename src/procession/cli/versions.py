"""What the listings of deployed things share: processes, decisions and forms, each with its versions and its file."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from procession.cli import screen
from procession.cli.options import options
from procession.cli.session import run
from procession.cli.tables import KEY, Column

if TYPE_CHECKING:
    from datetime import datetime

    from rich.text import Text

    from procession.app import Procession
    from procession.app.views import View

V = TypeVar("V", bound="View")


class Version(Protocol):
    """What versions of all kinds have."""

    @property
    def version(self) -> int:
        """Counts from 1."""
        ...

    @property
    def version_tag(self) -> str:
        """As its file says."""
        ...

    @property
    def resource_name(self) -> str:
        """The file."""
        ...

    @property
    def deployed_at(self) -> datetime | None:
        """When it came."""
        ...

    @property
    def created(self) -> bool:
        """Whether the deployment that is told of made it."""
        ...


COLUMNS = (Column("version", right=True), Column("tag", rank=1), Column("file"), Column("deployed", whole=True))


def cells(row: Version) -> tuple[str, ...]:
    """The cells of ``COLUMNS``."""
    return (str(row.version), row.version_tag, row.resource_name, screen.when(row.deployed_at))


def print_file(find: Callable[[Procession], Awaitable[bytes]]) -> None:
    """A deployed file on stdout, byte for byte."""
    content = run(find)
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


def show_versions(
    what: str, name: str, rows: Sequence[V], columns: Sequence[Column], line: Callable[[V], tuple[str | Text, ...]]
) -> None:
    """Versions as JSON or as a table; where there are none, how to get some. ``name``: the only one asked for."""
    if options().json:
        screen.views(rows)
        return
    if not rows:
        none = f"No version of '{name}' is deployed" if name else f"No {what} is deployed"
        screen.note(f"{none}: procession deploy FILE…")
        return
    screen.table(columns, [line(row) for row in rows])


def show_deployed(what: str, rows: Sequence[tuple[int, str, Version]], more: Sequence[str] = ()) -> None:
    """What a deployment made or found: (key, id, version) each; ``more``: a further cell of each, such as methods."""
    columns = (
        KEY,
        Column(what, whole=True),
        Column("version", right=True),
        Column(""),
        Column("file"),
        Column("methods"),
    )
    rest = [*more, *[""] * (len(rows) - len(more))]
    screen.table(
        columns,
        [
            (
                screen.key(key),
                name,
                str(row.version),
                screen.styled("new", "green") if row.created else screen.styled("unchanged", "dim"),
                row.resource_name,
                cell,
            )
            for (key, name, row), cell in zip(rows, rest, strict=True)
        ],
    )
