"""Short ways to write and judge models for this room's tests."""

from __future__ import annotations

from procession.model import Definition, InvalidModel, Problem, compile_resource, lint_resource
from procession.testing.bpmn import ProcessBuilder

ROOT = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn" xmlns:flowable="http://flowable.org/bpmn" id="definitions">'
)


def file(*lines: str) -> bytes:
    """A BPMN file whose root holds these lines, the first of them in line 2."""
    return "\n".join([ROOT, *lines, "</definitions>"]).encode()


def process(*lines: str, roots: str = "") -> bytes:
    """A file with the process ``p`` in line 2, which goes from ``start`` over what the lines hold; roots come last."""
    return file('<process id="p" isExecutable="true">', *lines, "</process>", roots)


def around(element: str, roots: str = "") -> bytes:
    """A process ``start -> x -> end`` around an element whose id is ``x``; it stands in line 4."""
    return process(
        '<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="x"/>',
        element,
        '<sequenceFlow id="f2" sourceRef="x" targetRef="end"/><endEvent id="end"/>',
        roots=roots,
    )


def last_flow(inner: str) -> bytes:
    """The process around a task, whose last flow ``f2`` (line 5) holds this."""
    plain = '<sequenceFlow id="f2" sourceRef="x" targetRef="end"/>'
    return around('<task id="x"/>').replace(plain.encode(), f"{plain[:-2]}>{inner}</sequenceFlow>".encode())


def compiled(model: bytes | ProcessBuilder, **options) -> Definition:
    """The only definition of a model that has to be deployable."""
    content = model if isinstance(model, bytes) else model.xml()
    (definition,) = compile_resource(content, **options).definitions
    return definition


def findings(model: bytes | ProcessBuilder, severity: str = "error", **options) -> list[Problem]:
    """The findings of one severity."""
    content = model if isinstance(model, bytes) else model.xml()
    return [problem for problem in lint_resource(content, **options) if problem.severity == severity]


def codes(model: bytes | ProcessBuilder, severity: str = "error", **options) -> list[str]:
    """The codes of the findings of one severity."""
    return [problem.code for problem in findings(model, severity, **options)]


def refused(model: bytes | ProcessBuilder, **options) -> InvalidModel:
    """The refusal of a model that must not be deployable."""
    content = model if isinstance(model, bytes) else model.xml()
    try:
        compile_resource(content, **options)
    except InvalidModel as problem:
        return problem
    message = "the model was accepted"
    raise AssertionError(message)
