"""``procession explore``: every way that a model can go, and those that go wrong, step by step. Without a database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.files import find, is_decisions, is_form
from procession.cli.options import options, with_options
from procession.errors import NotFound

if TYPE_CHECKING:
    from procession.explorer import Decision, Found, Report, TraceStep
    from procession.model import Resource

WRONG = {"DEADLOCK", "UNSAFE", "NO_END", "DEAD_ELEMENT"}  # the others are worth a look, or say what was not seen
STYLES = {"BOUND": "yellow", "IMPROPER_COMPLETION": "yellow", "INCIDENT": "yellow"}
ALSO_MAX = 8  # ids that are named after "also"
ACTIONS = {
    "start": "starts at",
    "enter": "a token enters",
    "complete": "completes",
    "throw": "ends in an error:",
    "happen": "happens:",
    "receive": "receives a message:",
}


@with_options
def explore(
    file: Annotated[Path, typer.Argument(help="A BPMN file.")],
    process: Annotated[str, typer.Option("--process", metavar="ID", help="Only this process, by itself.")] = "",
    states: Annotated[
        int,
        typer.Option("--states", metavar="N", min=0, help="States at most (0: 40,000).", show_default=False),
    ] = 0,
) -> None:
    """Explore every way that a model can go.

    Decisions go any way, work ends at any time, events come in any order. Tells deadlocks, tokens that meet (lack of
    synchronisation), elements that are never active, and ends that are reached twice, each with the shortest way to it.
    Processes with message flows between them are explored together too. The exit code is 1 if something is wrong.
    """
    found = reports(file, process, states)
    if options().json:
        screen.json(found)
    else:
        for number, report in enumerate(found):
            show(report, first=number == 0)
    if any(finding.verdict in WRONG for report in found for finding in report.findings):
        raise typer.Exit(REJECTED)


def reports(file: Path, process: str, states: int) -> list[Report]:
    """One report per process, then one for all that message each other. Raises InvalidModel, NotFound."""
    from procession.explorer import Bounds, explore, explore_together  # noqa: PLC0415 - quick start

    paths = [path for path in find([file]) if not (is_decisions(path) or is_form(path))]
    if not paths:
        message = f"Expected a BPMN file at '{file}', found none"
        raise NotFound(message)
    path = paths[0]
    resource = _compiled(path)
    chosen = [one for one in resource.definitions if process in {"", one.process_id}]
    if not chosen:
        known = ", ".join(one.process_id for one in resource.definitions)
        message = f"Expected a process '{process}' in '{path}', found {known}"
        raise NotFound(message)
    bounds = Bounds(states=states) if states else Bounds()
    found: list[Report] = []
    with screen.waiting("Exploring", quiet=options().json) as status:
        for definition in chosen:
            status.say(f"Exploring {definition.process_id}")
            found.append(explore(definition, bounds))
        if not process and _talk(resource):
            status.say("Exploring all together")
            found.append(explore_together(chosen, resource.message_flows, bounds))
    return found


def _compiled(path: Path) -> Resource:
    """A file as it would be deployed, drawings of partners included; with gaps filled if it could not be deployed."""
    from procession.model import InvalidModel, compile_resource  # noqa: PLC0415 - quick start

    content = path.read_bytes()
    try:
        return compile_resource(content, name=str(path), executable_only=False)
    except InvalidModel as refused:
        resource = compile_resource(content, name=str(path), executable_only=False, lenient=True)
        gaps = screen.counted(len(refused.problems), "gap")
        screen.note((f"Explored with {gaps} filled; procession lint tells them", "dim"))
        return resource


def _talk(resource: Resource) -> bool:
    """Whether message flows lead from one process of the file to another."""
    where = {name: one.process_id for one in resource.definitions for name in one.index_of}
    ends = [(where.get(flow.source), where.get(flow.target)) for flow in resource.message_flows]
    return any(source and target and source != target for source, target in ends)


def show(report: Report, *, first: bool = True) -> None:
    """A report for eyes."""
    if not first:
        screen.line()
    names = ", ".join(report.process_ids)
    if len(report.process_ids) > 1:
        names += " together"
    size = f"{report.states:,} states, {report.moves:,} steps"
    screen.line((names, "bold"), (f"  {size}", "dim"))
    for finding in report.findings:
        show_one(finding)
    if not report.findings:
        screen.line(("  ✓ ", "green"), "always ends, properly and once; never two tokens in one place; nothing is dead")
    elif report.is_sound and report.is_safe and not report.bounds:
        screen.line(("  ✓ ", "green"), "always ends, and never two tokens in one place")


def show_one(finding: Found) -> None:
    """A finding and the way to it."""
    style = STYLES.get(finding.verdict, "red")
    screen.line(("  ✗ ", style), (finding.verdict.value, style), f"  line {finding.line}  {finding.element_id}")
    screen.paragraph(finding.message, indent=4)
    if finding.also:
        more = f" and {len(finding.also) - ALSO_MAX} more" if len(finding.also) > ALSO_MAX else ""
        screen.paragraph(f"also: {', '.join(finding.also[:ALSO_MAX])}{more}", indent=4, style="dim")
    if finding.suggestion:
        screen.paragraph(f"→ {finding.suggestion}", indent=4, style="cyan")
    several = len({step.process_id for step in finding.trace}) > 1
    for number, step in enumerate(finding.trace, start=1):
        _show_step(number, step, several=several)


def _show_step(number: int, step: TraceStep, *, several: bool) -> None:
    """One step: what happens, what is decided, where tokens come."""
    name = " ".join(step.name.split())
    element = f"{name} ({step.element_id})" if name and name != step.element_id else step.element_id
    action = ACTIONS[step.action]
    if step.action == "complete":
        text = f"{element} {action}"
    elif step.action in {"throw", "receive"}:
        text = f"{element} {action} {step.detail}"
    else:
        text = f"{step.detail} {action} {element}" if step.action == "happen" else f"{action} {element}"
    where = f"{step.process_id}: " if several else ""
    screen.line((f"    {number:>3}. ", "dim"), (where, "dim"), text)
    for decision in step.decisions:
        screen.line((f"         ◆ {_decided(decision)}", "cyan"))
    if step.active:
        screen.paragraph(f"⤷ {_joined(step.active)}", indent=9, style="dim")


def _decided(decision: Decision) -> str:
    """A decision in words."""
    if decision.answer == "sends":
        return f"{decision.element_id} sends {_joined(decision.flows)}"
    if decision.flows:
        return f"{decision.element_id} takes {_joined(decision.flows)}"
    return f"{decision.element_id}: {decision.answer}"


def _joined(names: Sequence[str]) -> str:
    return ", ".join(names)
