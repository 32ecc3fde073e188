"""``procession start``: start an instance, and wait for its end if asked. Nothing of it runs in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli import screen
from procession.cli.endings import REJECTED
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.values import Var, Vars, variables
from procession.errors import NotFound

if TYPE_CHECKING:
    from asyncio import Future

    from procession.app import Procession
    from procession.app.views import Incident, InstanceDetails, ProcessInstance

LOOK_S = 0.5  # between two looks at a waiting instance


@with_options
def start(
    *,
    process_id: Annotated[str, typer.Argument(help="The process.")],
    var: Var = None,
    vars: Vars = "",  # noqa: A002 - the option's name
    business_id: Annotated[str, typer.Option("--business-id", help="How you call this instance.")] = "",
    version: Annotated[
        int, typer.Option("--version", help="An exact version instead of the latest.", show_default=False)
    ] = 0,
    version_tag: Annotated[str, typer.Option("--version-tag", help="The latest version with this tag.")] = "",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag of the instance.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its end; exit code 1 if it is terminated.")] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="Of --wait; 0: no end.", show_default=False)
    ] = 0,
) -> None:
    """Start an instance.

    It is durable when its key is printed, and runs in the processes that work on the database.
    """
    values = variables(var, vars)
    if not timeout >= 0:  # not a number neither
        message = f"Expected seconds from 0 on, found {timeout:g}"
        raise typer.BadParameter(message, param_hint="--timeout")

    async def work(app: Procession) -> tuple[int, InstanceDetails | None]:
        try:
            key = await app.start(
                process_id, values, business_id=business_id, version=version, version_tag=version_tag, tags=tag or ()
            )
        except NotFound as error:
            message = f"{error}: procession definitions lists what is deployed"
            raise NotFound(message) from None
        if not wait:
            return key, None
        if not options().json:
            screen.line(f"Started {process_id} ", (str(key), "bold"))
        await wait_for(app, key, timeout)
        return key, await app.instance(key)

    key, details = run(work)
    _show(process_id, key, details)
    if details is not None and details.instance.state != "COMPLETED":
        raise typer.Exit(REJECTED)


async def wait_for(app: Procession, key: int, timeout_s: float) -> None:
    """Wait for an instance's end and show what it waits for. Raises TimeoutError."""
    import asyncio  # noqa: PLC0415 - `--help` needs no event loop

    ended = asyncio.ensure_future(app.wait(key, timeout=timeout_s or None))
    try:
        await _look_until(ended, app, key)
        await ended
    except TimeoutError:
        message = f"Instance {key} has not ended within {timeout_s:g} s; it goes on: procession instance {key}"
        raise TimeoutError(message) from None
    finally:
        ended.cancel()


async def _look_until(ended: Future[ProcessInstance], app: Procession, key: int) -> None:
    """Tell what an instance waits for, and its incidents, each once, until it has ended."""
    import asyncio  # noqa: PLC0415 - `--help` needs no event loop

    told: set[int] = set()
    with screen.waiting("waits", quiet=options().json) as status:
        while not ended.done():
            details = await app.instance(key)
            status.say("; ".join(f"{it.element_name or it.element_id} {it.waits_for}" for it in details.elements))
            for incident in () if options().json else details.incidents:
                _tell(incident, told)
            await asyncio.wait([ended], timeout=LOOK_S)


def _tell(incident: Incident, told: set[int]) -> None:
    """An incident, once."""
    if incident.incident_key not in told:
        told.add(incident.incident_key)
        head = incident.error_message.partition("\n")[0]
        screen.note(("Incident ", "bold red"), f"{incident.incident_key}: {head}")


def _show(process_id: str, key: int, details: InstanceDetails | None) -> None:
    """The key, or how it ended."""
    if details is None:
        if options().json:
            screen.json({"processInstanceKey": key})
        else:
            screen.line(f"Started {process_id} ", (str(key), "bold"))
        return
    if options().json:
        screen.json(details.to_dict())
        return
    screen.line("Ended ", screen.state(details.instance.state))
    if details.variables:
        screen.pairs((name, screen.value(value)) for name, value in sorted(details.variables.items()))
