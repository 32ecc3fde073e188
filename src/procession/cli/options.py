"""The options that every command has, before or after its name: where the database is, how to print. Plain data.

``with_options`` gives a command these options, so that ``procession --json jobs`` and ``procession jobs --json`` are
the same; the command reads them with ``options()``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any, get_type_hints

import msgspec
import typer

URL_VARIABLE = "PROCESSION_URL"
DEFAULT_URL = "sqlite:///procession.db"
PANEL = "Options of every command"

Url = Annotated[
    str,
    typer.Option(
        "--url",
        metavar="URL",
        help=f"The database: sqlite:///file.db or postgresql://… (or ${URL_VARIABLE}; otherwise that of the "
        f"application named, else {DEFAULT_URL}).",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON, and nothing else, on stdout; errors as JSON on stderr.", rich_help_panel=PANEL
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error, and log more.", rich_help_panel=PANEL)
]


class Options(msgspec.Struct, frozen=True):
    """What stood on the command line for every command."""

    url: str = ""  # empty: not said
    json: bool = False
    debug: bool = False


_current: ContextVar[Options] = ContextVar("options", default=Options())  # noqa: B039 - it is frozen


def options() -> Options:
    """The options of the command that runs."""
    return _current.get()


def begin(new: Options) -> None:
    """A command line begins: its options are these."""
    _current.set(new)


def add(url: str, json: bool, debug: bool) -> None:
    """These were said too; what was said last wins."""
    before = options()
    _current.set(Options(url or before.url, json or before.json, debug or before.debug))


def with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of every command added to its own."""
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    own = [parameter.replace(annotation=hints[name]) for name, parameter in signature.parameters.items()]
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter("url", keyword, default="", annotation=Url),
        inspect.Parameter("as_json", keyword, default=False, annotation=AsJson),
        inspect.Parameter("debug", keyword, default=False, annotation=Debug),
    ]

    @functools.wraps(function)
    def command(*, url: str, as_json: bool, debug: bool, **own_arguments: object) -> object:
        add(url, as_json, debug)
        return function(**own_arguments)

    # typer reads the signature; what it would find behind `__wrapped__` are texts of another module
    command.__signature__ = signature.replace(parameters=[*own, *added])  # pyright: ignore[reportAttributeAccessIssue]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *added]}
    return command
