"""``procession restart``: new instances from what ended ones left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from procession.cli import screen
from procession.cli.bulk import act_on_all
from procession.cli.endings import REJECTED
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.values import Var, Vars, variables
from procession.errors import Rejected

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.batches import RestartOptions
    from procession.app.operations import Restarted


@with_options
def restart(
    *,
    keys: Annotated[list[int], typer.Argument(metavar="INSTANCE...", help="Keys of ended instances.")],
    before: Annotated[
        list[str] | None, typer.Option("--before", "-b", metavar="ELEMENT", help="Begin before this element.")
    ] = None,
    after: Annotated[
        list[str] | None, typer.Option("--after", "-a", metavar="ELEMENT", help="Begin behind it: it is left out.")
    ] = None,
    which: Annotated[str, typer.Option("--variables", help="last, initial (history level full), or none.")] = "last",
    var: Var = None,
    vars: Vars = "",  # noqa: A002 - the option's name
    to: Annotated[
        int, typer.Option("--to", metavar="KEY", help="Of this version instead of its own.", show_default=False)
    ] = 0,
    without_business_id: Annotated[bool, typer.Option("--without-business-id", help="Do not take it over.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would begin, and change nothing.")] = False,
) -> None:
    """Start new instances from what ended ones left.

    They begin before or behind the elements named, with the variables of the ended ones; --var and --vars are written
    over them. The ended ones stay as they are. For many: batch restart.
    """
    how: RestartOptions = {
        "before": before or [],
        "after": after or [],
        "variables": which,
        "changes": variables(var, vars),
        "process_definition_key": to,
        "business_id": not without_business_id,
    }

    async def work(app: Procession) -> None:
        chosen = list(dict.fromkeys(keys))
        if dry_run:
            await _look(app, chosen, how)
            return
        begun: list[Restarted] = []

        async def act(key: int) -> None:
            begun.append(await app.restart(key, **how))

        def made() -> dict[str, Any]:
            return {"started": [each.to_dict() for each in begun]}

        await act_on_all("restarted", "instance", chosen, act, more=made, tell=lambda: _tell(begun))

    run(work)


def _tell(begun: list[Restarted]) -> None:
    """Which became which."""
    for each in sorted(begun, key=lambda one: one.from_process_instance_key):
        screen.line(f"{each.from_process_instance_key} → ", (str(each.process_instance_key), "bold"))


async def _look(app: Procession, keys: list[int], how: RestartOptions) -> None:
    """What each would begin. Ends with exit code 1 when one would be refused."""
    found: list[Restarted] = []
    refused: dict[int, str] = {}
    for key in keys:
        try:
            found.append(await app.restart(key, dry_run=True, **how))
        except Rejected as error:
            refused[key] = str(error)
    if options().json:
        problems = [{"key": key, "message": message} for key, message in refused.items()]
        screen.json({"plans": [each.to_dict() for each in found], "refused": problems})
    else:
        _show(found, refused)
    if refused:
        raise typer.Exit(REJECTED)


def _show(found: list[Restarted], refused: dict[int, str]) -> None:
    """What would begin, and what would not."""
    for each in found:
        places = [f"before {name}" for name in each.before] + [f"behind {name}" for name in each.after]
        where = f"{each.process_definition_id} version {each.version}, {', '.join(places)}"
        screen.line(str(each.from_process_instance_key), "  ", ("can be restarted", "green"), f": {where}")
        screen.pairs(((name, screen.value(value)) for name, value in sorted(each.variables.items())), indent=4)
    for key, message in refused.items():
        screen.line(str(key), "  ", ("cannot be restarted", "red"))
        screen.paragraph(message, indent=4)
