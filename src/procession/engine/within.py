"""The end of a job, and a run of methods, in the transaction that their handler has written in. It calls no handler."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from procession.core.commands import AnyCommand
from procession.engine.cells import Asked
from procession.engine.delivery import Delivery
from procession.engine.instances import Instances
from procession.engine.steps import StepRun
from procession.store.port import StepTransaction


class AskedWithin(Asked):
    """A command whose step is committed with a handler's transaction, alone."""

    __slots__ = ("transaction",)

    alone = True

    def __init__(
        self,
        command: AnyCommand,
        future: asyncio.Future[int],
        fences: dict[int, int],
        transaction: StepTransaction,
    ) -> None:
        Asked.__init__(self, command, future, fences)
        self.transaction = transaction


class TransactionalRun(StepRun):
    """A run of methods of which one at least writes in the step's transaction, begun when the first of them does."""

    __slots__ = ("_ending", "transaction")

    alone = True

    def __init__(
        self, instances: Instances, job: Delivery, *, now: Callable[[], int], runs_method: Callable[[str], bool]
    ) -> None:
        StepRun.__init__(self, instances, job, now=now, runs_method=runs_method)
        self.transaction: StepTransaction | None = None
        self._ending: asyncio.Task[None] | None = None

    def abandon(self) -> None:
        """Forget what was decided, and undo what was written."""
        StepRun.abandon(self)
        transaction, self.transaction = self.transaction, None
        if transaction is not None:
            self._ending = asyncio.get_running_loop().create_task(transaction.roll_back(), name="procession roll back")
