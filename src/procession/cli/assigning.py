"""``procession business-id`` and ``update-jobs``: name an instance, change many jobs as a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import batches, screen
from procession.cli.options import options, with_options
from procession.cli.session import run

if TYPE_CHECKING:
    from procession.app import Procession


@with_options
def business_id(
    key: Annotated[int, typer.Argument(metavar="INSTANCE", help="The instance's key.")],
    name: Annotated[str, typer.Argument(metavar="ID", help="Its business id from now on.")],
) -> None:
    """Give a business id to an instance that has none.

    It stays; the same again changes nothing.
    """

    async def work(app: Procession) -> None:
        await app.assign_business_id(key, name)
        if options().json:
            screen.json({"processInstanceKey": str(key), "businessId": name})
        else:
            screen.note(f"Instance {key} has the business id {name}")

    run(work)


@with_options
def update_jobs(
    keys: Annotated[list[int], typer.Argument(metavar="JOB...", help="Keys of jobs of processes.")],
    *,
    retries: Annotated[int | None, typer.Option("--retries", min=1, help="Attempts left.", show_default=False)] = None,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="SPAN", help="How long the leases of remote workers still are.")
    ] = "",
    priority: Annotated[int | None, typer.Option("--priority", help="Higher goes first.", show_default=False)] = None,
    wait: batches.Wait = False,
) -> None:
    """Change retries, timeout or priority of many jobs, as a batch.

    The processes that work carry it out; batches shows how far it is.
    """

    async def work(app: Procession) -> None:
        batch = await app.update_jobs(keys, retries=retries, timeout=timeout or None, priority=priority)
        await batches.follow(app, batch, wait=wait)

    run(work)
