"""``procession enqueue``: put a plain job into the queue. Nothing of it runs in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from procession.cli import screen
from procession.cli.job_options import At, Delay, limit_of, moment
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.values import Var, json_object, variables

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.queueing import EnqueuedJob

Type = Annotated[str, typer.Argument(metavar="TYPE", help="The job type, which names its handler.")]
Arguments = Annotated[
    str, typer.Option("--arguments", "-a", metavar="JSON|@FILE|-", help="Arguments as a JSON object.")
]
Queue = Annotated[str, typer.Option("--queue", help="Into this queue.")]
Priority = Annotated[int, typer.Option("--priority", help="The higher first.")]
Retries = Annotated[
    int | None, typer.Option("--retries", min=1, help="Attempts, the first included.", show_default=False)
]
Title = Annotated[str, typer.Option("--title", help="What people see it by.")]
Tag = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be said again.")]
Metadata = Annotated[list[str] | None, typer.Option("--metadata", metavar="NAME=TEXT", help="May be said again.")]
Timeout = Annotated[str, typer.Option("--timeout", metavar="SPAN", help="Of one attempt.")]
Deadline = Annotated[str, typer.Option("--deadline", metavar="SPAN", help="Failed, if it has not begun by then.")]
Backoff = Annotated[str, typer.Option("--backoff", help="exponential, a span, or spans joined by commas.")]
Keep = Annotated[str, typer.Option("--keep", metavar="SPAN", help="Keep it so long after its end.")]
Output = Annotated[bool, typer.Option("--output", help="Keep what its handler gives back.")]
Ageing = Annotated[str, typer.Option("--ageing", metavar="SPAN", help="Waiting so long is worth one priority.")]
FairKey = Annotated[str, typer.Option("--fair-key", help="Jobs of a queue take turns by it.")]
UniqueKey = Annotated[str, typer.Option("--unique", metavar="KEY", help="One job at a time has it.")]
UniqueFor = Annotated[str, typer.Option("--unique-for", metavar="SPAN", help="Hold the key so long.")]
Replace = Annotated[bool, typer.Option("--replace", help="A holder that has not begun becomes this job.")]
Debounce = Annotated[bool, typer.Option("--debounce", help="A holder that has not begun is pushed back.")]
Longest = Annotated[str, typer.Option("--longest", metavar="SPAN", help="Not further than so long (--debounce).")]
KeepFirst = Annotated[bool, typer.Option("--keep-first", help="It keeps its arguments (--debounce).")]
Limits = Annotated[
    list[str] | None,
    typer.Option("--limit", metavar="RULE", help="KEY=5 at once, KEY=100/1m starts, KEY=5,100/1m+10 both."),
]
After = Annotated[list[int] | None, typer.Option("--after", metavar="KEY", help="When this job has succeeded.")]
Finished = Annotated[list[int] | None, typer.Option("--after-finished", metavar="KEY", help="When it is over.")]
App = Annotated[
    str,
    typer.Option(
        "--app",
        metavar="MODULE:ATTRIBUTE",
        help="The application whose handlers say what jobs have.",
    ),
]
Batch = Annotated[int, typer.Option("--batch", metavar="KEY", help="A member of this batch.", show_default=False)]


@with_options
def enqueue(
    *,
    type: Type,  # noqa: A002 - Camunda's word
    args: Arguments = "",
    var: Var = None,
    queue: Queue = "",
    priority: Priority = 0,
    delay: Delay = "",
    at: At = "",
    retries: Retries = None,
    title: Title = "",
    tag: Tag = None,
    metadata: Metadata = None,
    timeout: Timeout = "",
    deadline: Deadline = "",
    backoff: Backoff = "",
    keep: Keep = "",
    output: Output = False,
    ageing: Ageing = "",
    fair_key: FairKey = "",
    unique: UniqueKey = "",
    unique_for: UniqueFor = "",
    replace: Replace = False,
    debounce: Debounce = False,
    longest: Longest = "",
    keep_first: KeepFirst = False,
    limit: Limits = None,
    after: After = None,
    after_finished: Finished = None,
    batch: Batch = 0,
    app: App = "",
) -> None:
    """Put a plain job into the queue.

    It is durable when its key is printed, and runs in the processes that work on the database. What its handler says
    of all its jobs (queue, retries, priority, …) counts where --app names the application that has it; otherwise the
    queue is 'default' and there are 3 attempts, unless an option says so. The database is the application's own then,
    unless --url or $PROCESSION_URL names another.
    """
    values = {**(json_object(args, "--arguments") if args else {}), **variables(var)}
    plain = _said(queue=queue, priority=priority, delay=delay, retries=retries, title=title, tags=tag, timeout=timeout)
    plain |= _said(deadline=deadline, keep=keep, output=output, ageing=ageing, fair_key=fair_key, batch=batch)
    words = plain | _said(
        at=moment(at) if at else None,
        metadata=dict(_pair(text) for text in metadata or ()),
        backoff=backoff.split(",") if "," in backoff else backoff,
        unique=_unique(unique, unique_for, longest, replace=replace, debounce=debounce, keep_first=keep_first),
        limits=[limit_of(text) for text in limit or ()],
        after=after,
        after_finished=after_finished,
    )

    async def work(app: Procession) -> tuple[EnqueuedJob, bool]:
        return await app.enqueue(type, values, **words), type in app.handlers.jobs

    enqueued, is_known = run(work, app=app)
    _show(enqueued)
    if not is_known:
        _say_unknown(type, app, [name for name in ("queue", "retries") if name not in words])


def _said(**values: Any) -> Any:  # noqa: ANN401 - options of many types
    """What was said."""
    return {name: value for name, value in values.items() if value}


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        message = f"Expected NAME=TEXT, found '{text}'"
        raise typer.BadParameter(message, param_hint="--metadata")
    return name, value


def _unique(key: str, for_: str, longest: str, *, replace: bool, debounce: bool, keep_first: bool) -> Any:  # noqa: ANN401 - Unique, which is heavy
    """A unique key with what becomes of a second job; None for none. Raises a usage error."""
    if not key:
        if for_ or longest or replace or debounce or keep_first:
            message = "Expected a key to say this of"
            raise typer.BadParameter(message, param_hint="--unique")
        return None
    from procession.app.job_options import Unique  # noqa: PLC0415 - heavy

    return Unique(
        key,
        for_=for_ or None,
        replace=replace,
        debounce=debounce,
        longest=longest or None,
        keep_first=keep_first,
    )


def _say_unknown(type: str, app: str, missing: list[str]) -> None:  # noqa: A002 - as above
    """Nobody has said here what jobs of this type have: what was taken instead is said, and how to have it."""
    values = {"queue": "queue 'default'", "retries": "3 attempts"}
    taken = " and ".join(values[name] for name in missing)
    if app:
        screen.note((f"'{app}' has no handler for '{type}'" + (f": {taken} were taken" if taken else ""), "yellow"))
    elif taken:
        note = f"No handler is known here: {taken} were taken; --app module:object takes what the handler says"
        screen.note((note, "dim"))


def _show(job: EnqueuedJob) -> None:
    if options().json:
        screen.json(job.to_dict())
        return
    outcomes = {
        "INSERTED": "enqueued",
        "DUPLICATE": "is there already: it has the unique key",
        "REFRESHED": "was there, and has become this one",
        "PUSHED_BACK": "was there, and was pushed back",
        "DOOMED": "was deleted at once: a job that it comes after was deleted",
    }
    screen.line((job.type, "bold"), f" {job.job_key} in {job.queue} {outcomes[job.outcome]}")
