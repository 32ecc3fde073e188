"""``procession dmn``: evaluate a decision of a file, with the rules that matched. It needs no database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.feel import Strict, plain, read_context, type_name, written
from procession.cli.files import compile_decisions
from procession.cli.options import options, with_options
from procession.cli.values import Var, variables

if TYPE_CHECKING:
    from procession.dmn import DecisionModel, EvaluatedDecision, EvaluatedTable, Evaluation

group = typer.Typer(help="Evaluate decisions of DMN files.")


@group.callback()
def about() -> None:
    """Evaluate decisions of DMN files.

    `procession lint` checks them, `procession deploy` makes them known to processes.
    """


@group.command("eval")
@with_options
def evaluate(
    file: Annotated[Path, typer.Argument(help="A DMN file. What it imports stands in the same folder.")],
    decision: Annotated[
        str,
        typer.Argument(help="Id or name of the decision, or decision service; not needed where the file has one."),
    ] = "",
    context: Annotated[
        str, typer.Option("--context", "-c", metavar="JSON|FILE", help="What the names mean: an object, or a file.")
    ] = "",
    var: Var = None,
    trace: Annotated[bool, typer.Option("--trace", "-t", help="Show inputs, rules that matched, outputs.")] = False,
    strict: Strict = False,
) -> None:
    """Evaluate a decision or decision service, with all that it requires.

    Shows the result, its type, and why parts of it are null. The exit code is 1 where the file is wrong.
    """
    names = read_context(context) if context else {}
    names |= variables(var)
    model = compile_decisions(file)
    evaluation = _evaluated(model, decision, names)
    if options().json:
        _show_json(evaluation)
    else:
        _show(evaluation, trace=trace)
    if strict and evaluation.warnings:
        raise typer.Exit(REJECTED)


def _evaluated(model: DecisionModel, named: str, names: dict[str, Any]) -> Evaluation:
    """The decision or service that is meant, evaluated."""
    now = datetime.now(UTC).astimezone()
    ids = list(model.decisions)
    if not named and len(ids) != 1:
        services = "".join(f", {service.id} (a service)" for service in model.services.values())
        screen.error(f"Which decision? The file has: {', '.join(ids) or 'none'}{services}")
        raise typer.Exit(REJECTED)
    if any(named in (service.id, service.name) for service in model.services.values()):
        return model.evaluate_service(named, names, now=now)
    return model.evaluate(named or ids[0], names, now=now)


def _show(evaluation: Evaluation, *, trace: bool) -> None:
    if trace:
        for evaluated in evaluation.trace:
            _show_decision(evaluated)
    screen.line(written(evaluation.result), (f"   {type_name(evaluation.result)}", "dim"))
    for warning in evaluation.warnings:
        screen.note(("! ", "yellow"), str(warning))


def _show_json(evaluation: Evaluation) -> None:
    from procession.dmn import trace_as_json  # noqa: PLC0415 - quick start

    screen.json(
        {
            "result": plain(evaluation.result),
            "type": type_name(evaluation.result),
            "warnings": evaluation.warnings,
            "evaluatedDecisions": trace_as_json(evaluation),
        }
    )


def _show_decision(evaluated: EvaluatedDecision) -> None:
    name = f" ({evaluated.name})" if evaluated.name not in {"", evaluated.id} else ""
    screen.line((evaluated.id, "bold"), f"{name}  ", (evaluated.kind, "dim"))
    screen.pairs((one.name, written(one.value)) for one in evaluated.inputs)
    for table in evaluated.tables:
        _show_table(table)
    screen.line("  → ", written(evaluated.result))


def _show_table(table: EvaluatedTable) -> None:
    given = ", ".join(f"{one.name} = {written(one.value)}" for one in table.inputs)
    screen.line("  ", (table.hit_policy, "dim"), f"  {given}")
    for rule in table.matched_rules:
        gives = ", ".join(f"{one.name} = {written(one.value)}" for one in rule.outputs)
        screen.line("  ", (f"rule {rule.index}", "green"), f"  {gives}")
    if not table.matched_rules:
        screen.line("  ", ("no rule matches", "yellow"))
