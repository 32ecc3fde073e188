"""``procession recurring``: jobs that are put into the queue again and again. It declares none: programs do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import Column
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from datetime import datetime

    from procession.app import Procession
    from procession.app.queue_watch import PastRun
    from procession.app.recurring import RecurringJobInfo

Name = Annotated[str, typer.Argument(metavar="NAME", help="Its name, as recurring lists it.")]
SHOWN = 10  # firings; --json has more
group = typer.Typer(help="List, pause, resume, trigger and remove recurring jobs.", invoke_without_command=True)


@group.callback()
@with_options
def recurring(context: typer.Context) -> None:
    """List, pause, resume, trigger and remove recurring jobs; without a command: list them."""
    if context.invoked_subcommand is None:
        _list("", "", 50)


@group.command("list")
@with_options
def list_recurring(
    group_name: Annotated[str, typer.Option("--group", help="Only of this group.")] = "",
    after: Annotated[str, typer.Option("--after", metavar="NAME", help="Go on after this name.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List recurring jobs by name, with their next times."""
    _list(group_name, after, limit)


@group.command("show")
@with_options
def show(name: Name) -> None:
    """Show one recurring job."""

    async def work(app: Procession) -> tuple[RecurringJobInfo, list[datetime], list[PastRun]]:
        return await app.recurring_job(name), await app.next_runs(name), await app.recurring_history(name)

    row, ahead, past = run(work)
    if options().json:
        screen.json({**row.to_dict(), "nextRuns": ahead, "history": [each.to_dict() for each in past]})
        return
    screen.line((row.name, "bold"))
    pairs = (
        ("cycle", row.cycle),
        ("job", f"{row.type} in {row.queue}"),
        ("group", row.group or "none"),
        ("next", "paused" if row.is_paused else ", ".join(screen.when(at) for at in ahead) or "never again"),
        ("last", screen.when(row.last_at) if row.last_at else "never"),
        ("fired", screen.counted(row.fired, "time")),
        ("missed runs", row.missed),
        ("overlap", "allowed" if row.overlap else "passed over while the last run is not over"),
    )
    screen.pairs((what, str(value)) for what, value in pairs)
    if past:
        screen.heading("History")
    for each in past[:SHOWN]:
        _show_run(each)


def _show_run(each: PastRun) -> None:
    """One firing, with what became of its jobs."""
    due = f"due {screen.when(each.due_at)}" if each.due_at else "triggered"
    screen.line("  ", screen.when(each.at), (f"  {due}", "dim"), "" if each.jobs else ("  passed over", "yellow"))
    for job in each.jobs:
        screen.line("    ", str(job.job_key), "  ", screen.state(job.state))


@group.command("pause")
@with_options
def pause(name: Name) -> None:
    """Fire it no more until it is resumed."""
    run(lambda app: app.pause_recurring(name))
    _said("paused", name)


@group.command("resume")
@with_options
def resume(name: Name) -> None:
    """Fire it again, from its next time on; what was due meanwhile is not made up for."""
    run(lambda app: app.resume_recurring(name))
    _said("resumed", name)


@group.command("trigger")
@with_options
def trigger(name: Name) -> None:
    """Run it now, beside its times."""
    key = run(lambda app: app.trigger_recurring(name))
    if options().json:
        screen.json({"triggered": name, "jobKey": key})
        return
    screen.line(f"'{name}' triggered: job {key}")


@group.command("remove")
@with_options
def remove(name: Name) -> None:
    """Remove it; jobs that it has put into the queue stay."""
    run(lambda app: app.remove_recurring(name))
    _said("removed", name)


def _said(done: str, name: str) -> None:
    """What was done."""
    if options().json:
        screen.json({done: name})
        return
    screen.line(f"'{name}' {done}")


def _list(group_name: str, after: str, limit: int) -> None:
    """A page."""
    rows = run(lambda app: app.recurring_jobs(group=group_name or None, after=after, limit=limit))
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("There is no recurring job. Programs declare them: app.put_recurring(...)")
        return
    columns = (
        Column("name"),
        Column("cycle", whole=True),
        Column("job"),
        Column("next", whole=True),
        Column("fired", whole=True, right=True, rank=1),
    )
    screen.table(columns, [(row.name, row.cycle, row.type, _next(row), f"{row.fired:,}") for row in rows])


def _next(row: RecurringJobInfo) -> str:
    """When it is due again."""
    if row.is_paused:
        return "paused"
    return screen.when(row.next_at) if row.next_at else "never again"
