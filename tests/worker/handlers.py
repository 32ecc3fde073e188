"""Handlers that run in a process of their own: they have to be found by name there."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from procession.worker import Fail, Job, Retry, Snooze


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


class TwoPartError(Exception):
    """An exception that cannot be made again from what it says, as those of many libraries."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{text} ({code})")


class Secretive:
    """A value that can be written and not read."""

    def __reduce__(self) -> tuple[object, ...]:
        return int, ("seven",)


def fail_in_two_parts():
    raise TwoPartError(7, "the original text")


def fail_in_a_class_of_its_own():
    class LocalError(Exception):
        pass

    raise LocalError("the original text")


def be_secretive() -> object:
    return Secretive()


def snooze():
    raise Snooze("5m")


def ask_again():
    raise Retry("5m", reason="busy")


def give_up():
    raise Fail("no use")


def begin(number: int, log: str, job: Job) -> None:
    with Path(log).open("a") as file:
        file.write(f"{number} {job.attempt} {time.time_ns() // 1_000}\n")
