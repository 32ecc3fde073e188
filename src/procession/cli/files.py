"""BPMN files that a command names: found, read, and what is wrong with them. It stores nothing.

A folder stands for all ``.bpmn`` files in it and below.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from procession.errors import NotFound

if TYPE_CHECKING:
    from procession.model import Problem

FILES_MAX = 10_000  # of one command
SUFFIX = ".bpmn"


class Finding(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A problem with the file that it was found in."""

    file: str
    severity: str
    code: str
    message: str
    element_id: str
    line: int
    column: int
    suggestion: str


def find(paths: Sequence[Path]) -> list[Path]:
    """The files that these paths stand for, each once. Raises NotFound."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            within = sorted(path.rglob(f"*{SUFFIX}"))[:FILES_MAX]
            if not within:
                message = f"Expected {SUFFIX} files in '{path}', found none"
                raise NotFound(message)
            found.update(dict.fromkeys(within))
        elif path.is_file():
            found[path] = None
        else:
            message = f"Expected a file or folder at '{path}', found none"
            raise NotFound(message)
    return list(found)


def examine(path: Path, methods: Collection[str] = ()) -> list[Finding]:
    """Everything that is wrong with a file or worth a remark, by line."""
    from procession.model import lint_resource  # noqa: PLC0415 - brings lxml

    return [_finding(path, problem) for problem in lint_resource(path.read_bytes(), methods=methods)]


def _finding(path: Path, problem: Problem) -> Finding:
    return Finding(
        file=str(path),
        severity=problem.severity,
        code=problem.code,
        message=problem.message,
        element_id=problem.element_id,
        line=problem.line,
        column=problem.column,
        suggestion=problem.suggestion,
    )
