"""What an application puts around its runs: functions that see the job, call on, and may change how it ends.

The first registered is the outermost. Without any, ``attach`` leaves the dispatcher's call as it is: there is no cost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

from procession.engine import Delivery
from procession.worker.context import Job
from procession.worker.line import Slot
from procession.worker.registry import Handler

Proceed: TypeAlias = Callable[[], Awaitable[object]]
RunMiddleware: TypeAlias = Callable[[Job, Proceed], Awaitable[object]]


class HandlerCall(Protocol):
    """How a handler is called in a slot."""

    async def __call__(
        self,
        slot: Slot,
        handler: Handler,
        delivery: Delivery,
        variables: Mapping[str, Any],
        type: str = "",  # noqa: A002 - Camunda's word
        element: str = "",
        connection: object = None,
        job: Job | None = None,
    ) -> object:
        """Decode the arguments, call it within its time, give back what it gave."""
        ...


JobOf: TypeAlias = Callable[[Delivery, Mapping[str, Any], str, str, object], Job]


def around_runs(call: HandlerCall, functions: Sequence[RunMiddleware], job_of: JobOf) -> HandlerCall:
    """The call with these functions around it."""

    async def called(
        slot: Slot,
        handler: Handler,
        delivery: Delivery,
        variables: Mapping[str, Any],
        type: str = "",  # noqa: A002 - Camunda's word
        element: str = "",
        connection: object = None,
        job: Job | None = None,
    ) -> object:
        job = job_of(delivery, variables, type, element, connection)
        slot.job = job
        slot.name = handler.name
        proceed: Proceed = partial(call, slot, handler, delivery, variables, type, element, connection, job)
        for function in reversed(functions):
            proceed = partial(function, job, proceed)
        return await proceed()

    return called
