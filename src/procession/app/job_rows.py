"""Users' words about jobs made rows: whatever puts jobs into the queue, now or again and again, goes through here.

It asks nothing and writes nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from msgspec import structs

from procession.app import arguments
from procession.app.job_defaults import defaults_of_type, has_functions, merged
from procession.app.job_options import JobWords, job_options
from procession.core.listening import RETRIES_MAX
from procession.engine.values import decode_json, plain_object, plain_objects
from procession.errors import InvalidValue, Misconfigured
from procession.jobs.codec import MARK, Codec, seal_all
from procession.jobs.kinds import JobKind
from procession.jobs.retry import Span, span_ms
from procession.jobs.schedule import to_instant
from procession.limits import ENQUEUE_MAX
from procession.store.rows import NewJob
from procession.worker import Handler
from procession.worker.registry import DEFAULT_QUEUE

RETRIES = 3  # attempts of a job whose handler says nothing and is perhaps not known here
PRIORITY_MAX = 2**31 - 1
WHAT: Final = "the arguments of a job"


class EnqueueOptions(JobWords, total=False):
    """Options of ``Procession.enqueue``."""

    queue: str
    priority: int
    delay: Span
    at: datetime
    retries: int


OPTIONS: Final = EnqueueOptions.__optional_keys__
_LITTLE: Final = frozenset({("queue", str), ("priority", int), ("retries", int)})
_SAY_NOTHING: Final = frozenset({dict, type(None)})


def new_rows(
    type: str,  # noqa: A002 - Camunda's word
    args: Sequence[Any],
    options: Mapping[str, Any],
    *,
    handler: Handler | None,
    tenant: str,
    codec: Codec | None,
    what: str = WHAT,
) -> list[NewJob]:
    """Jobs of one type without keys, one for each of ``args``. Raises InvalidValue, Misconfigured."""
    is_usual = _says_little(options) and (handler is None or not handler.defaults) and not _types_say_more(args)
    if not is_usual or type.__class__ is not str:  # the pattern of a usual one is looked up by its type
        _check_type(type)
    if unknown := options.keys() - OPTIONS:
        message = f"Expected options of a job, found {', '.join(sorted(unknown))}: there is none of that name"
        raise InvalidValue(message)
    if len(args) > ENQUEUE_MAX:
        message = f"Expected at most {ENQUEUE_MAX} jobs in a call (ENQUEUE_MAX), found {len(args)}"
        raise InvalidValue(message)
    raw = plain_objects(args, what)
    sealed = seal_all(codec, raw, what)
    if is_usual:
        said = options.get
        queue, retries = (DEFAULT_QUEUE, None) if handler is None else (handler.queue, handler.retries)
        retries = _first(said("retries"), retries, RETRIES)
        pattern = _usual_pattern(type, said("queue") or queue, said("priority", 0), retries, tenant)
        return [structs.replace(pattern, args=each) for each in sealed]
    patterns = _patterns(type, args, raw, options, handler, tenant)
    return [structs.replace(pattern, args=each) for pattern, each in zip(patterns, sealed, strict=True)]


def _check_type(type: object) -> None:  # noqa: A002 - as above
    """Raise InvalidValue for what is no type of a job."""
    arguments.key_text(arguments.name(type, "the type of a job"), "the type of a job")


def usual_row(
    type: str,  # noqa: A002 - as above
    args: Any,  # noqa: ANN401 - whatever a caller gives
    options: Mapping[str, Any],
    handler: Handler | None,
    tenant: str,
) -> NewJob | None:
    """A job without its key, as ``new_rows`` makes it, if it is usual; None where that has to look closer.

    A fifth less of this process per ``enqueue`` than by way of ``new_rows``. Raises InvalidValue.
    """
    if args.__class__ is not dict or type.__class__ is not str or (options and not _says_little(options)):
        return None
    queue, retries, priority = DEFAULT_QUEUE, RETRIES, 0
    if handler is not None:
        if handler.defaults:
            return None
        queue, retries = handler.queue, handler.retries or RETRIES
    if options:
        said = options.get
        queue, retries, priority = said("queue") or queue, said("retries", retries), said("priority", 0)
    raw = plain_object(args, WHAT)
    if raw.startswith(MARK):
        return None
    return structs.replace(_usual_pattern(type, queue, priority, retries, tenant), args=raw)


def _says_little(options: Mapping[str, Any]) -> bool:
    """Whether a call says at most plain words of ``_LITTLE``: of such jobs the pattern is kept."""
    return _LITTLE.issuperset(zip(options, map(builtins.type, options.values()), strict=True))


def _types_say_more(args: Sequence[Any]) -> bool:
    return not _SAY_NOTHING.issuperset(map(builtins.type, args)) and any(map(defaults_of_type, args))


@lru_cache(maxsize=1_000)
def _usual_pattern(type: str, queue: str, priority: int, retries: int, tenant: str) -> NewJob:  # noqa: A002 - as above
    """What a job is like of which its call and its handler say no more than that. Shared: never change it."""
    _check_type(type)
    return NewJob(
        key=0,
        kind=JobKind.TASK,
        queue=queue_name(queue),
        type=type,
        priority=arguments.whole(priority, "priority", -PRIORITY_MAX, PRIORITY_MAX),
        retries=arguments.whole(retries, "retries", 1, RETRIES_MAX),
        tenant=tenant,
    )


def _patterns(
    type: str,  # noqa: A002 - as above
    args: Sequence[Any],
    raw: Sequence[bytes],
    options: Mapping[str, Any],
    handler: Handler | None,
    tenant: str,
) -> Sequence[NewJob]:
    """For each job one that it is like; most of the time it is the same one."""
    of_handler: Mapping[str, Any] = {} if handler is None else handler.defaults
    varies = has_functions(of_handler)
    if not varies and set(map(builtins.type, args)) == {dict}:  # which say nothing
        return [_pattern(type, merged([of_handler, options], lambda: decode_json(raw[0])), handler, tenant)] * len(args)
    of_types = [defaults_of_type(each) for each in args]
    known: dict[int, NewJob] = {}  # by the defaults of the type
    found: list[NewJob] = []
    for each, of_type in zip(raw, of_types, strict=True):
        pattern = known.get(id(of_type))
        if pattern is None:
            layers = [of_handler, of_type or {}, options]
            words = merged(layers, lambda each=each: decode_json(each))
            pattern = _pattern(type, words, handler, tenant)
            if not varies and not has_functions(of_type or {}):
                known[id(of_type)] = pattern
        found.append(pattern)
    return found


def _first(said: int | None, of_handler: int | None, usual: int) -> int:
    """What is said, be it 0: that is refused, not passed over."""
    if said is not None:
        return said
    return usual if of_handler is None else of_handler


def _pattern(type: str, words: Mapping[str, Any], handler: Handler | None, tenant: str) -> NewJob:  # noqa: A002 - as above
    queue = words.get("queue") or (handler.queue if handler is not None else DEFAULT_QUEUE)
    retries = _first(words.get("retries"), handler.retries if handler is not None else None, RETRIES)
    run_at, delay_ms = _when(words.get("at"), words.get("delay"))
    return NewJob(
        key=0,
        kind=JobKind.TASK,
        queue=queue_name(queue),
        type=type,
        priority=arguments.whole(words.get("priority", 0), "priority", -PRIORITY_MAX, PRIORITY_MAX),
        run_at=run_at,
        delay_ms=delay_ms,
        retries=arguments.whole(retries, "retries", 1, RETRIES_MAX),
        tenant=tenant,
        options=job_options(words),
    )


def queue_name(name: object) -> str:
    """A queue of users'. Raises InvalidValue."""
    queue = arguments.key_text(arguments.name(name, "queue"), "queue")
    if queue.startswith("$"):
        message = f"Expected a queue of yours: those that begin with '$' are the engine's own, found '{queue}'"
        raise InvalidValue(message)
    return queue


def _when(at: object, delay: object) -> tuple[int, int]:
    """(instant in milliseconds or 0, delay in milliseconds). Raises InvalidValue."""
    if at is not None and delay is not None:
        message = "Expected either at= or delay=, found both"
        raise InvalidValue(message)
    if at is not None:
        if not isinstance(at, datetime) or at.tzinfo is None:
            message = f"Expected at= to be an aware datetime, found {arguments.shown(at)}"
            raise InvalidValue(message)
        return max(1, to_instant(at)), 0
    if delay is None:
        return 0, 0
    try:
        return 0, span_ms(delay, "delay")
    except Misconfigured as error:
        raise InvalidValue(str(error)) from error
