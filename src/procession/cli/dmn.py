"""``procession dmn``: evaluate a decision of a file, with the rules that matched. It needs no database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.feel import plain, read_context, type_name, written
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
    decision: Annotated[str, typer.Argument(help="The decision's id or name; not needed where the file has one.")] = "",
    context: Annotated[
        str, typer.Option("--context", "-c", metavar="JSON|FILE", help="What the names mean: an object, or a file.")
    ] = "",
    var: Var = None,
    trace: Annotated[bool, typer.Option("--trace", "-t", help="Show inputs, rules that matched, outputs.")] = False,
) -> None:
    """Evaluate a decision, with all that it requires.

    Shows the result, its type, and why parts of it are null. The exit code is 1 where the file is wrong.
    """
    names = read_context(context) if context else {}
    names |= variables(var)
    model = compile_decisions(file)
    evaluation = model.evaluate(_decision(model, decision), names, now=datetime.now(UTC).astimezone())
    if options().json:
        _show_json(evaluation)
        return
    if trace:
        for evaluated in evaluation.trace:
            _show_decision(evaluated)
    screen.line(written(evaluation.result), (f"   {type_name(evaluation.result)}", "dim"))
    for warning in evaluation.warnings:
        screen.note(("! ", "yellow"), str(warning))


def _decision(model: DecisionModel, named: str) -> str:
    """The decision that is meant."""
    if named:
        return named
    ids = list(model.decisions)
    if len(ids) == 1:
        return ids[0]
    screen.error(f"Which decision? The file has: {', '.join(ids) or 'none'}")
    raise typer.Exit(REJECTED)


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
