"""Collects what is wrong with a resource, so that everything is reported at once. It decides nothing itself.

Every rule and reader gets the same `Findings` and adds to it; nobody raises halfway through a model.
"""

from __future__ import annotations

from typing import Final

from procession.model.definition import Problem
from procession.model.xml import Xml

PROBLEMS_MAX: Final = 1_000  # of one severity in one file; nobody reads more, and a hostile file has one per element

ERROR: Final = "error"
WARNING: Final = "warning"
INFO: Final = "info"


class Findings:
    """The problems found so far. `lenient` is true when gaps that only a worker or a run could fill are tolerated."""

    def __init__(self, *, lenient: bool = False) -> None:
        self.lenient = lenient
        self._found: list[Problem] = []
        self._seen: set[tuple[str, str, int, str]] = set()
        self._counts = {ERROR: 0, WARNING: 0, INFO: 0}

    def error(self, code: str, message: str, at: Xml | None = None, suggestion: str = "", *, element: str = "") -> None:
        """Something that keeps the resource from being deployed."""
        self._add(ERROR, code, message, at, suggestion, element)

    def warning(
        self, code: str, message: str, at: Xml | None = None, suggestion: str = "", *, element: str = ""
    ) -> None:
        """Something that is deployed, but hardly as meant."""
        self._add(WARNING, code, message, at, suggestion, element)

    def info(self, code: str, message: str, at: Xml | None = None, suggestion: str = "", *, element: str = "") -> None:
        """Something worth knowing, such as a default that was assumed."""
        self._add(INFO, code, message, at, suggestion, element)

    def gap(self, code: str, message: str, at: Xml | None = None, suggestion: str = "", *, element: str = "") -> None:
        """An error, unless gaps are tolerated: then a warning, and the caller fills the gap with a default."""
        self._add(WARNING if self.lenient else ERROR, code, message, at, suggestion, element)

    def add(self, problem: Problem) -> None:
        """A problem that was found before there was a document."""
        self._found.append(problem)

    @property
    def has_errors(self) -> bool:
        """Whether the resource can not be deployed."""
        return any(problem.severity == ERROR for problem in self._found)

    def errors(self) -> tuple[Problem, ...]:
        """The errors, by line."""
        return tuple(problem for problem in self.all() if problem.severity == ERROR)

    def all(self) -> tuple[Problem, ...]:
        """Everything found, by line."""
        return tuple(sorted(self._found, key=lambda problem: (problem.line, problem.column)))

    def _add(self, severity: str, code: str, message: str, at: Xml | None, suggestion: str, element: str) -> None:
        element = element or (at.owner_id() if at is not None else "")
        line = at.line if at is not None else 1
        if (code, element, line, message) in self._seen or self._counts[severity] > PROBLEMS_MAX:
            return
        if self._counts[severity] == PROBLEMS_MAX:
            code, element, suggestion = "TOO_MANY_PROBLEMS", "", "Look at these first"
            message = f"There are more than PROBLEMS_MAX = {PROBLEMS_MAX} findings of this kind; the rest is not listed"
        self._counts[severity] += 1
        self._seen.add((code, element, line, message))
        self._found.append(
            Problem(severity=severity, code=code, message=message, element_id=element, line=line, suggestion=suggestion)
        )
