"""``procession jobs``: what is due now or later, or failed for good. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from rich.text import Text

    from procession.app import Procession
    from procession.app.views import JobInfo


@with_options
def jobs(
    context: typer.Context,
    *,
    instance: Annotated[
        int, typer.Option("--instance", "-i", metavar="KEY", help="Only of this instance.", show_default=False)
    ] = 0,
    state: Annotated[str, typer.Option("--state", help="ready, running, scheduled, failed, …")] = "",
    kind: Annotated[str, typer.Option("--kind", help="service, task, method, timer, follow_up or listener.")] = "",
    queue: Annotated[str, typer.Option("--queue", help="Only from this queue.")] = "",
    type: Annotated[str, typer.Option("--type", help="Only of this job type.")] = "",  # noqa: A002 - Camunda's word
    after: Annotated[int, typer.Option("--after", metavar="KEY", help="Go on after this key.", show_default=False)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
    count: Annotated[bool, typer.Option("--count", help="How many per queue and state instead.")] = False,
) -> None:
    """List jobs: what is due now or later; with a command: look at jobs of the queue and act on them.

    Service jobs, plain ones, timers and follow-ups, the oldest first.
    """
    if context.invoked_subcommand is not None:
        return
    if count:
        _count()
        return

    async def work(app: Procession) -> list[JobInfo]:
        return await app.jobs(
            process_instance_key=instance, state=state, kind=kind, queue=queue, type=type, after=after, limit=limit
        )

    rows = run(work)
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("There is no such job.")
        return
    columns = (
        KEY,
        Column("kind", whole=True, rank=2),
        Column("type"),
        Column("state", whole=True),
        Column("element", rank=1),
        Column("instance", whole=True),
        Column("tries", whole=True, right=True, rank=4),
        Column("left", whole=True, right=True, rank=3),
        Column("due", whole=True),
    )
    errors = [screen.styled(row.error_message.partition("\n")[0], "red") for row in rows]
    screen.table(columns, [_row(row) for row in rows], below=errors)
    screen.more(rows, limit, rows[-1].job_key)


def _row(row: JobInfo) -> tuple[str | Text, ...]:
    """A job's cells."""
    kind = row.kind.lower().replace("_", "-")
    return (
        screen.key(row.job_key),
        kind,
        row.type or f"({kind})",
        screen.state(row.state),
        row.element_id,
        screen.key(row.process_instance_key),
        str(row.attempt) if row.attempt else "",
        str(row.retries) if row.kind in {"SERVICE", "TASK", "METHOD", "LISTENER"} else "",
        screen.when(row.run_at) if row.state == "SCHEDULED" else "",
    )


def _count() -> None:
    """How many jobs there are per queue and state."""
    counts = run(lambda app: app.count_jobs())
    if options().json:
        screen.json([{"queue": queue, "state": state, "jobs": n} for (queue, state), n in counts.items()])
        return
    if not counts:
        screen.note("There are no jobs.")
        return
    screen.table(
        (Column("queue"), Column("state"), Column("jobs", right=True)),
        [(queue, screen.state(state), f"{number:,}") for (queue, state), number in sorted(counts.items())],
    )
