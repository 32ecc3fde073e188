"""Deploy verdicts: every file is accepted, or refused with problems that say where; never an internal error.

Files of a folder named ``Reference`` are models that everything should read: they have to be accepted when gaps are
tolerated. The betsy constraints each violate a rule of the standard: they have to be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from procession.model import InvalidModel, Problem, Resource, compile_resource, lint_resource
from tests.corpora.runner import Case, Failed, Judge

_SUFFIXES = {".bpmn", ".xml"}
_BPMN = "http://www.omg.org/spec/BPMN"


def models(folder: Path) -> list[Path]:
    """The BPMN files of a corpus (other XML files are none of ours)."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    return [path for path in found if path.suffix == ".bpmn" or _BPMN.encode() in path.read_bytes()]


def cases_of(check: Callable[[Path], None], folder: Path) -> Iterable[Case]:
    """A case per file."""
    for path in models(folder):
        yield Case(str(path.relative_to(folder)), partial(check, path))


def deploys_or_is_refused(path: Path) -> None:
    """Compile as a deployment, and once more with gaps tolerated; both accept or refuse with located problems."""
    content = path.read_bytes()
    _verdict(content)
    lenient = _verdict(content, executable_only=False, lenient=True)
    _located(lint_resource(content), content)
    if "Reference" in path.parts and isinstance(lenient, InvalidModel):
        raise Failed(f"a reference model is refused: {lenient}")


def is_refused(path: Path) -> None:
    """A file that violates a rule of the standard is refused, or the rule is at least remarked on."""
    content = path.read_bytes()
    verdict = _verdict(content, executable_only=False)
    if isinstance(verdict, InvalidModel):
        return
    if all(problem.severity == "info" for problem in verdict.problems):
        raise Failed("accepted without a remark")


def _verdict(content: bytes, **options: bool) -> Resource | InvalidModel:
    try:
        resource = compile_resource(content, **options)
    except InvalidModel as refused:
        if not refused.problems:
            raise Failed("refused without a problem") from None
        _located(refused.problems, content)
        return refused
    if not resource.definitions:
        raise Failed("accepted without a definition")
    return resource


def _located(problems: Iterable[Problem], content: bytes) -> None:
    lines = content.count(b"\n") + content.count(b"\r") + 1
    for problem in problems:
        if not 1 <= problem.line <= lines:
            raise Failed(f"a problem without a place: {problem}")
        if not problem.code or not problem.message:
            raise Failed(f"a problem without words: {problem!r}")


# Corpora whose accepted models are executed too, by judges of their own.
_EXECUTED = (
    "camunda-7-models",
    "flowable-models",
    "zeebe-models",
    "camunda-8-examples",
    "go-bpmn",
    "token-simulation",
    "fbpmn",
    "bpmn-analyzer",
)
_ONLY_READ = ("miwg", "bpmn-js", "bpmn-for-research")

JUDGES = (
    *(Judge(name, name, partial(cases_of, deploys_or_is_refused)) for name in _ONLY_READ),
    *(Judge(f"{name}:deploy", name, partial(cases_of, deploys_or_is_refused)) for name in _EXECUTED),
    Judge("betsy:constraints", "betsy/bpmn_constraints", partial(cases_of, is_refused)),
)
