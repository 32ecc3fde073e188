"""Files that users name, as (name, bytes) pairs for the engine. It compiles and stores nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from procession.errors import InvalidValue, NotFound
from procession.limits import RESOURCE_BYTES_MAX

File = str | Path | tuple[str, bytes]


def read_files(files: Sequence[File]) -> list[tuple[str, bytes]]:
    """The files' names and bytes; a (name, bytes) pair is taken as it is. Raises NotFound, InvalidValue."""
    if not files:
        message = "Expected at least one file to deploy, found none"
        raise InvalidValue(message)
    found: list[tuple[str, bytes]] = []
    for file in files:
        if isinstance(file, tuple):
            found.append(file)
            continue
        path = Path(file)
        if not path.is_file():
            message = f"Expected a file to deploy, found none at '{path}'"
            raise NotFound(message)
        size = path.stat().st_size
        if size > RESOURCE_BYTES_MAX:
            message = f"'{path}' has {size} bytes; a resource has at most {RESOURCE_BYTES_MAX} (RESOURCE_BYTES_MAX)"
            raise InvalidValue(message)
        found.append((path.name, path.read_bytes()))
    return found
