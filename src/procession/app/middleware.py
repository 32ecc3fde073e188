"""What an application puts around the way of its jobs into the queue, and around their runs. It decides nothing itself.

    @app.around_enqueue
    async def name_the_request(jobs: list[JobsToCome], proceed):
        for each in jobs:
            each.options["metadata"] = {**each.options.get("metadata", {}), "request": request_id.get()}
        return await proceed()

    @app.around_run
    async def measure(job: Job, proceed):
        with timer.labels(job.type).time():
            return await proceed()

The first registered is the outermost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from procession.errors import Misconfigured
from procession.worker import Registry
from procession.worker.middleware import RunMiddleware

if TYPE_CHECKING:
    from procession.app.queueing import EnqueuedJob

Put: TypeAlias = "Callable[[], Awaitable[list[EnqueuedJob]]]"
EnqueueMiddleware: TypeAlias = "Callable[[list[JobsToCome], Put], Awaitable[list[EnqueuedJob]]]"
E = TypeVar("E", bound=EnqueueMiddleware)
R = TypeVar("R", bound=RunMiddleware)


class JobsToCome(msgspec.Struct):
    """Jobs of one type that are about to be put into the queue with the same options. All of it may be changed.

    ``enqueue`` and ``enqueue_many`` bring one of these, a flow one for each of its jobs.
    """

    type: str
    args: list[Any]  # of each job
    options: dict[str, Any]  # as the call says them; defaults of handlers and types come under them


class Middleware:
    """The half of ``Procession`` that registers functions around enqueuing and running."""

    handlers: Registry

    def around_enqueue(self, function: E) -> E:
        """Call this coroutine function around each call that enqueues: ``await proceed()`` does it.

        It is given the jobs to come, a list of ``JobsToCome``, which it may change, and has to return what
        ``proceed()`` gave: one answer for each job. What it raises the caller gets, and nothing is written unless it
        had proceeded. Recurring jobs do not pass here when they are due: nobody calls then.
        """
        self.handlers.enqueue_middleware.append(function)
        return function

    def around_run(self, function: R) -> R:
        """Call this coroutine function around each run of a handler, job or method: ``await proceed()`` calls it.

        It is given the ``Job``. What it returns or raises is how the run ends. Register it before the application is
        opened. It runs on the event loop; the handler's timeout counts from where the handler begins.
        """
        self.handlers.run_middleware.append(function)
        return function


async def through(functions: Sequence[EnqueueMiddleware], jobs: list[JobsToCome], put: Put) -> list[EnqueuedJob]:
    """Put jobs into the queue, with these functions around it. Raises what they raise, Misconfigured."""
    proceed = put
    for function in reversed(functions):
        proceed = partial(function, jobs, proceed)
    answers = await proceed()
    count = sum(len(each.args) for each in jobs)
    found = len(answers) if isinstance(answers, list) else type(answers).__name__  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
    if found != count:
        message = f"Expected the middleware to return what proceed() gave, {count} answers, found {found}"
        raise Misconfigured(message)
    return answers
