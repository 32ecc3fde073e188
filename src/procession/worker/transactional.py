"""Handlers that write in the transaction of their own job's end: both are committed, or neither.

It begins before the handler is called and ends with the step that the result leads to. Whatever else the handler gives
(an outcome, a BPMN error, an exception) takes back what it wrote, and then counts as it always does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from procession.core.commands import CompleteJob
from procession.engine import AskedWithin, Delivery, Engine, StepRun, TransactionalRun
from procession.errors import InvalidValue, Misconfigured, NotFound, Rejected, Unavailable
from procession.jobs.codec import Codec
from procession.jobs.kinds import JobKind
from procession.store.port import StepTransaction
from procession.store.rows import JobEnd, JobOutcome
from procession.worker.outcomes import Fail, Outcome, Snooze
from procession.worker.own import output_of
from procession.worker.registry import Handler, Mode
from procession.worker.results import to_variables

_ON_THE_LOOP = {"postgres": "asyncpg", "mysql": "asyncmy"}  # stores whose transactions no thread can use
UNAVAILABLE_S = 1.0  # before a database that has no transaction to give is asked again

Call = Callable[[Any], Awaitable[object]]  # the handler, given the connection


class NotTaken(Exception):
    """The end of the job was refused, and with it what the handler wrote. ``error`` says why."""

    def __init__(self, error: Rejected) -> None:
        super().__init__(str(error))
        self.error = error


async def run_within(
    engine: Engine, handler: Handler, delivery: Delivery, call: Call, codec: Codec | None = None
) -> None:
    """Run a handler and commit the end of its job with what it wrote. Raises what it raised, its outcome, NotTaken."""
    transaction = await begun(engine, handler)
    try:
        value = await call(transaction.connection)
        if isinstance(value, Outcome):
            raise value
        if delivery.kind == JobKind.TASK:
            await _finish(engine, delivery, transaction, _output(handler, delivery, value, codec))
            return
        variables = _variables(handler, delivery, value)
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        command = CompleteJob(delivery.key, variables)
        engine.submit(delivery.instance, AskedWithin(command, future, {delivery.key: delivery.lease}, transaction))
        try:
            await future
        except Rejected as error:
            raise NotTaken(error) from error
    finally:
        await transaction.roll_back()


def _output(handler: Handler, delivery: Delivery, value: object, codec: Codec | None) -> bytes:
    """The result of a plain job as it is kept. Raises Fail: trying again would give the same."""
    try:
        return output_of(delivery, value, f"result of '{handler.name}'", codec)
    except InvalidValue as error:
        raise Fail(str(error)) from error


def _variables(handler: Handler, delivery: Delivery, value: object) -> dict[str, Any]:
    """The result as variables. Raises Fail: trying again would give the same."""
    spec = delivery.spec
    named = spec.result_variable if spec is not None and delivery.kind != JobKind.LISTENER else ""
    try:
        return {} if value is None else to_variables(value, f"result of '{handler.name}'", named)
    except Rejected as error:
        raise Fail(str(error)) from error


async def join(engine: Engine, run: StepRun, handler: Handler) -> Any:  # noqa: ANN401 - the driver's
    """The connection of a step's transaction, begun with the first of its methods that writes there."""
    assert isinstance(run, TransactionalRun), "a registry with transactional methods asks for such runs"
    if run.transaction is None:
        run.transaction = await begun(engine, handler)
    return run.transaction.connection


async def begun(engine: Engine, handler: Handler) -> StepTransaction:
    """A transaction that this handler can use. Raises Fail where it never could, Snooze."""
    try:
        transaction = await engine.begin()
    except Misconfigured as error:
        raise Fail(str(error)) from error
    except Unavailable as error:  # not the handler's failure: it has not been called
        raise Snooze(UNAVAILABLE_S) from error
    if handler.mode != Mode.LOOP and engine.store.name in _ON_THE_LOOP:
        await transaction.roll_back()
        message = (
            f"Expected '{handler.name}' to be a coroutine function: the transaction of a transactional handler is "
            f"{_ON_THE_LOOP[engine.store.name]}'s here, and lives on the event loop"
        )
        raise Fail(message)
    return transaction


async def _finish(engine: Engine, delivery: Delivery, transaction: StepTransaction, output: bytes) -> None:
    """End the run of a plain job. Raises NotTaken where its lease has gone to another run, which counts then."""
    keep_ms = engine.outcomes.kept_ms.get(delivery.queue, 0)
    outcome = JobOutcome(key=delivery.key, lease=delivery.lease, end=JobEnd.DONE, output=output, keep_ms=keep_ms)
    applied, woken = await transaction.finish(outcome)
    if not applied:
        message = f"Job {delivery.key} is not held by lease {delivery.lease} any more: what it wrote is taken back"
        raise NotTaken(NotFound(message))
    engine.tally.ended(delivery, JobEnd.DONE)
    engine.counters.jobs_done += 1
    for queue in woken:
        engine.announce(queue)
