"""Where tests write what nobody has to find again: into memory where the machine has enough of it.

Files of SQLite and the servers that do not flush spend much of a test waiting for a disk that proves nothing. Durable
servers stay on the disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

MEMORY = Path("/dev/shm")
FREE_BYTES_MIN = 4 << 30  # a run of four workers takes up to two
VARIABLE = "PYTEST_DEBUG_TEMPROOT"  # where pytest makes the folders of `tmp_path`


def folder_in_memory() -> Path | None:
    """A folder that is no disk; none where there is too little room in it, or too little memory behind it."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    room = min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available)
    return MEMORY if room >= FREE_BYTES_MIN else None


def use_memory_for_test_folders() -> None:
    """Folders of `tmp_path` come to lie in memory, unless somebody has said where they should."""
    folder = folder_in_memory()
    if folder is not None:
        os.environ.setdefault(VARIABLE, str(folder))


@contextmanager
def temporary_folders_in_memory() -> Iterator[None]:
    """Folders that are made meanwhile lie in memory."""
    before = tempfile.tempdir
    folder = folder_in_memory()
    tempfile.tempdir = str(folder) if folder else before
    try:
        yield
    finally:
        tempfile.tempdir = before
