"""BPMN, DMN and form files that a command names: found, read, and what is wrong with them. It stores nothing.

A folder stands for all ``.bpmn``, ``.dmn`` and ``.form`` files in it and below, but for those in hidden folders and in
environments: installed packages may bring models of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from procession.cli.folders import files_below
from procession.errors import InvalidValue, NotFound

if TYPE_CHECKING:
    from procession.dmn import DecisionModel
    from procession.model import Problem

FILES_MAX = 10_000  # of one command
SUFFIX = ".bpmn"
DECISIONS = ".dmn"
FORMS = ".form"
MODELS = frozenset({SUFFIX, DECISIONS, FORMS})


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
            within = sorted(map(Path, files_below(path, MODELS)))
            if not within:
                message = f"Expected {SUFFIX}, {DECISIONS} or {FORMS} files in '{path}', found none"
                raise NotFound(message)
            if len(within) > FILES_MAX:
                message = f"Expected at most {FILES_MAX} files in '{path}', found {len(within)}: name a folder within"
                raise InvalidValue(message)
            found.update(dict.fromkeys(within))
        elif path.is_file():
            found[path] = None
        else:
            message = f"Expected a file or folder at '{path}', found none"
            raise NotFound(message)
    return list(found)


def examine(path: Path, methods: Collection[str] = (), *, among: Sequence[Path] = ()) -> list[Finding]:
    """Everything that is wrong with a file or worth a remark, by line; ``among``: the files that it may import."""
    from procession.model import lint_resource  # noqa: PLC0415 - brings lxml

    if is_decisions(path):
        return _examine_decisions(path, among)
    if is_form(path):
        return _examine_form(path)
    return [_finding(path, problem) for problem in lint_resource(path.read_bytes(), methods=methods)]


def foresee(path: Path, methods: Collection[str] = ()) -> list[Finding]:
    """What can go wrong when a file runs, found by exploring small models; nothing of a file that does not compile."""
    from procession.explorer import remarks  # noqa: PLC0415 - quick start
    from procession.model import InvalidModel, compile_resource  # noqa: PLC0415 - brings lxml

    if is_decisions(path) or is_form(path):
        return []
    try:
        resource = compile_resource(path.read_bytes(), methods=methods)
    except InvalidModel:
        return []  # told by `examine`
    return [_finding(path, problem) for problem in remarks(resource)]


def is_decisions(path: Path) -> bool:
    """Whether a file holds decisions."""
    return path.suffix.lower() == DECISIONS


def is_form(path: Path) -> bool:
    """Whether a file is a form."""
    return path.suffix.lower() == FORMS


def compile_decisions(path: Path) -> DecisionModel:
    """A DMN file, with what it imports out of its folder. Raises NotFound, InvalidModel."""
    from procession.dmn import compile_resource  # noqa: PLC0415 - quick start

    if not path.is_file():
        message = f"Expected a DMN file at '{path}', found none"
        raise NotFound(message)
    others = [other for other in sorted(path.parent.glob(f"*{DECISIONS}")) if other != path][:FILES_MAX]
    return compile_resource(path.read_bytes(), name=path.name, imports=_models(path, others))


def _examine_decisions(path: Path, among: Sequence[Path]) -> list[Finding]:
    from procession.dmn import lint_resource  # noqa: PLC0415 - quick start

    models = _models(path, [other for other in among if is_decisions(other) and other != path])
    return [_finding(path, problem) for problem in lint_resource(path.read_bytes(), imports=models)]


def _examine_form(path: Path) -> list[Finding]:
    from procession.engine.deploy_forms import read_form  # noqa: PLC0415 - quick start
    from procession.model import InvalidModel  # noqa: PLC0415 - as above

    try:
        read_form(path.name, path.read_bytes())
    except InvalidModel as error:
        return [
            Finding(
                file=str(path),
                severity="error",
                code="INVALID_FORM",
                message=str(problem),
                element_id="",
                line=1,
                column=0,
                suggestion="Save it from a modeler of Camunda 8 forms (form-js)",
            )
            for problem in error.problems
        ]
    return []


def _models(path: Path, others: Sequence[Path]) -> list[DecisionModel]:
    """The models of other files that compile; none where the file imports nothing."""
    from procession.dmn import InvalidModel, compile_resource  # noqa: PLC0415 - quick start

    if b"import" not in path.read_bytes():
        return []
    models: list[DecisionModel] = []
    waiting = list(others)
    while waiting:
        refused: list[Path] = []
        for other in waiting:
            try:
                models.append(compile_resource(other.read_bytes(), name=other.name, imports=models))
            except InvalidModel:
                refused.append(other)  # perhaps for want of one that comes later
        if len(refused) == len(waiting):
            break
        waiting = refused
    return models


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
