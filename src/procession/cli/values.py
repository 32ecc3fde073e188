"""Values that come from the command line, by one rule. Pure but for the files and the stdin that ``--vars`` names.

``--var name=value``: the value is JSON if it parses as JSON, else it is a text. ``total=12.5`` is a number,
``paid=true`` a boolean, ``items=["a"]`` a list, ``name=Ada`` and ``day=2026-01-31`` are texts, and ``zip='"01067"'``
keeps digits a text.
``--vars``: a JSON object, ``@file.json``, or ``-`` for stdin. Single ``--var`` win over it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from procession.errors import InvalidValue
from procession.limits import JSON_DEPTH_MAX

Var = Annotated[
    list[str] | None,
    typer.Option("--var", "-v", metavar="NAME=VALUE", help="A variable; the value is JSON if it parses, else a text."),
]
Vars = Annotated[
    str, typer.Option("--vars", metavar="JSON|@FILE|-", help="Variables as a JSON object, from a file, from stdin.")
]


def variables(single: Sequence[str] | None, together: str = "") -> dict[str, Any]:
    """The variables of ``--vars`` and ``--var``. Raises InvalidValue, and a usage error for what is not NAME=VALUE."""
    found = json_object(together, "--vars") if together else {}
    for text in single or ():
        name, equals, raw = text.partition("=")
        if not equals or not name:
            message = f"Expected NAME=VALUE, found '{text}'"
            raise typer.BadParameter(message)
        found[name] = scalar(raw)
    return found


def scalar(raw: str) -> object:
    """A value: JSON if it parses, else the text itself."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return raw
    except RecursionError as error:
        raise _too_deep("the value of a variable") from error


def _too_deep(what: str) -> InvalidValue:
    """Refuses lists within lists that no database takes."""
    return InvalidValue(f"Expected {what} with at most {JSON_DEPTH_MAX} levels (JSON_DEPTH_MAX), found many more")


def json_object(source: str, what: str) -> dict[str, Any]:
    """A JSON object from a text, ``@file`` or ``-`` (stdin). Raises InvalidValue."""
    text = _read(source, what)
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.ValidationError as error:
        message = f"Expected {what} to be a JSON object: {error}"
        raise InvalidValue(message) from error
    except msgspec.DecodeError as error:
        hint = "" if source.startswith(("@", "-", "{")) else "; a file is named with @, as in @variables.json"
        message = f"Expected {what} to be a JSON object: {error}{hint}"
        raise InvalidValue(message) from error
    except RecursionError as error:
        raise _too_deep(what) from error


def _read(source: str, what: str) -> bytes:
    """The bytes that a source stands for."""
    if source == "-":
        return sys.stdin.buffer.read()
    if not source.startswith("@"):
        return source.encode()
    path = Path(source[1:])
    if not path.is_file():
        message = f"{what}: expected a file, found none at '{path}'"
        raise InvalidValue(message)
    return path.read_bytes()
