"""The handlers of a process, by method name and job type; each is compiled when it is registered. It runs nothing."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar, overload

from procession.core.listening import RETRIES_MAX
from procession.errors import Misconfigured
from procession.jobs.retry import Backoff, BackoffSpec, Span, backoff_of, lasting_ms
from procession.limits import KEY_TEXT_BYTES_MAX
from procession.worker.arguments import Arguments

if TYPE_CHECKING:
    from procession.worker.middleware import RunMiddleware

Function = TypeVar("Function", bound=Callable[..., Any])

DEFAULT_QUEUE = "default"
CONCURRENCY = 16
CONCURRENCY_MAX = 10_000  # handlers at once of one type; each may be a thread


class Mode(IntEnum):
    """Where a handler runs."""

    LOOP = 0  # a coroutine function, on the event loop
    THREAD = 1  # a plain function, in a thread
    PROCESS = 2  # a plain function, in a process of its own


class Handler:
    """A function with everything that is known about running it."""

    __slots__ = (
        "arguments",
        "backoff",
        "code",
        "concurrency",
        "defaults",
        "function",
        "is_bare",
        "is_method",
        "mode",
        "name",
        "queue",
        "retries",
        "timeout_s",
        "transactional",
    )

    def __init__(  # noqa: PLR0913 - the options of a handler, by keyword
        self,
        name: str,
        function: Callable[..., Any],
        *,
        is_method: bool,
        retries: int | None,
        backoff: BackoffSpec,
        timeout: Span | None,
        queue: str,
        concurrency: int | None,
        process: bool,
        transactional: bool,
        defaults: Mapping[str, Any],
    ) -> None:
        what = f"{'method' if is_method else 'job'} handler '{name}'"
        self.name = name
        self.function = function
        self.is_method = is_method
        self.queue = queue
        self.code = getattr(inspect.unwrap(function), "__code__", None)
        self.arguments = Arguments(function, what)
        self.backoff: Backoff = backoff_of(backoff)
        self.defaults = dict(defaults)  # options of its jobs that a call does not say
        self.timeout_s = 0.0 if timeout is None else lasting_ms(timeout, f"timeout of {what}") / 1000
        self.retries = retries
        self.concurrency = concurrency
        self.mode = _mode(function, what, process=process)
        self.transactional = transactional
        # called as it is, with its arguments: nothing stands around the call, and nobody watches its time
        self.is_bare = self.mode == Mode.LOOP and not (self.timeout_s or transactional or self.arguments.wants_job)
        if transactional and (process or not self.arguments.wants_job):
            found = "process=True" if process else "none"
            raise Misconfigured(
                f"{what}: expected a parameter annotated Job for transactional=True, since job.connection is what it "
                f"writes on, in this process; found {found}"
            )
        _check(what, name=name, queue=queue, retries=retries, concurrency=concurrency)

    def __repr__(self) -> str:
        """What it is."""
        return f"<{'method' if self.is_method else 'job'} '{self.name}': {self.function.__qualname__}>"

    def call_bare(self, variables: Mapping[str, Any]) -> Awaitable[object]:
        """Call it as it is (``is_bare``): one coroutine less than the other ways."""
        args, kwargs = self.arguments.bind(variables, None)
        return self.function(*args, **kwargs)


def _mode(function: Callable[..., Any], what: str, *, process: bool) -> Mode:
    """Where it runs. Raises Misconfigured."""
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - objects with an async __call__
    if is_async and process:
        raise Misconfigured(f"{what}: expected a plain function for process=True, found a coroutine function")
    if process:
        return Mode.PROCESS
    return Mode.LOOP if is_async else Mode.THREAD


def _check(what: str, *, name: str, queue: str, retries: int | None, concurrency: int | None) -> None:
    """The options. Raises Misconfigured."""
    for text, role in ((name, "name"), (queue, "queue")):
        if not _can_be_stored(text):
            raise Misconfigured(
                f"{what}: expected its {role} to be a text of 1 to {KEY_TEXT_BYTES_MAX} bytes, found {text!r}"
            )
    if queue.startswith("$"):
        raise Misconfigured(f"{what}: queues that begin with '$' are the engine's own, found '{queue}'")
    if retries is not None and not _is_whole(retries, RETRIES_MAX):
        raise Misconfigured(f"{what}: expected at least 1 attempt and at most {RETRIES_MAX}, found retries={retries!r}")
    if concurrency is not None and not _is_whole(concurrency, CONCURRENCY_MAX):
        raise Misconfigured(
            f"{what}: expected a concurrency of at least 1 and at most {CONCURRENCY_MAX}, found {concurrency!r}"
        )


def _is_whole(value: object, most: int) -> bool:
    """Whether it is a whole number from 1 to ``most``."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _can_be_stored(text: object) -> bool:
    """Whether it is a text that every database can hold and index."""
    try:
        return isinstance(text, str) and "\0" not in text and 1 <= len(text.encode()) <= KEY_TEXT_BYTES_MAX
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


class Registry:
    """The handlers. ``method`` and ``job`` are decorators that give the function back unchanged."""

    def __init__(self, check_defaults: Callable[[str, Mapping[str, Any]], None] | None = None) -> None:
        self.methods: dict[str, Handler] = {}
        self.jobs: dict[str, Handler] = {}
        self.run_middleware: list[RunMiddleware] = []
        self.enqueue_middleware: list[Any] = []  # what these are, those who enqueue know
        self._check_defaults = check_defaults

    @overload
    def method(self, name: Function) -> Function: ...

    @overload
    def method(
        self,
        name: str = "",
        *,
        retries: int = 3,
        backoff: BackoffSpec = None,
        timeout: Span | None = None,
        concurrency: int | None = None,
        process: bool = False,
        transactional: bool = False,
    ) -> Callable[[Function], Function]: ...

    def method(
        self,
        name: Any = "",
        *,
        retries: int = 3,
        backoff: BackoffSpec = None,
        timeout: Span | None = None,
        concurrency: int | None = None,
        process: bool = False,
        transactional: bool = False,
    ) -> Any:
        """Bind a method: part of the step, run in order. Without a name, the function's own. Raises Misconfigured.

        ``transactional``: ``job.connection`` is the transaction of the step: what is written there, and the step, are
        committed together.
        """

        def register(function: Function) -> Function:
            handler = Handler(
                name if isinstance(name, str) and name else function.__name__,
                function,
                is_method=True,
                retries=retries,
                backoff=backoff,
                timeout=timeout,
                queue=DEFAULT_QUEUE,
                concurrency=concurrency,
                process=process,
                transactional=transactional,
                defaults={},
            )
            self._add(self.methods, handler)
            return function

        return register(name) if callable(name) else register

    @overload
    def job(self, type: Function) -> Function: ...

    @overload
    def job(
        self,
        type: str = "",
        *,
        retries: int | None = None,
        backoff: BackoffSpec = None,
        timeout: Span | None = None,
        queue: str = DEFAULT_QUEUE,
        concurrency: int | None = None,
        process: bool = False,
        transactional: bool = False,
        **defaults: Any,  # noqa: ANN401 - options of a job, which are checked above this room
    ) -> Callable[[Function], Function]: ...

    def job(
        self,
        type: Any = "",  # noqa: A002 - Camunda's word
        *,
        retries: int | None = None,
        backoff: BackoffSpec = None,
        timeout: Span | None = None,
        queue: str = DEFAULT_QUEUE,
        concurrency: int | None = None,
        process: bool = False,
        transactional: bool = False,
        **defaults: Any,
    ) -> Any:
        """Bind a job type: process jobs of this type, and plain jobs of it from ``queue``.

        ``retries`` set here wins over the model's. Without a type, the function's name. ``transactional``:
        ``job.connection`` is a transaction; what is written there, the end of the job and the step that follows from it
        are committed together. ``defaults``: other options of its plain jobs (``app.job_defaults``), where neither the
        call that enqueues one nor the type of its arguments says them. Raises Misconfigured.
        """

        def register(function: Function) -> Function:
            handler = Handler(
                type if isinstance(type, str) and type else function.__name__,
                function,
                is_method=False,
                retries=retries,
                backoff=backoff,
                timeout=timeout,
                queue=queue,
                concurrency=concurrency,
                process=process,
                transactional=transactional,
                defaults=defaults,
            )
            if defaults and self._check_defaults is not None:
                self._check_defaults(f"job handler '{handler.name}'", defaults)
            self._add(self.jobs, handler)
            return function

        return register(type) if callable(type) else register

    def _add(self, table: dict[str, Handler], handler: Handler) -> None:
        """Take a handler in; one name, one function."""
        there = table.get(handler.name)
        if there is not None and there.function is not handler.function:
            raise Misconfigured(f"{handler!r}: {there!r} has this name already")
        table[handler.name] = handler

    def handler_at(self, code: object) -> Handler | None:
        """The handler whose function has this code object."""
        return next(
            (handler for handler in [*self.methods.values(), *self.jobs.values()] if handler.code is code), None
        )
