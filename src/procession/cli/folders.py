"""The files of a project: folders are walked, those of installed packages are left out. It reads no content."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages"})


def files_below(folder: str | os.PathLike[str], suffixes: Collection[str]) -> Iterator[str]:
    """The files with these endings in a folder and below; hidden and environments' folders are left out."""
    for root, names, files in os.walk(folder):
        names[:] = [name for name in names if not _is_foreign(root, name)]
        yield from (os.path.join(root, file) for file in files if os.path.splitext(file)[1] in suffixes)  # noqa: PTH118, PTH122 - thousands of Paths are slow


def _is_foreign(root: str, name: str) -> bool:
    """Whether a folder holds no source of the project."""
    return name.startswith(".") or name in PASSED_OVER or os.path.exists(os.path.join(root, name, "pyvenv.cfg"))  # noqa: PTH110, PTH118 - as above
