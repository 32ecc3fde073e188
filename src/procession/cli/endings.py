"""How a command ends: an exit code, and for an error one clear line (JSON with ``--json``), never a traceback unasked.

0  done
1  rejected, or lint found errors: the same command gives the same answer again
2  the command line itself is wrong
3  unavailable: nothing is wrong with the command, try again later
70 a bug of ours
130 interrupted
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from procession.cli import screen
from procession.cli.options import Options, begin, options
from procession.errors import Bug, InvalidModel, ProcessionError, Unavailable

DONE, REJECTED, USAGE, UNAVAILABLE, BUG, INTERRUPTED = 0, 1, 2, 3, 70, 130


class Program(TyperGroup):
    """The root of all commands: turns every exception into an ending."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # noqa: ANN401 - as in typer
    ) -> object:
        """Run a command line; the process ends with its exit code."""
        arguments = list(sys.argv[1:] if args is None else args)
        # The line may be too wrong to be parsed, and an error has to be JSON even then.
        begin(Options(json="--json" in arguments, debug="--debug" in arguments))
        try:
            code = super().main(arguments, prog_name, complete_var, False, windows_expand_args, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read the output (`| head`) has enough; the interpreter must not flush into the pipe again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = DONE
        except Exception as error:  # noqa: BLE001 - the rim: everything becomes an ending
            code = _end(error)
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else DONE)


def _end(error: Exception) -> int:
    """Say what happened; the exit code."""
    code = exit_code(error)
    if options().debug:
        traceback.print_exception(error)
    if isinstance(error, typer.Abort):
        screen.errors().print("Interrupted")
    elif options().json:
        screen.error_json(_as_json(error))
    else:
        screen.error(_text(error, code))
    return code


def exit_code(error: Exception) -> int:
    """Which exit code an exception stands for."""
    if isinstance(error, typer.Abort):
        return INTERRUPTED
    if _is_usage(error):
        return USAGE
    if isinstance(error, Unavailable | TimeoutError):
        return UNAVAILABLE
    if isinstance(error, ProcessionError | OSError) and not isinstance(error, Bug):
        return REJECTED
    return BUG


def _is_usage(error: Exception) -> bool:
    """Whether the parser of the command line raised it. Its classes have moved between versions of typer."""
    return hasattr(error, "format_message") and getattr(error, "exit_code", None) == USAGE


def _text(error: Exception, code: int) -> str:
    """One error for people."""
    if code == USAGE:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "procession"
        return f"{_usage(error)}\nSee: {path} --help"
    if code == BUG:
        return (
            f"{type(error).__name__}: {error}\nThis is a bug of Procession; please report it with what --debug shows."
        )
    return str(error)


def _usage(error: Exception) -> str:
    """What the parser says."""
    return str(getattr(error, "format_message", lambda: "")())


def _as_json(error: Exception) -> dict[str, Any]:
    """One error for programs."""
    code = exit_code(error)
    kind = "Usage" if code == USAGE else type(error).__name__
    message = _usage(error) if code == USAGE else str(error)
    found: dict[str, Any] = {"type": kind, "message": message, "exitCode": code}
    if isinstance(error, InvalidModel):
        found["problems"] = [str(problem) for problem in error.problems]
    return {"error": found}
