"""``procession retry``: follow-ups and timers that failed for good are tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.bulk import Yes, act_on_all, confirm
from procession.cli.options import with_options
from procession.cli.session import run
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from procession.app import Procession

KINDS = ("FOLLOW_UP", "TIMER")


@with_options
def retry(
    keys: Annotated[list[int] | None, typer.Argument(metavar="[JOB]...", help="Keys of failed jobs.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that failed, instead of some by key.")] = False,
    yes: Yes = False,
) -> None:
    """Retry failed follow-ups and timers.

    jobs --state failed lists them. A job of an element is tried again by resolving its incident.
    """
    if bool(keys) == everything:
        message = "Name failed jobs by key, or say --all"
        raise typer.BadParameter(message)

    async def work(app: Procession) -> None:
        chosen = list(dict.fromkeys(keys or ()))
        if everything:
            chosen = await _failed(app)
            confirm(f"Retry {screen.counted(len(chosen), 'job')}?", len(chosen), yes=yes)
        await act_on_all("retried", "job", chosen, app.retry_job)

    run(work)


async def _failed(app: Procession) -> list[int]:
    """The keys of all failed follow-ups and timers."""
    found: list[int] = []
    for kind in KINDS:
        after = 0
        while page := await app.jobs(state="FAILED", kind=kind, after=after, limit=PAGE_MAX):
            found += [row.job_key for row in page]
            after = page[-1].job_key
    return found
