"""Files that users name, as (name, bytes) pairs for the engine. It compiles and stores nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from procession.app.arguments import content, name, shown
from procession.errors import InvalidValue, NotFound
from procession.limits import RESOURCE_BYTES_MAX

File = str | os.PathLike[str] | tuple[str, bytes]


def read_files(files: Sequence[File]) -> list[tuple[str, bytes]]:
    """The files' names and bytes; a (name, bytes) pair is taken as it is. Raises NotFound, InvalidValue."""
    if not files:
        message = "Expected at least one file to deploy, found none"
        raise InvalidValue(message)
    return [_pair(file) if isinstance(file, tuple) else _read(file) for file in files]


def _pair(pair: tuple[Any, ...]) -> tuple[str, bytes]:
    """A name with its content. Raises InvalidValue."""
    if len(pair) != 2:
        message = f"Expected a path or a pair (name, bytes) to deploy, found {shown(pair)}"
        raise InvalidValue(message)
    named = name(pair[0], "the name of a file")
    return named, content(pair[1], f"the content of '{named}'")


def _read(file: object) -> tuple[str, bytes]:
    """A file of the disk. Raises NotFound, InvalidValue."""
    if not isinstance(file, str | os.PathLike):
        message = f"Expected a path or a pair (name, bytes) to deploy, found {shown(file)}"
        raise InvalidValue(message)
    path = Path(cast("str | os.PathLike[str]", file))
    try:
        if not path.is_file():
            message = f"Expected a file to deploy, found {'a folder' if path.is_dir() else 'none'} at '{path}'"
            raise NotFound(message)
        size = path.stat().st_size
        if size > RESOURCE_BYTES_MAX:
            message = f"'{path}' has {size} bytes; a resource has at most {RESOURCE_BYTES_MAX} (RESOURCE_BYTES_MAX)"
            raise InvalidValue(message)
        return path.name, path.read_bytes()
    except OSError as error:
        message = f"The file {shown(str(path))} cannot be read: {error.strerror or error}"
        raise InvalidValue(message) from error
