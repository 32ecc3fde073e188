"""What follows from how a run ended: the job's row alone, or a command to its instance. It runs no handler.

plain job    done, again later, or kept as failed: the row alone
process job  completed or a BPMN error: a command; again later: the row alone; no attempts left: a command (incident)
method       as a process job, for the whole step
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from procession.core.commands import Activate, AnyCommand, CompleteJob, FailJob, ThrowError
from procession.engine import Delivery, Engine, StepRun, Told, said
from procession.errors import Conflict, InvalidValue, NotFound, Rejected, Unavailable, Unreadable
from procession.jobs.codec import Codec, is_encoded
from procession.jobs.kinds import JobKind
from procession.jobs.retry import Delays
from procession.limits import JOB_ATTEMPT_CHARS_MAX
from procession.store.rows import JobEnd, JobOutcome
from procession.store.rows.queue import FailedAttempt, RunReport
from procession.worker.arguments import BadArguments
from procession.worker.context import Job
from procession.worker.failures import cut, failure_text, type_name, written
from procession.worker.outcomes import ActivateElements, BpmnError, Cancel, Correct, Deny, Fail, Outcome, Retry, Snooze
from procession.worker.own import output_of, own_backoff
from procession.worker.registry import Handler
from procession.worker.reports import Reports
from procession.worker.results import to_variables

logger = logging.getLogger("procession.worker")

LANDING_MAX = 2_000  # completions under way at once; beyond it slots wait
SUSPENDED_MS = 5_000  # a job whose instance takes no steps is offered again after this


class Endings:
    """Applies outcomes. ``landing``: completions under way."""

    def __init__(
        self, engine: Engine, reports: Reports, chance: Callable[[], float], codec: Codec | None = None
    ) -> None:
        self._engine = engine
        self._reports = reports
        self._codec = codec
        self._chance = chance
        self.landing = 0
        self._braked: list[asyncio.Future[None]] = []

    async def brake(self) -> None:
        """Wait while too many completions are under way."""
        while self.landing >= LANDING_MAX:
            brake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._braked.append(brake)
            await brake

    # -- success ----------------------------------------------------------------------------------------------------
    def succeeded(self, job: Delivery, handler: Handler, value: object, *, run: Job | None = None) -> None:
        """The handler of a plain or process job returned; ``run``: what it saw of its run, and spoke through."""
        if run is not None and run.unwritten:
            self._once_said(run, partial(self.succeeded, job, handler, value))
            return
        if isinstance(value, Outcome) and not _is_answer(job, value):
            self.failed(job, handler, value)
        elif job.kind == JobKind.TASK:
            self._done(job, handler, value)
        else:
            spec = job.spec
            named = spec.result_variable if spec is not None and job.kind != JobKind.LISTENER else ""
            try:
                if isinstance(value, Deny | Correct | ActivateElements):
                    self._submit(job, _answered(job, handler, value), handler)
                    return
                variables = {} if value is None else to_variables(value, f"result of '{handler.name}'", named)
            except Rejected as error:
                self.failed(job, handler, Fail(str(error)))
                return
            self._submit(job, CompleteJob(job.key, variables), handler)

    def _done(self, job: Delivery, handler: Handler, value: object) -> None:
        """A plain job is over; what its handler gave back is kept where the job's options, or others, ask for it."""
        if value is None:
            self._row(job, JobEnd.DONE)
            return
        try:
            output = output_of(job, value, f"result of '{handler.name}'", self._codec)
        except InvalidValue as error:
            self._final(job, str(error), type_name(error))
            return
        self._engine.outcomes.put(JobOutcome(key=job.key, lease=job.lease, end=JobEnd.DONE, output=output), of=job)

    def commit(self, job: Delivery, handler: Handler, run: StepRun) -> None:
        """All methods of a step have returned."""
        self.landing += 1
        run.commit(partial(self.landed, job, handler))

    def void(self, job: Delivery, handler: Handler, error: Rejected) -> None:
        """The instance does not take the step of a run of methods."""
        self.landing += 1
        self.landed(job, handler, error)

    # -- failure ----------------------------------------------------------------------------------------------------
    def failed(
        self,
        job: Delivery,
        handler: Handler | None,
        error: BaseException,
        *,
        what: str = "",
        run: Job | None = None,
        is_stopped: bool = False,
    ) -> None:
        """The handler raised, or returned an outcome; ``what`` names the method of a step that failed.

        ``is_stopped``: it had been told to end, and gave up so. An outcome counts all the same.
        """
        if is_stopped and not isinstance(error, Outcome):
            self.released(job, run=run)
            return
        if run is not None and run.unwritten:
            self._once_said(run, partial(self.failed, job, handler, error, what=what))
            return
        kind = type_name(error)
        match error:
            case Deny() | Correct() | ActivateElements() if handler is not None and _is_answer(job, error):
                self.succeeded(job, handler, error)
            case Snooze():
                self._row(job, JobEnd.SNOOZE, delay_ms=error.after_ms)
            case BpmnError() if job.kind != JobKind.TASK:
                self._bpmn_error(job, handler, error)
            case Cancel() if job.kind == JobKind.TASK:
                logger.info(
                    "job %d (%s) was canceled by its handler: %s", job.key, job.type, error.reason, extra=said(job)
                )
                self._row(job, JobEnd.CANCELED, error=error.reason)
            case Fail() | Cancel() | BpmnError() | Deny() | Correct() | ActivateElements():
                self._final(job, what + str(error), kind)
            case BadArguments():
                self._final(job, what + (error.discreet if is_encoded(job.args) else str(error)), kind)
            case Unreadable():  # another attempt would have the same keys
                self._final(job, what + str(error), kind)
            case Retry():
                self._again(job, handler, what + str(error), error.after_ms, kind)
            case _:
                self._again(job, handler, what + failure_text(error), None, kind)

    def released(self, job: Delivery, *, run: Job | None = None) -> None:
        """The run was cut short by the stop of the process: no attempt is used."""
        if run is not None and run.unwritten:
            self._once_said(run, partial(self.released, job))
            return
        self._row(job, JobEnd.RELEASE)

    def handed_on(self, job: Delivery, pause_ms: int = 0) -> None:
        """Nobody here handles it: it goes back as it was, and others hear of it. No attempt is used."""
        if pause_ms:
            self._row(job, JobEnd.SNOOZE, delay_ms=pause_ms)
            return

        def tell(applied: bool) -> None:  # noqa: FBT001 - the signature of those who want to know
            if applied:
                self._engine.announce(job.queue)

        self._engine.outcomes.put(JobOutcome(key=job.key, lease=job.lease, end=JobEnd.RELEASE), tell, of=job)

    def _bpmn_error(self, job: Delivery, handler: Handler | None, error: BpmnError) -> None:
        """A modelled error goes to the instance."""
        try:
            variables = to_variables(error.variables, f"variables of BPMN error '{error.code}'")
        except Rejected as refused:
            self._final(job, str(refused), type_name(refused))
            return
        self._submit(job, ThrowError(job.key, error.code, error.message, variables), handler)

    def _again(self, job: Delivery, handler: Handler | None, text: str, after_ms: int | None, kind: str) -> None:
        """Another attempt if there is one left."""
        own = handler.retries if handler is not None and job.kind != JobKind.TASK else None
        left = (own if own is not None and job.attempt == 1 else job.retries) - 1
        if left < 1:
            self._final(job, text, kind)
            return
        delay = self._delay_ms(job, handler) if after_ms is None else after_ms
        logger.info("job %d (%s) failed, attempts left: %d: %s", job.key, job.type, left, text, extra=said(job))
        self._keep_attempt(
            job, text, kind, partial(self._row, job, JobEnd.RETRY, delay_ms=delay, error=text, retries=left)
        )

    def _delay_ms(self, job: Delivery, handler: Handler | None) -> int:
        """The pause before the next attempt: the model's or job's own, else the handler's; a second if that fails."""
        spec = job.spec
        if spec is not None and spec.job is not None and spec.job.retry_delays_ms:
            return Delays(spec.job.retry_delays_ms).delay_ms(job.attempt, 0.0)
        try:
            own = own_backoff(job) if job.options else None
            if own is not None:
                return own.delay_ms(job.attempt, self._chance())
            return handler.backoff.delay_ms(job.attempt, self._chance()) if handler is not None else 1_000
        except Exception:
            logger.exception("the backoff of %r failed; a second is taken", handler)
            return 1_000

    def _final(self, job: Delivery, text: str, kind: str) -> None:
        """No more attempts: an incident, or a failed job."""
        text = written(text)
        logger.info("job %d (%s) failed for good: %s", job.key, job.type, text, extra=said(job))
        if job.kind == JobKind.TASK:
            self._keep_attempt(job, text, kind, partial(self._row, job, JobEnd.FAILED, error=text))
        else:
            self._keep_attempt(job, text, kind, partial(self._raise_incident, job, text))

    def _raise_incident(self, job: Delivery, text: str) -> None:
        """The instance gets to know of a job that has failed for good."""
        self.landing += 1
        ask = Told(FailJob(job.key, text), lambda error: self._incident(job, text, error), fences={job.key: job.lease})
        self._engine.submit(job.instance, ask)

    def _incident(self, job: Delivery, text: str, error: Exception | None) -> None:
        """The incident is raised, or cannot be."""
        self._one_landed()
        if error is None:
            return
        if isinstance(error, NotFound):
            self._row(job, JobEnd.DONE)
        elif isinstance(error, Rejected):
            self._row(job, JobEnd.FAILED, error=text)
        elif not isinstance(error, Unavailable):
            logger.error("no incident could be raised for job %d (%s): %s", job.key, job.type, error, extra=said(job))
            self._row(job, JobEnd.RETRY, delay_ms=60_000, error=text, retries=1)

    # -- what a run leaves before its end ---------------------------------------------------------------------------
    def _keep_attempt(self, job: Delivery, text: str, kind: str, then: Callable[[], None]) -> None:
        """How an attempt failed is kept under its lease, after what its run has said; its end follows in any case."""
        failed = FailedAttempt(
            attempt=job.attempt, worker=self._engine.name, type=kind, message=cut(written(text), JOB_ATTEMPT_CHARS_MAX)
        )
        self.landing += 1

        saying = self._reports.put(RunReport(key=job.key, lease=job.lease, failed=failed))
        saying.add_done_callback(lambda _: (then(), self._one_landed()))

    def _once_said(self, run: Job, then: Callable[[], None]) -> None:
        """End a run when all is written that it has said without waiting for it."""
        self.landing += 1

        saying = asyncio.gather(*run.unwritten, return_exceptions=True)
        saying.add_done_callback(lambda _: (then(), self._one_landed()))

    # -- the two ways -----------------------------------------------------------------------------------------------
    def _submit(self, job: Delivery, command: AnyCommand, handler: Handler | None) -> None:
        """A command to the job's instance, closing the job under its lease."""
        self.landing += 1
        ask = Told(command, partial(self.landed, job, handler), {job.key: job.lease})
        self._engine.submit(job.instance, ask)

    def landed(self, job: Delivery, handler: Handler | None, error: Exception | None) -> None:
        """The command is durable, or refused."""
        self.landing -= 1
        if self._braked:
            self._let_go()
        if error is None:
            return
        match error:
            case NotFound():
                logger.debug("job %d (%s) had been closed by others: %s", job.key, job.type, error, extra=said(job))
                self._row(job, JobEnd.DONE)
            case Conflict():
                logger.debug("job %d (%s) cannot be completed now: %s", job.key, job.type, error, extra=said(job))
                self._row(job, JobEnd.SNOOZE, delay_ms=SUSPENDED_MS)
            case Rejected():
                self._final(job, str(error), type_name(error))
            case Unavailable():
                logger.debug("job %d (%s) is given up with the engine: %s", job.key, job.type, error, extra=said(job))
            case _:
                self._again(job, handler, failure_text(error), None, type_name(error))

    def _row(self, job: Delivery, end: JobEnd, *, delay_ms: int = 0, error: str = "", retries: int = -1) -> None:
        """The job's row alone."""
        outcome = JobOutcome(key=job.key, lease=job.lease, end=end, delay_ms=delay_ms, error=error, retries=retries)
        self._engine.outcomes.put(outcome, of=job if job.kind == JobKind.TASK else None)

    def _one_landed(self) -> None:
        """A completion is over."""
        self.landing -= 1
        if self._braked:
            self._let_go()

    def _let_go(self) -> None:
        """Let one slot that waits go on, where fewer are under way."""
        if self.landing < LANDING_MAX:
            brake = self._braked.pop()
            if not brake.done():
                brake.set_result(None)


def _is_answer(job: Delivery, value: Outcome) -> bool:
    """Whether an outcome is what this job is asked for: a task listener's word, or an ad-hoc sub-process' worker's."""
    if isinstance(value, ActivateElements):
        return job.kind == JobKind.SERVICE and job.spec is not None and job.spec.ad_hoc is not None
    return job.kind == JobKind.LISTENER and isinstance(value, Deny | Correct)


def _answered(job: Delivery, handler: Handler, value: Deny | Correct | ActivateElements) -> CompleteJob:
    """What a worker says beyond variables. Raises InvalidValue."""
    what = f"'{handler.name}'"
    match value:
        case Deny():
            return CompleteJob(job.key, denied=True)
        case Correct():
            changes = to_variables(value.changes, f"corrections of {what}")
            return CompleteJob(job.key, to_variables(value.variables, f"variables of {what}"), corrections=changes)
        case ActivateElements():
            activate = [
                Activate(element, variables=to_variables(given, f"variables that {what} gives to '{element}'"))
                for element, given in value.elements
            ]
            return CompleteJob(
                job.key,
                to_variables(value.variables, f"variables of {what}"),
                activate=activate,
                is_completion_condition_fulfilled=value.is_completion_condition_fulfilled,
                is_cancel_remaining_instances=value.is_cancel_remaining_instances,
            )
