"""Handlers that run in a process of their own: they have to be found by name there."""

from __future__ import annotations

import os
import signal

from procession.worker import Job


def square(number: int, job: Job) -> dict[str, int]:
    return {"square": number * number, "process": os.getpid(), "attempt": job.attempt}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def refuse():
    raise ValueError("not today")
