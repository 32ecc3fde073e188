"""What handlers and starters did, line by line, in a file that several processes append to and a kill cannot tear."""

from __future__ import annotations

import os
from pathlib import Path


class Ledger:
    """One write per line: the kernel appends it wholly or not at all."""

    def __init__(self, path: str | Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, *words: object) -> None:
        """One line."""
        line = " ".join(map(str, words)) + "\n"
        assert os.write(self._file, line.encode()) == len(line)


def read(path: str | Path) -> list[list[str]]:
    """Every line as its words."""
    file = Path(path)
    return [line.split(" ") for line in file.read_text().splitlines()] if file.exists() else []
