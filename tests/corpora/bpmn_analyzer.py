"""Models named for the property that they have or lack, explored; and every other model of the collection, explored.

A file's name says what is expected: ``proper-completion`` and ``no-proper-completion``, ``unsafe``, ``dead`` (elements
whose ids begin with that word are, others that do work are not). The rest carries no verdict: it must be explored
completely, with every finding in its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from procession.explorer import Report, Verdict, explore, explore_together
from procession.model import InvalidModel, Resource, compile_resource
from procession.model.definition import Kind
from tests.corpora.parse import models
from tests.corpora.runner import Case, Failed, Judge

DEAD = "dead"


def cases(folder: Path) -> Iterable[Case]:
    """A case per accepted file."""
    for path in models(folder):
        try:
            resource = compile_resource(path.read_bytes(), executable_only=False, lenient=True)
        except InvalidModel:
            continue  # judged by the deploy verdicts
        yield Case(path.stem, partial(check, path.stem, resource))


def check(name: str, resource: Resource) -> None:
    """Explore each process, and all together where they message each other. Raises Failed."""
    reports = [explore(definition) for definition in resource.definitions]
    if resource.message_flows:
        reports.append(explore_together(resource.definitions, resource.message_flows))
    for report in reports:
        if not report.is_complete:
            raise Failed(f"explored only up to {report.bounds}")
        located(resource, report)
    words = name.split("-")
    first = reports[0]
    if "proper-completion" in name and first.ends_once == ("no" in words):
        raise Failed(f"ends once: {first.ends_once}")
    if "unsafe" in words and first.is_safe:
        raise Failed("no unsafe place was found")
    if DEAD in words:
        the_dead_are_dead(resource, first)


def located(resource: Resource, report: Report) -> None:
    """Every finding and every step names what is there. Raises Failed."""
    known = {name for definition in resource.definitions for name in definition.index_of}
    known |= {flow.id for definition in resource.definitions for flow in definition.flows}
    for found in report.findings:
        names = {found.element_id, *(step.element_id for step in found.trace)}
        if found.line < 1 or not names <= known:
            raise Failed(f"a finding without a place: {found}")


def the_dead_are_dead(resource: Resource, report: Report) -> None:
    """The activities that are never active are those that say so. Raises Failed."""
    found = {name for one in report.of(Verdict.DEAD_ELEMENT) for name in (one.element_id, *one.also)}
    elements = resource.definitions[0].elements
    tasks = {element.id for element in elements if element.kind in {Kind.TASK, Kind.SERVICE_TASK, Kind.USER_TASK}}
    wanted = {task for task in tasks if task.startswith(DEAD)}
    if found & tasks != wanted:
        raise Failed(f"dead activities: expected {sorted(wanted)}, found {sorted(found & tasks)}")


JUDGES = (Judge("bpmn-analyzer:explore", "bpmn-analyzer", cases),)
