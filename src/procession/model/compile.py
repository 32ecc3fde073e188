"""A resource's bytes to compiled definitions, or to everything that is wrong with them.

The walk: parse the XML, read what the root declares, choose the executable processes, read their structure, their
elements' details, link them, hold the rules, precompute what joins need, and freeze. Every step adds to one list of
findings; nothing is deployed unless that list is free of errors.
"""

from __future__ import annotations

from collections.abc import Collection

from procession.errors import InvalidModel
from procession.model.definition import Definition, Problem, Record
from procession.model.draft import ProcessDraft
from procession.model.expressions import Expressions
from procession.model.link import link
from procession.model.problems import Findings
from procession.model.reach import fill_upstream
from procession.model.reader.elements import read_elements
from procession.model.reader.reading import Reading
from procession.model.reader.resource import choose_processes, read_declarations, vendors
from procession.model.reader.structure import read_structure
from procession.model.rules import check
from procession.model.xml import Xml, parse


class Declaration(Record, frozen=True, kw_only=True):
    """A message, signal, error or escalation that a resource declares."""

    id: str
    name: str
    code: str = ""  # errors and escalations
    line: int = 0


class MessageFlow(Record, frozen=True, kw_only=True):
    """A message flow that a collaboration draws: nothing is executed by it, but it says who sends to whom."""

    id: str
    source: str  # id of an element or a participant
    target: str
    name: str = ""
    line: int = 0


class Resource(Record, frozen=True, kw_only=True):
    """A file that can be deployed: its processes, what it declares, and findings that are no errors."""

    name: str
    definitions: tuple[Definition, ...]
    problems: tuple[Problem, ...] = ()
    messages: tuple[Declaration, ...] = ()
    signals: tuple[Declaration, ...] = ()
    errors: tuple[Declaration, ...] = ()
    escalations: tuple[Declaration, ...] = ()
    message_flows: tuple[MessageFlow, ...] = ()


def compile_resource(
    content: bytes,
    *,
    name: str = "",
    methods: Collection[str] = (),
    executable_only: bool = True,
    lenient: bool = False,
) -> Resource:
    """Compile a BPMN file. Raises InvalidModel with every error at once.

    `methods` are the element ids that the application binds to Python functions. With `executable_only` off, processes
    that are not meant for execution are compiled too. With `lenient`, gaps that only a run would fill are filled with
    defaults (a task without a definition becomes a job of its id's type): for lint, exploration and foreign models.
    """
    findings = Findings(lenient=lenient)
    resource = _compile(content, name, frozenset(methods), findings, executable_only=executable_only)
    if resource is None or findings.has_errors:
        raise InvalidModel(findings.errors(), name=name)
    return resource


def lint_resource(
    content: bytes,
    *,
    methods: Collection[str] = (),
    executable_only: bool = True,
    lenient: bool = False,
) -> list[Problem]:
    """Everything that is wrong with a file or worth a remark, by line. Never raises for a bad model."""
    findings = Findings(lenient=lenient)
    _compile(content, "", frozenset(methods), findings, executable_only=executable_only)
    return list(findings.all())


def _compile(
    content: bytes, name: str, methods: frozenset[str], findings: Findings, *, executable_only: bool
) -> Resource | None:
    root, problems = parse(content)
    for problem in problems:
        findings.add(problem)
    if root is None:
        return None
    zeebe, camunda = vendors(root)
    expressions = Expressions(findings, zeebe=zeebe and not camunda, language=root.get("expressionLanguage"))
    reading = Reading(findings, expressions, zeebe=zeebe, camunda=camunda and not zeebe, methods=methods)
    if not read_declarations(root, reading):
        return None
    drafts = [
        _read_process(xml, reading, executable=executable)
        for xml, executable in choose_processes(root, reading, executable_only=executable_only)
    ]
    if findings.has_errors:
        return None
    declared = reading.declared
    return Resource(
        name=name,
        definitions=tuple(draft.build() for draft in drafts),
        problems=findings.all(),
        messages=_declarations(declared.messages),
        signals=_declarations(declared.signals),
        errors=_declarations(declared.errors, "errorCode"),
        escalations=_declarations(declared.escalations, "escalationCode"),
        message_flows=_message_flows(root),
    )


def _read_process(xml: Xml, reading: Reading, *, executable: bool) -> ProcessDraft:
    draft = read_structure(xml, reading)
    draft.is_executable = executable
    read_elements(draft, reading)
    link(draft, reading.declared.associations, reading.findings)
    check(draft, reading)
    fill_upstream(draft, reading.findings)
    return draft


def _declarations(table: dict[str, Xml], code: str = "") -> tuple[Declaration, ...]:
    return tuple(
        Declaration(id=xml.id, name=xml.get("name"), code=xml.get(code) if code else "", line=xml.line)
        for xml in table.values()
    )


def _message_flows(root: Xml) -> tuple[MessageFlow, ...]:
    return tuple(
        MessageFlow(
            id=xml.id,
            source=xml.get("sourceRef").rpartition(":")[2],
            target=xml.get("targetRef").rpartition(":")[2],
            name=xml.get("name"),
            line=xml.line,
        )
        for collaboration in root.every("collaboration")
        for xml in collaboration.every("messageFlow")
    )
