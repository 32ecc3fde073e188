"""The frame of the corpora: a judge per corpus, a verdict per case, bounded time, and no exception that escapes.

A module of this package offers ``JUDGES``, a tuple of `Judge`. A judge is given the folder of its corpus and yields
`Case` after `Case`; the frame calls each one under a deadline and turns what it raises into a failure.
"""

from __future__ import annotations

import importlib
import pkgutil
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import tests.corpora

CASE_SECONDS = 20  # of one case; the slowest known takes less than one
CORPUS_SECONDS = 300  # of one corpus; what is left then counts as failed


class Failed(Exception):
    """The case was judged, and not as it should be. The message says how."""


class OutOfTime(Exception):
    """A case took longer than its deadline."""


@dataclass(frozen=True)
class Case:
    """One case: a name, and a check that raises `Failed` (or anything else) unless all is well."""

    name: str
    check: Callable[[], None]


@dataclass(frozen=True)
class Judge:
    """How one corpus is judged: its name in the report, its folder, and its cases."""

    name: str
    folder: str
    cases: Callable[[Path], Iterable[Case]]


@dataclass(frozen=True)
class Verdict:
    """How a case ended."""

    case: str
    detail: str


@dataclass
class Score:
    """How a corpus ended."""

    name: str
    passed: int = 0
    total: int = 0
    crashed: int = 0
    failures: list[Verdict] = field(default_factory=list)


def judges() -> Iterator[Judge]:
    """Every judge of this package, by module."""
    for module in sorted(pkgutil.iter_modules(tests.corpora.__path__), key=lambda found: found.name):
        if not module.name.startswith("_"):
            yield from getattr(importlib.import_module(f"tests.corpora.{module.name}"), "JUDGES", ())


def run(judge: Judge, folder: Path) -> Score:
    """Judge every case of a corpus."""
    score = Score(judge.name)
    ends = time.monotonic() + CORPUS_SECONDS
    for case in judge.cases(folder):
        score.total += 1
        if time.monotonic() > ends:
            score.failures.append(Verdict(case.name, f"not judged: the corpus took more than {CORPUS_SECONDS} s"))
            continue
        try:
            with deadline(CASE_SECONDS):
                case.check()
        except (Failed, OutOfTime) as problem:
            score.failures.append(Verdict(case.name, str(problem)))
        except Exception as problem:  # noqa: BLE001 - an internal error of ours is a failure that names itself
            score.crashed += 1
            where = traceback.extract_tb(problem.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            detail = f"internal error: {type(problem).__name__}: {problem} ({place})"
            score.failures.append(Verdict(case.name, detail))
        else:
            score.passed += 1
    return score


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block when it takes longer (main thread only)."""

    def interrupt(_signal: int, _frame: object) -> None:
        message = f"took more than {seconds} s"
        raise OutOfTime(message)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
