"""``procession suspend`` and ``resume``: let instances rest, and let them go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from procession.cli.bulk import act_on_all
from procession.cli.options import with_options
from procession.cli.session import run

if TYPE_CHECKING:
    from procession.app import Procession

Keys = Annotated[list[int], typer.Argument(metavar="INSTANCE...", help="Keys of instances.")]


@with_options
def suspend(keys: Keys) -> None:
    """Suspend instances.

    Their jobs and timers are hidden until they are resumed; what they called goes on.
    """

    async def work(app: Procession) -> None:
        await act_on_all("suspended", "instance", list(dict.fromkeys(keys)), app.suspend)

    run(work)


@with_options
def resume(keys: Keys) -> None:
    """Resume suspended instances.

    Timers that became due meanwhile fire now.
    """

    async def work(app: Procession) -> None:
        await act_on_all("resumed", "instance", list(dict.fromkeys(keys)), app.resume)

    run(work)
