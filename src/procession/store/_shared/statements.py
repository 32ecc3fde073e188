"""SQL from files: one statement each, named after its verb. It never builds SQL beyond repeating a marked row."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from procession.errors import Bug

_REPEATED: Final = re.compile(r"/\* rows \*/\s*(\(.*?\))\s*/\* rows \*/", re.DOTALL)


@cache
def load_statements(package: str, folder: str = "sql") -> dict[str, str]:
    """The statements of a store: file name without ``.sql`` -> text. ``package`` is the store's dotted name."""
    found = {
        entry.name.removesuffix(".sql"): entry.read_text(encoding="utf-8").strip().rstrip(";")
        for entry in files(package).joinpath(folder).iterdir()
        if entry.name.endswith(".sql")
    }
    if not found:
        raise Bug(f"Expected SQL files in {package}/{folder}, found none: the package was built without them")
    return found


@cache
def repeat_rows(sql: str, count: int) -> str:
    """The statement with the row between its two ``/* rows */`` marks repeated ``count`` times."""
    match = _REPEATED.search(sql)
    if match is None:
        raise Bug(f"Expected a row between two /* rows */ marks in: {sql}")
    return sql[: match.start()] + ", ".join([match[1]] * count) + sql[match.end() :]
