"""``procession instance KEY``: all about one instance, and its story with ``--history``. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from procession.app import Procession
    from procession.app.views import HistoryEvent, InstanceDetails, ProcessDefinition
    from procession.cli.timeline import Line
    from procession.model.definition import Element

INDENT = "│  "
TRACE_LINES = 12  # of a handler's traceback; --json has all


class Found:
    """What was looked up."""

    def __init__(
        self, details: InstanceDetails, version: ProcessDefinition | None, history: list[HistoryEvent], xml: bytes
    ) -> None:
        self.details = details
        self.version = version
        self.history = history
        self.xml = xml


@with_options
def instance(
    key: Annotated[int, typer.Argument(metavar="INSTANCE", help="The instance's key.")],
    history: Annotated[bool, typer.Option("--history", help="What happened, from start to end.")] = False,
) -> None:
    """Show an instance, and why it waits.

    Its state, what is active, variables, incidents, and with --history what happened.
    """
    found = run(lambda app: _look(app, key, history=history))
    if options().json:
        shown = found.details.to_dict()
        if history:
            shown["history"] = [event.to_dict() for event in found.history]
        screen.json(shown)
        return
    _show_head(found)
    _show_active(found.details)
    _show_incidents(found.details)
    _show_variables(found.details)
    if history:
        _show_history(found)


async def _look(app: Procession, key: int, *, history: bool) -> Found:
    """Look everything up."""
    details = await app.instance(key)
    versions = await app.definitions(details.instance.process_definition_id)
    version = next(
        (row for row in versions if row.process_definition_key == details.instance.process_definition_key), None
    )
    events = await app.history(key) if history else []
    xml = await app.definition_xml(details.instance.process_definition_key) if history else b""
    return Found(details, version, events, xml)


def _show_head(found: Found) -> None:
    """Which, and how it stands."""
    row, version = found.details.instance, found.version
    screen.line(
        (row.process_definition_id, "bold"),
        f" {row.process_instance_key}  ",
        screen.state(row.state, has_incident=row.has_incident),
    )
    ended = screen.when(row.end_date)
    if row.start_date and row.end_date:
        ended += f", after {screen.lasting((row.end_date - row.start_date).total_seconds())}"
    pairs = (
        ("business id", row.business_id),
        ("version", f"{version.version} of {version.resource_name}" if version else ""),
        ("started", screen.when(row.start_date)),
        ("ended", ended),
        ("called by", screen.key(row.parent_process_instance_key)),
        ("tags", ", ".join(row.tags)),
        ("tenant", row.tenant_id),
    )
    screen.pairs(pair for pair in pairs if pair[1])


def _show_active(details: InstanceDetails) -> None:
    """Where it is, and why it does not go on."""
    if not details.elements:
        return
    screen.heading("Active")
    for it in details.elements:
        mark = ("✗ ", "red") if it.incident_key else ("▸ ", "cyan")
        named = f" ({it.element_id})" if it.element_name and it.element_name != it.element_id else ""
        screen.line("  ", mark, it.element_name or it.element_id, (named, "dim"))
        if not it.incident_key:
            screen.paragraph(it.waits_for, indent=4)
        else:
            screen.paragraph(f"waits for its incident {it.incident_key} to be resolved", indent=4)


def _show_incidents(details: InstanceDetails) -> None:
    """What went wrong, and what to type."""
    if not details.incidents:
        return
    screen.heading("Incidents")
    for incident in details.incidents:
        screen.line("  ", ("✗ ", "red"), str(incident.incident_key), (f"  {incident.error_type}", "red"))
        head, _, trace = incident.error_message.strip().partition("\n")
        screen.paragraph(head, indent=4)
        for row in trace.splitlines()[-TRACE_LINES:]:
            screen.line(("    " + row, "dim"))
        screen.line((f"    procession resolve {incident.incident_key}", "dim"))


def _show_variables(details: InstanceDetails) -> None:
    """Name and value."""
    if not details.variables:
        return
    screen.heading("Variables")
    screen.pairs((name, screen.value(found)) for name, found in sorted(details.variables.items()))


def _show_history(found: Found) -> None:
    """The way of the instance through its diagram, from top to bottom."""
    from procession.cli.timeline import tell  # noqa: PLC0415 - only here

    screen.heading("History")
    if not found.history:
        screen.line(('  None was kept (history="off").', "dim"))
        return
    lines = tell(found.history, _elements(found))
    start = found.history[0].at
    for line in lines:
        _show_line(line, (line.at - start).total_seconds())


def _show_line(line: Line, at_s: float) -> None:
    """One thing that happened."""
    from rich.text import Text  # noqa: PLC0415 - only here

    if line.sign == "·":
        text = Text.assemble((line.text, "dim"))
    else:
        text = Text.assemble((f"{line.sign} ", line.style), (line.text, line.style if line.sign in "✗✓" else ""))
    took = screen.lasting(line.took_s) if line.took_s else ""
    note = "  ".join(part for part in (took, line.note) if part)
    screen.timed(at_s, INDENT * line.depth, text, note)


def _elements(found: Found) -> Mapping[str, Element]:
    """The elements of the instance's version, by id."""
    from procession.model import compile_resource  # noqa: PLC0415 - brings lxml

    methods = found.version.methods if found.version is not None else ()
    resource = compile_resource(found.xml, methods=methods, lenient=True)
    process_id = found.details.instance.process_definition_id
    definition = next(made for made in resource.definitions if made.process_id == process_id)
    return {element.id: element for element in definition.elements}
