"""``procession queues`` and ``procession limits``: how the queue stands, pauses, and the rules that jobs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import Column
from procession.limits import PAGE_MAX, STAT_KEPT_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from procession.app import Procession
    from procession.app.queue_watch import Series
    from procession.app.queues import LimitInfo

queues = typer.Typer(help="See, pause and resume queues.", invoke_without_command=True)
limits = typer.Typer(help="See and change the limits that jobs share.", invoke_without_command=True)

Queue = Annotated[str, typer.Argument(metavar="NAME", help="The queue, or with --type the job type.")]
IsType = Annotated[bool, typer.Option("--type", help="NAME is a job type, whatever queue its jobs are in.")]
SPARKS = " ▁▂▃▄▅▆▇█"
SERIES_MINUTES_MAX = STAT_KEPT_MS // 60_000
STATES = ("READY", "RUNNING", "SCHEDULED", "THROTTLED", "AWAITING", "FAILED")


@queues.callback()
@with_options
def all_queues(context: typer.Context) -> None:
    """See, pause and resume queues; without a command: how they stand."""
    if context.invoked_subcommand is not None:
        return
    rows = run(lambda app: app.queues())
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No queue has a job.")
        return
    shown = [state for state in STATES if any(row.counts.get(state) for row in rows)]
    columns = (
        Column("queue"),
        *(Column(state.lower(), whole=True, right=True) for state in shown),
        Column("oldest", whole=True),
        Column("", whole=True),
    )
    cells = [
        (
            row.queue,
            *(f"{row.counts.get(state, 0):,}" for state in shown),
            screen.when(row.oldest_at) if row.oldest_at else "",
            screen.styled("paused", "yellow") if row.is_paused else "",
        )
        for row in rows
    ]
    screen.table(columns, cells)


@queues.command("pause")
@with_options
def pause(
    name: Queue,
    is_type: IsType = False,
    reason: Annotated[str, typer.Option("--reason", help="Shown to whoever wonders.")] = "",
) -> None:
    """Let nobody claim its jobs; what runs goes on."""

    async def work(app: Procession) -> bool:
        return await (app.pause_type if is_type else app.pause_queue)(name, reason=reason)

    _said("paused", name, run(work), "was paused already")


@queues.command("resume")
@with_options
def resume(name: Queue, is_type: IsType = False) -> None:
    """Take the pause back."""

    async def work(app: Procession) -> bool:
        return await (app.resume_type if is_type else app.resume_queue)(name)

    _said("resumed", name, run(work), "was not paused")


@queues.command("keep")
@with_options
def keep(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The queue.")],
    span: Annotated[str, typer.Argument(metavar="SPAN", help="Such as 7d; 'none': as its jobs say.")],
) -> None:
    """Keep what succeeds in a queue so long from now on, where `jobs list --state succeeded` finds it."""
    run(lambda app: app.keep_finished(name, None if span == "none" else span))
    if options().json:
        screen.json({"name": name, "keep": span})
    elif span == "none":
        screen.line(f"'{name}' keeps what its jobs say")
    else:
        screen.line(f"'{name}' keeps what succeeds for {span}")


@queues.command("rates")
@with_options
def rates(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Only this queue.", show_default=False)] = "",
    minutes: Annotated[int, typer.Option("--minutes", "-m", min=1, max=SERIES_MINUTES_MAX, help="So far back.")] = 30,
) -> None:
    """What happened per minute: enqueued, succeeded, failed, tried again."""
    found = run(lambda app: app.job_series(name, minutes=minutes))
    if options().json:
        screen.json(found.to_dict())
        return
    if not found.series:
        screen.note(f"Nothing has happened within {screen.counted(minutes, 'minute')}.")
        return
    columns = (
        Column("queue"),
        Column("enqueued", whole=True, right=True),
        Column("succeeded", whole=True, right=True),
        Column("failed", whole=True, right=True),
        Column("again", whole=True, right=True, rank=2),
        Column("took", whole=True, right=True, rank=1),
        Column("succeeded per minute", rank=3),
    )
    cells = [
        (
            each.queue,
            f"{sum(each.enqueued):,}",
            f"{sum(each.succeeded):,}",
            f"{sum(each.failed):,}",
            f"{sum(each.retried):,}",
            _took(each),
            screen.styled(sparks(each.succeeded), "cyan"),
        )
        for each in found.series
    ]
    screen.table(columns, cells)


def sparks(numbers: Sequence[int]) -> str:
    """Numbers as a line of bars, the highest as high as it goes."""
    most = max(numbers, default=0) or 1
    return "".join(SPARKS[-(-number * (len(SPARKS) - 1) // most)] for number in numbers)


def _took(each: Series) -> str:
    """How long a run took on average."""
    runs = sum(each.succeeded) + sum(each.failed) + sum(each.retried)
    return screen.lasting(sum(each.run_ms) / runs / 1000) if runs else ""


@limits.callback()
@with_options
def all_limits(context: typer.Context) -> None:
    """See and change the limits that jobs share; without a command: how they stand."""
    if context.invoked_subcommand is not None:
        return
    rows = run(lambda app: app.limits(limit=PAGE_MAX))
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No job has named a limit yet.")
        return
    columns = (
        Column("limit"),
        Column("at once", whole=True, right=True),
        Column("rate", whole=True),
        Column("waiting", whole=True, right=True),
    )
    screen.table(columns, [(row.key, _slots(row), _rate(row), f"{row.waiting:,}") for row in rows])


@limits.command("set")
@with_options
def set_limit(
    key: Annotated[str, typer.Argument(metavar="LIMIT", help="The limit's key.")],
    *,
    most: Annotated[int, typer.Option("--most", min=0, help="So many at once; 0: any number.")] = 0,
    rate: Annotated[int, typer.Option("--rate", min=0, help="So many starts in --per.")] = 0,
    per: Annotated[str, typer.Option("--per", metavar="SPAN", help="Such as 1s, 1m or 1h.")] = "1s",
    burst: Annotated[int, typer.Option("--burst", min=0, help="So many of them at once; 0: a tenth.")] = 0,
) -> None:
    """Change the rule of a limit now, also for jobs that wait already."""
    changed = run(lambda app: app.set_limit(key, most=most, rate=rate, per=per, burst=burst))
    _said("changed", key, changed, "has this rule already")


@limits.command("delete")
@with_options
def delete_limit(key: Annotated[str, typer.Argument(metavar="LIMIT", help="The limit's key.")]) -> None:
    """Delete a limit that holds nobody; the next job that names it brings its own rule."""
    run(lambda app: app.delete_limit(key))
    _said("deleted", key, True, "")


def _slots(row: LimitInfo) -> str:
    """How many run, of how many that may."""
    return f"{row.used:,} of {row.most:,}" if row.most else ""


def _rate(row: LimitInfo) -> str:
    """Starts in a time."""
    if not row.rate:
        return ""
    per = {1_000: "s", 60_000: "min", 3_600_000: "h", 86_400_000: "d"}.get(row.per_ms, f"{row.per_ms:,} ms")
    return f"{row.rate:,}/{per}" + (f", burst {row.burst:,}" if row.burst else "")


def _said(done: str, name: str, is_new: bool, otherwise: str) -> None:
    """What was done, or that there was nothing to do."""
    if options().json:
        screen.json({"name": name, done: is_new})
    elif is_new:
        screen.line(f"'{name}' {done}")
    else:
        screen.note(f"'{name}' {otherwise}")
