"""``procession jobs list|show|log|requeue|delete|adjust``: jobs of the queue, one by one and by filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from procession.cli import jobs, screen
from procession.cli.bulk import Yes, act_on_all, confirm
from procession.cli.job_options import At, Delay, moment
from procession.cli.job_views import job_table, show_job, show_log
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.limits import PAGE_MAX, SEARCH_MATCHES_MAX

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from procession.app import Procession
    from procession.app.administration import Changes
    from procession.app.job_lists import JobPage

FOLLOW_S = 1.0  # between two looks at a log
OVER = ("SUCCEEDED", "DELETED", "FAILED")

group = typer.Typer(help="List jobs, look at one, requeue, delete and adjust them.", invoke_without_command=True)
group.callback()(jobs.jobs)

State = Annotated[str, typer.Option("--state", help="ready, running, scheduled, awaiting, throttled, failed, …")]
Queue = Annotated[str, typer.Option("--queue", help="Only from this queue.")]
Type = Annotated[str, typer.Option("--type", help="Only of this job type.")]
Tag = Annotated[str, typer.Option("--tag", help="Only with this tag.")]
Words = Annotated[str, typer.Option("--text", help="Only with this text in title, type, error or arguments.")]
Batch = Annotated[int, typer.Option("--batch", metavar="KEY", help="Only of this batch of jobs.", show_default=False)]
Flow = Annotated[int, typer.Option("--flow", metavar="KEY", help="Only of this job's flow.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="All that there are, where no filter is said.")]
Key = Annotated[int, typer.Argument(metavar="JOB", help="The job's key.")]
Keys = Annotated[list[int] | None, typer.Argument(metavar="[JOB...]", help="Jobs by their keys, or name a filter.")]
Reason = Annotated[str, typer.Option("--reason", help="Kept with the job, for whoever wonders.")]
Action = Literal["delete", "requeue", "change"]


@group.command("list")
@with_options
def list_jobs(
    *,
    state: State = "",
    queue: Queue = "",
    type: Type = "",  # noqa: A002 - Camunda's word
    kind: Annotated[str, typer.Option("--kind", help="task (a plain job), service, method, timer, …")] = "",
    tag: Tag = "",
    text: Words = "",
    batch: Batch = 0,
    flow: Flow = 0,
    node: Annotated[int, typer.Option("--node", help="Only those that this process has.", show_default=False)] = 0,
    oldest: Annotated[bool, typer.Option("--oldest", help="The oldest first.")] = False,
    after: Annotated[int, typer.Option("--after", metavar="KEY", help="Go on after this.", show_default=False)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List jobs of the queue, the newest first, with how many there are.

    --state succeeded or deleted looks into the archive.
    """
    choice = _said(
        state=state, queue=queue, type=type, kind=kind, tag=tag, text=text, batch=batch, flow=flow, node=node
    )

    async def work(app: Procession) -> JobPage:
        return await app.find_jobs(newest=not oldest, after=after, limit=limit, **choice)

    page = run(work)
    if options().json:
        screen.json(page.to_dict())
        return
    job_table(page.jobs)
    counted = f"{'more than ' if page.is_more else ''}{screen.counted(page.total, 'job')}"
    if page.after:
        screen.note((f"{len(page.jobs)} of {counted}; go on with --after {page.after}", "dim"))
    elif page.jobs:
        screen.note((counted, "dim"))
    else:
        screen.note("There is no such job.")


@group.command("show")
@with_options
def show(key: Key) -> None:
    """Show a job: arguments, result, error, progress, what it belongs to, why it waits."""
    found = run(lambda app: app.job_in_full(key))
    if options().json:
        screen.json(found.to_dict())
        return
    show_job(found)


@group.command("log")
@with_options
def log(
    key: Key,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job is over.")] = False,
) -> None:
    """Print what a job's handler has written about its run."""

    async def work(app: Procession) -> None:
        import asyncio  # noqa: PLC0415 - `--help` needs no event loop

        after = 0
        while True:
            record = await app.job_record(key)
            while lines := await app.job_log(key, after=after):
                after = lines[-1].number
                show_log(lines)
            if not follow or record.state in OVER:
                return
            await asyncio.sleep(FOLLOW_S)

    run(work)


@group.command("requeue")
@with_options
def requeue(
    *,
    keys: Keys = None,
    state: Annotated[str, typer.Option("--state", help="failed, or scheduled: due now.")] = "failed",
    queue: Queue = "",
    type: Type = "",  # noqa: A002 - Camunda's word
    tag: Tag = "",
    text: Words = "",
    batch: Batch = 0,
    flow: Flow = 0,
    every: All = False,
    retries: Annotated[int, typer.Option("--retries", min=0, help="Attempts; 0: as many as at first.")] = 0,
    yes: Yes = False,
) -> None:
    """Let failed jobs start over, or scheduled ones be due now."""
    choice = _said(queue=queue, type=type, tag=tag, text=text, batch=batch, flow=flow)

    async def one(app: Procession, key: int) -> None:
        await app.requeue(key, retries=retries)

    _act("requeued", keys, choice, one, "requeue", every=every, yes=yes, retries=retries, within={"state": state})


@group.command("delete")
@with_options
def delete(
    *,
    keys: Keys = None,
    state: State = "",
    queue: Queue = "",
    type: Type = "",  # noqa: A002 - Camunda's word
    tag: Tag = "",
    text: Words = "",
    batch: Batch = 0,
    flow: Flow = 0,
    every: All = False,
    reason: Reason = "",
    yes: Yes = False,
) -> None:
    """Delete jobs; those that run are canceled."""
    choice = _said(state=state, queue=queue, type=type, tag=tag, text=text, batch=batch, flow=flow)

    async def one(app: Procession, key: int) -> None:
        await app.delete_job(key, reason=reason)

    _act("deleted", keys, choice, one, "delete", every=every, yes=yes, reason=reason)


@group.command("adjust")
@with_options
def adjust(
    *,
    keys: Keys = None,
    state: State = "",
    queue: Queue = "",
    type: Type = "",  # noqa: A002 - Camunda's word
    tag: Tag = "",
    text: Words = "",
    batch: Batch = 0,
    flow: Flow = 0,
    every: All = False,
    priority: Annotated[int | None, typer.Option("--priority", help="The higher first.", show_default=False)] = None,
    retries: Annotated[int | None, typer.Option("--retries", min=1, help="Attempts left.", show_default=False)] = None,
    delay: Delay = "",
    at: At = "",
    yes: Yes = False,
) -> None:
    """Change priority, attempts left, and when jobs are due, while they wait."""
    from procession.app.administration import Changes  # noqa: PLC0415 - heavy

    choice = _said(state=state, queue=queue, type=type, tag=tag, text=text, batch=batch, flow=flow)
    changes = Changes(priority=priority, retries=retries, delay=delay or None, at=moment(at) if at else None)

    async def one(app: Procession, key: int) -> None:
        await app.change_job(
            key, priority=changes.priority, retries=changes.retries, delay=changes.delay, at=changes.at
        )

    _act("adjusted", keys, choice, one, "change", every=every, yes=yes, changes=changes)


def _said(**values: Any) -> Any:  # noqa: ANN401 - filters of several types
    """The filters that were said."""
    return {name: value for name, value in values.items() if value}


def _act(
    done: str,
    keys: list[int] | None,
    choice: Any,  # noqa: ANN401 - JobFilters
    one: Callable[[Procession, int], Awaitable[None]],
    action: Action,
    *,
    every: bool,
    yes: bool,
    reason: str = "",
    retries: int = 0,
    changes: Changes | None = None,
    within: dict[str, str] | None = None,
) -> None:
    """Do it with jobs by their keys, or with all that a filter means, after a question."""
    if keys and (choice or every):
        message = "Name either jobs by their keys, or a filter"
        raise typer.BadParameter(message)
    if not (keys or choice or every):
        message = "Name jobs by their keys, or a filter (--state, --queue, --type, --tag, --text, …), or say --all"
        raise typer.BadParameter(message)
    filters: Any = {**(within or {}), **choice}

    async def work(app: Procession) -> None:
        if keys:
            await act_on_all(done, "job", keys, lambda key: one(app, key))
            return
        total, is_more = await app.count_matching_jobs(**filters)
        counted = f"{'more than ' if is_more else ''}{screen.counted(total, 'job')}"
        confirm(f"{action.capitalize()} {counted}?", total or SEARCH_MATCHES_MAX, yes=yes or not (total or is_more))
        reached = after = 0
        with screen.progress(action.capitalize(), total, quiet=options().json) as bar:
            while True:
                page = await app.bulk_page(
                    action, filters, after=after, reason=reason, retries=retries, changes=changes
                )
                reached, after = reached + page.done, page.after
                bar.to(reached)
                if not after:
                    break
        if options().json:
            screen.json({done: reached})
        else:
            screen.line(f"{screen.counted(reached, 'job')} {done}")

    run(work)
