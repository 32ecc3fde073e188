"""``procession publish``, ``broadcast``, ``conditions``, ``messages``, ``subscriptions``: what comes, and who waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import KEY, Column
from procession.cli.values import Var, Vars, variables
from procession.limits import PAGE_MAX

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.app.views import Message, Published, Subscription


@with_options
def publish(
    name: Annotated[str, typer.Argument(help="The message's name.")],
    key: Annotated[str, typer.Option("--key", "-k", metavar="CORRELATION-KEY", help="Whom it is for.")] = "",
    var: Var = None,
    vars: Vars = "",  # noqa: A002 - the option's name
    ttl: Annotated[
        str, typer.Option("--ttl", metavar="DURATION", help="How long it is kept if nobody waits yet: 30s, 1h, PT2H.")
    ] = "0s",
    message_id: Annotated[str, typer.Option("--message-id", help="The same id counts once.")] = "",
) -> None:
    """Publish a message to whoever waits for its name and key.

    If nobody does, it is kept for --ttl; without one it is gone, and the exit code is 1.
    """
    values = variables(var, vars)

    async def work(app: Procession) -> Published:
        return await app.publish(name, correlation_key=key, variables=values, ttl=ttl, message_id=message_id)

    result = run(work)
    if options().json:
        screen.json(result.to_dict())
    elif result.duplicate:
        screen.line("Not published again: a message with this id is known already")
    elif result.process_instance_keys:
        screen.line("Published to ", (", ".join(map(str, result.process_instance_keys)), "bold"))
    elif result.buffered:
        screen.line(f"Nobody waits for it yet: kept for {ttl} as message ", (str(result.message_key), "bold"))
    else:
        screen.line(("Nobody waits for it; it is gone (--ttl keeps it)", "yellow"))
    if not (result.process_instance_keys or result.buffered or result.duplicate):
        raise typer.Exit(1)


@with_options
def broadcast(
    name: Annotated[str, typer.Argument(help="The signal's name.")],
    var: Var = None,
    vars: Vars = "",  # noqa: A002 - the option's name
) -> None:
    """Broadcast a signal."""
    values = variables(var, vars)

    async def work(app: Procession) -> list[int]:
        return await app.broadcast(name, values)

    _tell(run(work), "reached or started")


@with_options
def conditions(
    process_id: Annotated[str, typer.Argument(help="The process.")],
    var: Var = None,
    vars: Vars = "",  # noqa: A002 - the option's name
    business_id: Annotated[str, typer.Option("--business-id", help="How you call what starts.")] = "",
) -> None:
    """Start an instance at each conditional start event that these variables fulfil."""
    values = variables(var, vars)

    async def work(app: Procession) -> list[int]:
        return await app.start_by_conditions(process_id, values, business_id=business_id)

    _tell(run(work), "started")


def _tell(keys: list[int], what: str) -> None:
    """How many instances, and the first of them."""
    if options().json:
        screen.json({"processInstanceKeys": keys})
        return
    screen.line(f"{screen.counted(len(keys), 'instance')} {what}")
    for key in keys[:20]:
        screen.line(f"  {key}")
    if len(keys) > 20:
        screen.line((f"  and {len(keys) - 20} more", "dim"))


@with_options
def messages(
    name: Annotated[str, typer.Argument(help="Only of this name.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=PAGE_MAX, help="How many.")] = 50,
) -> None:
    """List buffered messages.

    These were published, and nobody has taken them yet; the oldest first.
    """

    async def work(app: Procession) -> list[Message]:
        return await app.messages(name, limit=limit)

    rows = run(work)
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("No message is buffered.")
        return
    columns = (
        KEY,
        Column("name"),
        Column("correlation key"),
        Column("id", rank=1),
        Column("published", whole=True, rank=2),
        Column("expires", whole=True),
    )
    screen.table(
        columns,
        [
            (
                screen.key(row.message_key),
                row.name,
                row.correlation_key,
                row.message_id,
                screen.when(row.published_at),
                screen.when(row.expires_at),
            )
            for row in rows
        ],
    )


@with_options
def subscriptions(
    instance: Annotated[
        int, typer.Option("--instance", "-i", metavar="KEY", help="Only of this instance.", show_default=False)
    ] = 0,
    name: Annotated[str, typer.Option("--name", help="Only for this message or signal.")] = "",
) -> None:
    """List who waits for a message or a signal.

    Start events have no instance.
    """

    async def work(app: Procession) -> list[Subscription]:
        return await app.subscriptions(process_instance_key=instance, name=name)

    rows = run(work)
    if options().json:
        screen.views(rows)
        return
    if not rows:
        screen.note("Nobody waits for a message or a signal.")
        return
    columns = (
        Column("waits for", whole=True),
        Column("name"),
        Column("correlation key"),
        Column("process", rank=1),
        Column("element"),
        Column("instance", whole=True),
    )
    screen.table(
        columns,
        [
            (
                row.trigger.lower(),
                row.name,
                row.correlation_key,
                row.process_definition_id,
                row.element_id,
                screen.key(row.process_instance_key),
            )
            for row in rows
        ],
    )
