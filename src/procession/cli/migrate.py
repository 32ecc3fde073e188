"""``procession migrate``: let instances go on under another version, or see first what would prevent it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.bulk import act_on_all
from procession.cli.endings import REJECTED
from procession.cli.modify import pair
from procession.cli.options import options, with_options
from procession.cli.session import run

if TYPE_CHECKING:
    from procession.app import Procession


@with_options
def migrate(
    keys: Annotated[list[int], typer.Argument(metavar="INSTANCE...", help="Keys of instances.")],
    to: Annotated[int, typer.Option("--to", metavar="KEY", help="The version's key: see definitions.")],
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", "-m", metavar="FROM=TO", help="An element that is called otherwise there."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.")] = False,
) -> None:
    """Migrate instances to another version.

    Jobs, user tasks, variables and waits stay. What prevents it is named, and that instance stays as it is.
    """
    names = dict(pair(text, "--map") for text in mapping or ())

    async def work(app: Procession) -> None:
        chosen = list(dict.fromkeys(keys))
        if dry_run:
            await _look(app, chosen, to, names)
            return

        async def act(key: int) -> None:
            await app.migrate_instance(key, to, names)

        await act_on_all("migrated", "instance", chosen, act)

    run(work)


async def _look(app: Procession, keys: list[int], to: int, names: dict[str, str]) -> None:
    """Every finding. Ends with exit code 1 when something would prevent a migration."""
    found = {key: await app.migrate_instance(key, to, names, dry_run=True) for key in keys}
    if options().json:
        screen.json({str(key): [each.to_dict() for each in findings] for key, findings in found.items()})
    else:
        for key, findings in found.items():
            prevented = any(each.severity == "error" for each in findings)
            screen.line(str(key), "  ", ("cannot be migrated", "red") if prevented else ("can be migrated", "green"))
            for each in findings:
                screen.paragraph(f"{each.severity}: {each.message}", indent=4)
    if any(each.severity == "error" for findings in found.values() for each in findings):
        raise typer.Exit(REJECTED)
