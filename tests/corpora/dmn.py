"""The DMN TCK: each test case evaluates decisions or decision services and compares their results.

A case passes if each of its results is the expected one, numbers up to the eight digits that the tests write. A result
that the TCK calls an error has to be null. Decisions of other engines' collections are deployed and evaluated without
inputs: what comes out is not judged, only that nothing breaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from lxml import etree

from procession.dmn import (
    DecisionModel,
    Evaluation,
    InvalidModel,
    compile_resource,
    compile_resources,
    lint_resource,
)
from tests.corpora.runner import Case, Failed, Judge
from tests.feel.tck import same, value_of

_NOW = datetime(2024, 5, 17, 12, 30, tzinfo=UTC)


def cases(folder: Path) -> Iterable[Case]:
    """Every test case below a folder, with the folder's models."""
    for path in sorted(folder.rglob("*.xml")):
        yield from _cases_of(path, etree.parse(path).getroot())


def _cases_of(path: Path, tests: Any) -> Iterator[Case]:
    if tests.tag.rpartition("}")[2] != "testCases":
        return
    models = cache(partial(_models, path.parent))
    main = (tests.findtext("{*}modelName") or "").strip()
    for number, test in enumerate(tests.iterfind("{*}testCase"), start=1):
        name = f"{path.parent.name}/{test.get('id') or number}"
        yield Case(name, partial(_check, models, main or f"{path.parent.name}.dmn", test))


def _models(folder: Path) -> dict[str, DecisionModel] | InvalidModel:
    try:
        return compile_resources({path.name: path.read_bytes() for path in sorted(folder.glob("*.dmn"))})
    except InvalidModel as refused:
        return refused


def _check(models: Any, main: str, test: Any) -> None:
    compiled = models()
    if isinstance(compiled, InvalidModel):
        raise Failed(f"the model is refused: {compiled}")
    model = compiled[main]
    context = {node.get("name"): value_of(node) for node in test.iterfind("{*}inputNode")}
    failures = [
        failure
        for result in test.iterfind("{*}resultNode")
        if (failure := _judge(_evaluate(model, test, result, context), test, result))
    ]
    if failures:
        raise Failed("; ".join(failures))


def _evaluate(model: DecisionModel, test: Any, result: Any, context: dict[str, Any]) -> Evaluation:
    if test.get("type") == "decisionService":
        return model.evaluate_service(test.get("invocableName"), context, now=_NOW)
    return model.evaluate(result.get("name"), context, now=_NOW)


def _judge(evaluation: Evaluation, test: Any, result: Any) -> str:
    bugs = [warning for warning in evaluation.warnings if warning.code == "internal"]
    if bugs:
        return f"internal error: {bugs[0]}"
    found = evaluation.result
    if test.get("type") == "decisionService" and len(test.findall("{*}resultNode")) > 1 and isinstance(found, dict):
        found = found[result.get("name")]
    node = result.find("{*}expected")
    expected = None if node is None else value_of(node)
    if same(found, expected):
        return ""
    reasons = ", ".join(dict.fromkeys(warning.message for warning in evaluation.warnings))
    return f"{result.get('name')}: expected {expected!r}, found {found!r}" + (f" ({reasons})" if reasons else "")


def deployments(folder: Path) -> Iterable[Case]:
    """Every file of another engine: it deploys and evaluates, or is refused with problems that say where."""
    for path in sorted(folder.rglob("*.dmn")):
        yield Case(str(path.relative_to(folder)), partial(_deploys_or_is_refused, path))


def _deploys_or_is_refused(path: Path) -> None:
    content = path.read_bytes()
    lines = content.count(b"\n") + content.count(b"\r") + 1
    for problem in lint_resource(content):
        if not 1 <= problem.line <= lines or not problem.message:
            raise Failed(f"a problem without a place or words: {problem!r}")
    try:
        model = compile_resource(content)
    except InvalidModel:
        return
    for decision in model.decisions:
        bugs = [w for w in model.evaluate(decision, {}, now=_NOW).warnings if w.code == "internal"]
        if bugs:
            raise Failed(f"internal error: {bugs[0]}")


JUDGES = (
    Judge("dmn-tck:level-2", "dmn-tck/TestCases/compliance-level-2", cases),
    Judge("dmn-tck:level-3", "dmn-tck/TestCases/compliance-level-3", cases),
    Judge("dmn-tck:non-compliant", "dmn-tck/TestCases/non-compliant", cases),
    *(
        Judge(f"{name}:decisions", name, deployments)
        for name in ("camunda-7-models", "zeebe-models", "camunda-8-examples", "flowable-models")
    ),
)
