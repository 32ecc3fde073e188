"""``procession workers``: the processes that work, what each runs now, its slots, what is stuck. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from procession.cli import screen
from procession.cli.job_views import bar
from procession.cli.options import options, with_options
from procession.cli.session import run

if TYPE_CHECKING:
    from procession.app.queue_watch import Worker

SHOWN = 10  # jobs of one process; --json has more


@with_options
def workers() -> None:
    """Show the processes that work on the database, and what each runs now."""
    rows = run(lambda app: app.workers())
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No process works on this database: procession work MODULE:ATTRIBUTE")
    for number, row in enumerate(rows):
        if number:
            screen.line()
        _show(row)


def _show(row: Worker) -> None:
    screen.line(
        (row.name, "bold"),
        f"  {row.node}  ",
        (f"since {screen.when(row.started_at)}, beat {screen.when(row.beat_at)}, ", "dim"),
        f"{screen.counted(row.running, 'job')}",
    )
    for queue in row.queues:
        if queue.queue.startswith("$") and not queue.running + queue.buffered:
            continue  # each handler has one for jobs of processes: most have nothing to do
        waiting = f", {queue.buffered} waiting" if queue.buffered else ""
        types = f"  {', '.join(queue.types)}" if queue.types else ""
        share = bar(queue.running / queue.slots if queue.slots else 0.0)
        screen.line("  ", share, f"  {queue.queue}  {queue.running} of {queue.slots}{waiting}", (types, "dim"))
    for stuck in row.stuck:
        screen.line("  ", ("✗ stuck ", "red"), f"{stuck.type} (job {stuck.job_key}) ignores its cancellation")
    for job in row.jobs[:SHOWN]:
        progress = f"  {bar(job.progress)} {job.progress_text}" if job.progress or job.progress_text else ""
        name = job.title or job.type or job.queue
        again = f"  attempt {job.attempt}" if job.attempt > 1 else ""
        screen.line("  ", ("▸ ", "cyan"), name, (f"  {job.job_key}", "dim"), progress, (again, "dim"))
    if row.running > SHOWN:
        screen.line((f"  … and {row.running - SHOWN:,} more", "dim"))
