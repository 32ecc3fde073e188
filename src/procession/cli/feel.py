"""``procession feel``: evaluate FEEL, once or line by line. It needs no database."""

from __future__ import annotations

import atexit
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.options import options, with_options
from procession.cli.values import Var, json_object, variables

if TYPE_CHECKING:
    from procession.feel import FeelSyntaxError, FeelWarning

PROMPT = "feel> "
HISTORY_LINES = 1_000
HELP = """\
An expression shows its value and its type. Besides:
  :set NAME EXPRESSION   give a name a value
  :context JSON|FILE     read names from a file or an object
  :names                 what is known
  :functions [TEXT]      what can be called, with its arguments
  :quit                  end (also Ctrl-D)"""

Context = dict[str, Any]

Strict = Annotated[bool, typer.Option("--strict", help="A warning makes the exit code 1.")]


@with_options
def feel(
    expression: Annotated[
        str | None,
        typer.Argument(help="The expression (after -- if it begins with a minus sign); without one: line by line."),
    ] = None,
    context: Annotated[
        str, typer.Option("--context", "-c", metavar="JSON|FILE", help="What the names mean: an object, or a file.")
    ] = "",
    var: Var = None,
    strict: Strict = False,
) -> None:
    """Evaluate FEEL expressions.

    Shows the value, its type, and why parts of it are null. Without an expression it reads one a line. The exit code is
    1 where one is no FEEL.
    """
    names = read_context(context) if context else {}
    names |= variables(var)
    good = _lines(names, strict=strict) if expression is None else _answer(expression, names, strict=strict)
    if not good:
        raise typer.Exit(REJECTED)


def read_context(source: str) -> Context:
    """Names from a JSON object, a file's name, or ``-``. Raises InvalidValue."""
    is_name = not source.lstrip().startswith(("{", "[", '"', "@")) and source != "-"
    return json_object(f"@{source}" if is_name else source, "--context")


def _answer(expression: str, names: Context, *, strict: bool) -> bool:
    """Evaluate and show; False for a syntax error, and for a warning if that counts."""
    from procession.feel import FeelSyntaxError, compile  # noqa: PLC0415, A004 - quick start

    try:
        compiled = compile(expression, names)
    except FeelSyntaxError as error:
        _show_syntax_error(error)
        return False
    warnings: list[FeelWarning] = []
    found = compiled.evaluate(names, now=datetime.now(UTC).astimezone(), warnings=warnings)
    _show(found, warnings)
    return not (strict and warnings)


def _show(found: object, warnings: list[FeelWarning]) -> None:
    """Value, type, warnings."""
    kind = type_name(found)
    if options().json:
        screen.json({"value": plain(found), "type": kind, "warnings": warnings})
        return
    screen.line(written(found), (f"   {kind}", "dim"))
    for warning in warnings:
        screen.note(("! ", "yellow"), str(warning))


def _show_syntax_error(error: FeelSyntaxError) -> None:
    """Where the text stops to be FEEL."""
    if options().json:
        found = {"type": "FeelSyntaxError", "message": error.message, "line": error.line, "column": error.column}
        screen.error_json({"error": {**found, "exitCode": REJECTED}})
        return
    lines = error.text.splitlines() or [""]
    screen.note("  ", lines[min(error.line, len(lines)) - 1])
    screen.note("  ", " " * (error.column - 1), ("^", "bold red"))
    screen.error(f"{error.message} (line {error.line}, column {error.column})")


def type_name(found: object) -> str:
    """The type's name in FEEL."""
    from procession.feel import (  # noqa: PLC0415 - quick start
        Date,
        DateTime,
        DaysDuration,
        Function,
        MonthsDuration,
        Range,
        Time,
    )

    names = {
        bool: "boolean",
        str: "string",
        list: "list",
        dict: "context",
        Date: "date",
        Time: "time",
        DateTime: "date and time",
        DaysDuration: "days and time duration",
        MonthsDuration: "years and months duration",
        Range: "range",
        Function: "function",
    }
    return "null" if found is None else next((names[kind] for kind in names if type(found) is kind), "number")


def plain(found: object) -> object:
    """The value as JSON has it; as FEEL writes it where there is a function in it."""
    from procession.feel import text_of, to_json  # noqa: PLC0415 - quick start

    try:
        return to_json(found)
    except ValueError:
        return text_of(found)


def written(found: object) -> str:
    """The value for eyes: as FEEL writes it; a number with all its digits, a date as it is, since its type is told."""
    from procession.feel import text_of, to_json  # noqa: PLC0415 - quick start

    match type_name(found):
        case "number":
            return str(found)
        case "string" | "boolean" | "null" | "list" | "context" | "range" | "function":
            return text_of(found)
        case _:
            return str(to_json(found))


# -- line by line -----------------------------------------------------------------------------------------------------
def _lines(names: Context, *, strict: bool) -> bool:
    """Read expressions until the input ends; False where a program typed one that is no FEEL."""
    asks = sys.stdin.isatty()
    good = True
    if asks:
        _remember_lines()
        screen.note("FEEL, one expression a line; :help tells more, Ctrl-D ends.")
    while True:
        text = _line() if asks else sys.stdin.readline()
        if not text:
            break
        text = text.strip()
        if text in {":quit", ":q"}:
            break
        if text.startswith(":"):
            _command(text, names)
        elif text:
            good = _answer(text, names, strict=strict) and good
    return asks or good


def _line() -> str:
    """A line that was typed, with its end; nothing where the input ended. Ctrl-C gives up the line, not the session."""
    try:
        return input(PROMPT) + "\n"
    except KeyboardInterrupt:
        screen.note("")
        return "\n"
    except EOFError:
        screen.note("")
        return ""


def _command(text: str, names: Context) -> None:
    """A line that begins with a colon."""
    from procession.errors import InvalidValue  # noqa: PLC0415 - beside its only use

    verb, _, rest = text[1:].partition(" ")
    name, _, expression = rest.strip().partition(" ")
    if verb == "set" and name and expression:
        _set(name, expression, names)
    elif verb == "context" and rest:
        try:
            names.update(read_context(rest.strip()))
        except InvalidValue as error:
            screen.error(str(error))
    elif verb == "functions":
        _functions(rest.strip())
    elif verb == "names":
        screen.pairs((known, written(value)) for known, value in sorted(names.items()))
    else:
        screen.note(HELP)


def _functions(text: str) -> None:
    """The names of all functions, or how those are called whose name holds a text."""
    from procession.feel.functions.registry import BUILTINS  # noqa: PLC0415 - quick start

    found = [BUILTINS[name] for name in sorted(BUILTINS) if text in name]
    if not text:
        screen.paragraph(", ".join(function.name for function in found), indent=2)
        return
    for function in found:
        screen.paragraph(function.usage(), indent=2)
    if not found:
        screen.note(f"No function's name holds '{text}'.")


def _set(name: str, expression: str, names: Context) -> None:
    """Give a name the value of an expression."""
    from procession.feel import FeelSyntaxError, compile  # noqa: PLC0415, A004 - quick start

    try:
        names[name] = compile(expression, names).evaluate(names, now=datetime.now(UTC).astimezone())
    except FeelSyntaxError as error:
        _show_syntax_error(error)


def _remember_lines() -> None:
    """Lines typed before come back with the arrow keys, also next time."""
    try:
        import readline  # noqa: PLC0415 - changes how input() works
    except ImportError:
        return  # Windows: the console remembers lines itself
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "procession"
    file = folder / "feel_history"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        readline.read_history_file(file)
    except OSError:
        return  # a home that cannot be written to: nothing is remembered
    readline.set_history_length(HISTORY_LINES)
    atexit.register(readline.write_history_file, file)
