"""A command's time with the database: find the URL, open without workers, do one thing, close.

A command claims and runs nothing: what it leaves to be done is announced to the processes that work.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from procession.cli.options import DEFAULT_URL, URL_VARIABLE, options
from procession.errors import Misconfigured, NotFound, ProcessionError, Unavailable

if TYPE_CHECKING:
    from procession.app import Procession

T = TypeVar("T")

AT_ONCE = 32  # of many commands to the database


def said_url() -> str:
    """The URL that was said, on the command line or in the environment; empty if none was."""
    return options().url or os.environ.get(URL_VARIABLE, "")


def application(name: str = "") -> Procession:
    """The application named ``module:attribute``, or one without handlers; on the URL that was said, if one was.

    Raises Misconfigured.
    """
    from procession.app import Procession  # noqa: PLC0415 - heavy: a driver, an event loop
    from procession.cli.loading import load  # noqa: PLC0415 - as above

    url = said_url()
    if not name:
        return Procession(url or DEFAULT_URL)
    app = load(name)
    return app.use(url) if url else app


def run(work: Callable[[Procession], Awaitable[T]], *, app: str = "", creates: bool = False) -> T:
    """Open the database, do the work, close. ``creates``: a SQLite file that is not there yet is made.

    Raises what the work raises; NotFound when there is no database of ours.
    """
    import asyncio  # noqa: PLC0415 - `--help` needs no event loop

    return asyncio.run(_run(application(app), work, creates=creates))


async def _run(app: Procession, work: Callable[[Procession], Awaitable[T]], *, creates: bool) -> T:
    if app.url.startswith("memory:"):
        message = (
            f"Expected a database that processes share, found {app.url}: it is gone with the process that opens it; "
            "only `work` and `dev` can use it"
        )
        raise Misconfigured(message)
    if not creates and app.url.startswith("sqlite:"):
        await _expect_database(app)
    await app.open(run_workers=False)
    try:
        return await work(app)
    finally:
        await app.close()


async def _expect_database(app: Procession) -> None:
    """Looking makes no database. Raises NotFound."""
    version, _ = await app.schema_version()
    if version == 0:
        message = (
            f"Expected a database of Procession at {app.url}, found none: `procession deploy`, `work`, `dev` and "
            f"`db migrate` make it; --url (or ${URL_VARIABLE}) names another"
        )
        raise NotFound(message)


async def each(
    keys: Sequence[int], act: Callable[[int], Awaitable[None]], done: Callable[[], None]
) -> dict[int, ProcessionError]:
    """Do something with many things, several at once; what was refused, by key. Raises Unavailable."""
    import asyncio  # noqa: PLC0415 - `--help` needs no event loop

    refused: dict[int, ProcessionError] = {}
    free = asyncio.Semaphore(AT_ONCE)

    async def one(key: int) -> None:
        async with free:
            try:
                await act(key)
            except Unavailable:
                raise
            except ProcessionError as error:
                refused[key] = error
            done()

    try:
        async with asyncio.TaskGroup() as group:
            for key in keys:
                group.create_task(one(key))
    except* Unavailable as errors:
        raise errors.exceptions[0] from None
    return refused
