"""Handlers that run in a process of their own: they have to be found by name there."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from procession.worker import Job


def square(number: int, job: Job) -> dict[str, int]:
    return {"square": number * number, "process": os.getpid(), "attempt": job.attempt}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def refuse():
    raise ValueError("not today")


def whoami() -> int:
    return os.getpid()


def wedge(said: str) -> None:
    Path(said).write_text(str(os.getpid()))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Event().wait(300)
