"""Processes to be killed, and who kills them: real ones, with SIGKILL, at moments that a seed decides."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]


class Herd:
    """Programs of this folder at work on one database; all of them are gone when it closes."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.runs = folder / "runs"
        self.starts = folder / "starts"
        self.living: list[subprocess.Popen[bytes]] = []
        self.kills = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.living:
            process.kill()
            process.wait()

    def launch(self, module: str, *arguments: object) -> subprocess.Popen[bytes]:
        """Begin one; what it says goes to a file."""
        command = [sys.executable, "-m", f"tests.chaos.{module}", self.url, *map(str, arguments)]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, "PYTHONPATH": path}
        with (self.folder / f"{module}.log").open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        self.living.append(process)
        return process

    def worker(self) -> subprocess.Popen[bytes]:
        return self.launch("worker", self.runs)

    def starter(self, last: int, *more: str) -> subprocess.Popen[bytes]:
        return self.launch("starter", self.starts, last, *more)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """At once, without a word."""
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.living.remove(process)
        self.kills += 1

    def stop(self, process: subprocess.Popen[bytes]) -> int:
        """Ask it to go; its exit code."""
        process.terminate()
        code = process.wait(timeout=30)
        self.living.remove(process)
        return code

    def log(self, module: str) -> str:
        """The end of what programs of this kind have said."""
        file = self.folder / f"{module}.log"
        return file.read_text(errors="replace")[-4_000:] if file.exists() else ""

    def check(self) -> None:
        """Workers only end when they are told to."""
        for process in self.living:
            code = process.poll()
            assert not code, f"{process.args} ended with {code}:\n{self.log('worker')}\n{self.log('starter')}"


class Pace:
    """When the next kill is due, as a seed decides."""

    def __init__(self, chance: random.Random, least_s: float, most_s: float) -> None:
        self._chance = chance
        self._span = (least_s, most_s)
        self._due = 0.0
        self.reset()

    def reset(self) -> None:
        self._due = time.monotonic() + self._chance.uniform(*self._span)

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._due
