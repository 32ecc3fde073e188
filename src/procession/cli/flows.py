"""``procession flows`` and ``procession job-batches``: jobs that belong together, as a tree and by their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.bulk import Yes, confirm
from procession.cli.job_views import bar, show_flow
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.flows import Flow, JobBatch

flows = typer.Typer(help="List flows, see what comes after what.", invoke_without_command=True)
batches = typer.Typer(help="List batches of jobs, seal and cancel them.", invoke_without_command=True)

BatchKey = Annotated[int, typer.Argument(metavar="BATCH", help="The batch's key.")]


@flows.command("show")
@with_options
def show(key: Annotated[int, typer.Argument(metavar="KEY", help="The flow's, or that of any of its jobs.")]) -> None:
    """Show the jobs of a flow, each under what it comes after."""
    graph = run(lambda app: app.flow(key))
    if options().json:
        screen.json(graph.to_dict())
        return
    show_flow(graph, key)


@flows.callback()
@with_options
def all_flows(context: typer.Context) -> None:
    """List flows that have a title, the newest first; with a command: see what comes after what in one."""
    if context.invoked_subcommand is None:
        _list_flows(0, 50)


@flows.command("list")
@with_options
def list_flows(
    after: Annotated[int, typer.Option("--after", metavar="KEY", help="Go on after this.", show_default=False)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List flows that have a title, the newest first."""
    _list_flows(after, limit)


def _list_flows(after: int, limit: int) -> None:
    """A page."""
    rows = run(lambda app: app.flows(after=after, limit=limit))
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("There is no flow with a title: app.enqueue_flow([...], title=...) makes one.")
        return
    _table("begun", [(row.flow_key, row) for row in rows])
    screen.more(rows, limit, rows[-1].flow_key)


@batches.callback()
@with_options
def job_batches(
    context: typer.Context,
    after: Annotated[int, typer.Option("--after", metavar="KEY", help="Go on after this.", show_default=False)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List batches of jobs, the newest first; with a command: look at one, seal or cancel it."""
    if context.invoked_subcommand is not None:
        return
    rows = run(lambda app: app.job_batches(after=after, limit=limit))
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("There is no batch of jobs: app.open_batch() opens one.")
        return
    _table("opened", [(row.batch_key, row) for row in rows])
    screen.more(rows, limit, rows[-1].batch_key)


@batches.command("show")
@with_options
def show_batch(key: BatchKey) -> None:
    """Show one batch of jobs."""
    _show(run(lambda app: app.job_batch(key)))


@batches.command("seal")
@with_options
def seal(key: BatchKey) -> None:
    """Let no more members in: it is finished when all that it has are over."""

    async def work(app: Procession) -> JobBatch:
        await app.seal_batch(key)
        return await app.job_batch(key)

    _show(run(work))


@batches.command("cancel")
@with_options
def cancel(
    key: BatchKey,
    reason: Annotated[str, typer.Option("--reason", help="Kept with the jobs.")] = "",
    yes: Yes = False,
) -> None:
    """Seal a batch and delete its members that are not over; those that run are canceled."""

    async def work(app: Procession) -> JobBatch:
        batch = await app.job_batch(key)
        confirm(f"Delete {screen.counted(batch.pending, 'job')}?", batch.pending, yes=yes)
        with screen.progress("Delete", batch.pending, quiet=options().json) as progress:
            await app.cancel_job_batch(key, reason=reason, progress=progress.to)
        return await app.job_batch(key)

    _show(run(work))


def _show(row: JobBatch) -> None:
    if options().json:
        screen.json(row.to_dict())
    else:
        _table("opened", [(row.batch_key, row)])


def _table(began: str, rows: Sequence[tuple[int, JobBatch | Flow]]) -> None:
    columns = (
        KEY,
        Column("title"),
        Column("state", whole=True),
        Column("done", whole=True),
        Column("of", whole=True, right=True),
        Column("failed", whole=True, right=True),
        Column("deleted", whole=True, right=True),
        Column(began, whole=True, rank=1),
        Column("finished", whole=True, rank=2),
    )
    cells = [
        (
            screen.key(key),
            row.title,
            screen.state(row.state),
            bar((row.total - row.pending) / row.total) if row.total else "",
            f"{row.total:,}",
            f"{row.failed:,}" if row.failed else "",
            f"{row.deleted:,}" if row.deleted else "",
            screen.when(row.created_at),
            screen.when(row.finished_at),
        )
        for key, row in rows
    ]
    screen.table(columns, cells)
