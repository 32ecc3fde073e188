"""What a handler is told about the job that it runs, and what it can say meanwhile: a ``job: Job`` parameter gets this.

It changes nothing itself: what a handler says goes through ``Reports``, under the lease of its run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from procession.engine import Delivery
from procession.engine.values import decode_json, plain_json
from procession.errors import InvalidValue, Misconfigured
from procession.jobs.codec import Codec, seal, unseal
from procession.jobs.options import JobOptions
from procession.limits import CHECKPOINT_BYTES_MAX, JOB_LOG_LINE_CHARS_MAX
from procession.store.rows.queue import LogLine, RunReport

if TYPE_CHECKING:
    from procession.worker.reports import Reports

INFO = 20
_decode_options = msgspec.json.Decoder(JobOptions).decode
LOCAL = frozenset({"_canceled", "_unwritten", "reports"})  # what does not go along into a process of its own


class Job:
    """The job at hand. Names are Camunda 8's where it has them."""

    __slots__ = (
        "_canceled",
        "_checkpoint",
        "_options",
        "_unwritten",
        "_variables",
        "attempt",
        "business_id",
        "connection",
        "element_id",
        "element_instance_key",
        "headers",
        "key",
        "lease",
        "process_definition_key",
        "process_id",
        "process_instance_key",
        "queue",
        "reports",
        "retries",
        "tenant_id",
        "type",
    )

    def __init__(self, delivery: Delivery, variables: Mapping[str, Any], *, type: str = "", element: str = "") -> None:  # noqa: A002 - Camunda's word
        self.key = delivery.key
        self.lease = delivery.lease
        self.type = type or delivery.type
        self.queue = delivery.queue
        self.attempt = delivery.attempt  # 1 in the first run
        self.retries = delivery.retries  # attempts left, this one included
        self.element_id = element or delivery.element
        self.element_instance_key = delivery.element_instance
        self.process_instance_key = delivery.instance
        self.process_definition_key = delivery.definition
        self.process_id = delivery.process_id
        self.business_id = delivery.business_id
        self.tenant_id = delivery.tenant
        spec = delivery.spec
        self.headers: dict[str, str] = dict(spec.job.headers) if spec is not None and spec.job is not None else {}
        self.connection: Any = None  # of a transactional handler: the driver's, within the transaction of the step
        self.reports: Reports | None = None  # set by the worker
        self._variables = variables
        self._checkpoint = delivery.checkpoint
        self._options = delivery.options
        self._canceled = False
        self._unwritten: set[asyncio.Future[Any]] = set()

    @property
    def variables(self) -> dict[str, Any]:
        """All variables that the element sees (a plain job: its arguments). A copy of the handler's own."""
        return copy_json(self._variables)

    @property
    def title(self) -> str:
        """The title that it was enqueued with."""
        return self._said_before.title

    @property
    def tags(self) -> list[str]:
        """The tags that it was enqueued with."""
        return self._said_before.tags

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata that it was enqueued with."""
        return self._said_before.metadata

    @property
    def _said_before(self) -> JobOptions:
        """Its options; none of a job of a process."""
        return _decode_options(self._options) if self._options else JobOptions()

    @property
    def canceled(self) -> bool:
        """Whether this run should end: its time is over, or the process stops. For handlers that run in a thread."""
        return self._canceled

    @property
    def state(self) -> Any:  # noqa: ANN401 - any JSON value
        """What the last ``checkpoint`` of an earlier run left, None if there is none: go on from there."""
        return decode_json(self._checkpoint) if self._checkpoint else None

    # The four below are awaited by a coroutine; a handler in a thread calls them without, and waits in them. What a
    # coroutine says without waiting is written before its run ends.
    def progress(self, value: float, text: str | None = None) -> Any:  # noqa: ANN401 - awaitable on the loop
        """Say how far it is, from 0 to 1, and in words. Raises Conflict when another run of the job counts by now."""
        if isinstance(value, bool) or not isinstance(cast("object", value), int | float) or not 0 <= value <= 1:
            message = f"Expected progress as a number from 0 to 1, found {value!r}"
            raise InvalidValue(message)
        words = None if text is None else _line(text)
        return self._say(RunReport(key=self.key, lease=self.lease, progress=value, progress_text=words))

    def log(self, text: str, level: int = INFO) -> Any:  # noqa: ANN401 - awaitable on the loop
        """Add a line to the job's log, which is kept as long as the job's row. Raises Conflict as ``progress``."""
        return self._say(RunReport(key=self.key, lease=self.lease, log=[LogLine(text=_line(text), level=int(level))]))

    def checkpoint(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value; awaitable on the loop
        """Keep a value for the next run of this job (``state``), written when this returns.

        Raises Conflict as ``progress``, InvalidValue for what cannot be stored.
        """
        what = f"the checkpoint of job {self.key}"
        raw = seal(self._said.codec, plain_json(value, what), what)
        if len(raw) > CHECKPOINT_BYTES_MAX:
            most = f"{CHECKPOINT_BYTES_MAX} bytes as it is stored (CHECKPOINT_BYTES_MAX)"
            message = f"Expected the checkpoint of job {self.key} to take at most {most}, found {len(raw)}"
            raise InvalidValue(message)
        return self._say(RunReport(key=self.key, lease=self.lease, checkpoint=raw))

    def parents(self) -> Any:  # noqa: ANN401 - awaitable on the loop
        """What the job came after, by key, each with its state and what its handler gave back (``ParentJob``)."""
        return self._said.parents(self.key)

    @property
    def unwritten(self) -> set[asyncio.Future[Any]]:
        """What the handler has said and not waited for (the worker does, before the run ends)."""
        return self._unwritten

    def _say(self, report: RunReport) -> Any:  # noqa: ANN401 - awaitable on the loop
        """Have it written, at the latest before the run ends."""
        saying = self._said.report(report)
        if saying is not None:
            self._unwritten.add(saying)
            saying.add_done_callback(self._unwritten.discard)
        return saying

    @property
    def _said(self) -> Reports:
        """Where it goes. Raises Misconfigured in a process of its own."""
        if self.reports is None:
            message = (
                f"Expected '{self.type}' to run in the worker's process: progress, log, checkpoint and parents cannot "
                "be reached from a handler with process=True; use a thread, or a coroutine"
            )
            raise Misconfigured(message)
        return self.reports

    def unseal(self, codec: Codec | None) -> None:
        """Read what an earlier run left (called by the worker). Raises Unreadable."""
        if self._checkpoint:
            self._checkpoint = unseal(codec, self._checkpoint, f"the checkpoint of job {self.key}")

    def cancel(self) -> None:
        """Ask the handler to end (called by the worker)."""
        self._canceled = True

    def __repr__(self) -> str:
        """What it is and where."""
        where = f" of '{self.element_id}' in instance {self.process_instance_key}" if self.element_id else ""
        return f"<Job {self.key} '{self.type}'{where}, attempt {self.attempt}>"

    def __getstate__(self) -> dict[str, Any]:
        """For a process of its own: everything but what cannot reach it there."""
        return {name: getattr(self, name) for name in self.__slots__ if name not in LOCAL}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In the process of its own."""
        for name, value in state.items():
            setattr(self, name, value)
        self._canceled = False
        self._unwritten = set()
        self.reports = None


def _line(text: object) -> str:
    """A text that every database can hold: what it cannot is replaced, and too long a one is cut."""
    if not isinstance(text, str):
        message = f"Expected a text, found {text!r}"
        raise InvalidValue(message)
    clean = text.encode(errors="replace").decode().replace("\0", "\ufffd")
    return clean if len(clean) <= JOB_LOG_LINE_CHARS_MAX else clean[: JOB_LOG_LINE_CHARS_MAX - 1] + "…"


def copy_json(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A copy of a JSON value: what a handler gets is never what the engine keeps."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {name: copy_json(item) for name, item in items.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in cast("list[Any]", value)]
    return value
