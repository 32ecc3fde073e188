"""What users may say about one job beyond its arguments, and how their words become the queue's ``JobOptions``.

It holds no rule of the queue: what an option means for a job's life, ``jobs.options`` and the store say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict, cast

import msgspec

from procession.app import arguments
from procession.errors import InvalidValue, Misconfigured
from procession.jobs import options as rules
from procession.jobs.options import After, JobOptions, UniqueMode, check_options
from procession.jobs.retry import BackoffSpec, Span, encode_backoff, lasting_ms, span_ms
from procession.jobs.schedule import to_instant
from procession.limits import KEY_TEXT_BYTES_MAX, LIMIT_MOST_MAX, LIMIT_RATE_MAX, METADATA_BYTES_MAX, PARENTS_MAX


class Unique(msgspec.Struct, frozen=True):
    """A key that one job at a time has. What becomes of a second one is said here.

    It is a duplicate, and nothing is inserted (the default) · with ``replace`` a holder that has not begun gets the
    second one's arguments, options and due time · with ``debounce`` such a holder is pushed back to the second one's
    due time (say ``delay=``), not further than ``longest`` after it was first inserted, and gets its arguments too,
    unless ``keep_first``. The key is held while the job lives, or with ``for_`` that long, whatever becomes of the job.
    """

    key: str
    for_: Span | None = None
    replace: bool = False
    debounce: bool = False
    longest: Span | None = None
    keep_first: bool = False


class Limit(msgspec.Struct, frozen=True):
    """A rule that jobs share by its key, in all processes: the newest one that came with a job counts.

    ``most`` run at once · ``rate`` begin per ``per`` on average, ``burst`` of them at once (a tenth of the rate, at
    least one, where it is not said).
    """

    key: str
    most: int = 0
    rate: int = 0
    per: Span = "1s"
    burst: int = 0


class JobWords(TypedDict, total=False):
    """Options of a job that needs more than its row; ``JobOptions`` in users' words."""

    title: str
    tags: Iterable[str]
    metadata: Mapping[str, str]
    timeout: Span
    deadline: Span | datetime
    backoff: BackoffSpec
    keep: Span
    output: bool
    ageing: Span
    fair_key: str
    unique: str | Unique
    limits: Limit | Iterable[Limit]
    after: int | Iterable[int]
    after_finished: int | Iterable[int]
    batch: int


WORDS = JobWords.__optional_keys__


def job_options(words: Mapping[str, Any]) -> JobOptions | None:
    """The options that a call's words mean; None where it has none. Raises InvalidValue naming the word."""
    said = {word: value for word, value in words.items() if word in WORDS and value is not None}
    if not said:
        return None
    deadline_ms, deadline_at = _deadline(said.get("deadline"))
    found = JobOptions(
        title=arguments.text(said.get("title", ""), "title"),
        tags=arguments.tags(said.get("tags", ())),
        metadata=_metadata(said.get("metadata")),
        timeout_ms=_span(said, "timeout"),
        deadline_ms=deadline_ms,
        deadline_at=deadline_at,
        backoff=_backoff(said["backoff"]) if "backoff" in said else "",
        keep_ms=_kept(said["keep"]) if "keep" in said else 0,
        output=arguments.flag(said.get("output", False), "output"),
        ageing_ms=_span(said, "ageing"),
        fair_key=arguments.key_text(said.get("fair_key", ""), "fair_key"),
        unique=_unique(said["unique"]) if "unique" in said else None,
        limits=_limits(said.get("limits", ())),
        after=_after(said),
        batch=arguments.key(said["batch"], "batch") if "batch" in said else 0,
    )
    check_options(found)
    return None if found == JobOptions() else found


def named_keys(options: JobOptions | None) -> list[int]:
    """Keys of jobs and batches that a job names: whoever enqueues it must be allowed to."""
    if options is None:
        return []
    return [after.key for after in options.after] + ([options.batch] if options.batch else [])


def _span(said: Mapping[str, Any], word: str) -> int:
    """Milliseconds of a span; 0 where it is not said."""
    return _ms(said[word], word) if word in said else 0


def _ms(value: object, what: str) -> int:
    try:
        return lasting_ms(value, what)
    except Misconfigured as error:
        raise InvalidValue(str(error)) from error


def _kept(value: object) -> int:
    """Milliseconds for which a row is kept; never 0 where it is said."""
    try:
        return max(1, span_ms(value, "keep"))
    except Misconfigured as error:
        raise InvalidValue(str(error)) from error


def _deadline(value: object) -> tuple[int, int]:
    """(milliseconds after the job is inserted, instant): one of them is 0."""
    if value is None:
        return 0, 0
    if isinstance(value, datetime):
        if value.tzinfo is None:
            message = f"Expected deadline to be a span or an aware datetime, found {arguments.shown(value)}"
            raise InvalidValue(message)
        return 0, max(1, to_instant(value))
    return _ms(value, "deadline"), 0


def _backoff(spec: Any) -> str:  # noqa: ANN401 - whatever a caller gave
    try:
        return encode_backoff(spec)
    except Misconfigured as error:
        raise InvalidValue(str(error)) from error


def _metadata(value: object) -> dict[str, str]:
    """Texts by name."""
    found: dict[str, str] = {}
    for key, text in arguments.mapping(value, "metadata").items():
        arguments.name(key, "a name in metadata")
        found[key] = arguments.text(text, f"metadata '{key}'", METADATA_BYTES_MAX, "METADATA_BYTES_MAX")
    return found


def _unique(value: object) -> rules.Unique:
    """A unique key with what becomes of a second job."""
    given = Unique(value) if isinstance(value, str) else value
    if not isinstance(given, Unique):
        message = f"Expected unique to be a text or Unique(...), found {arguments.shown(value)}"
        raise InvalidValue(message)
    if given.replace and given.debounce:
        message = f"Expected unique key '{given.key}' with replace or with debounce, found both"
        raise InvalidValue(message)
    if not given.debounce and (given.longest is not None or given.keep_first):
        message = f"Expected longest and keep_first of unique key '{given.key}' with debounce=True only"
        raise InvalidValue(message)
    key = arguments.name(given.key, "a unique key")
    return rules.Unique(
        key=arguments.text(key, "a unique key", KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX"),
        mode=UniqueMode.REPLACE if given.replace else UniqueMode.DEBOUNCE if given.debounce else UniqueMode.PLAIN,
        for_ms=0 if given.for_ is None else _ms(given.for_, "for_ of a unique key"),
        longest_ms=0 if given.longest is None else _ms(given.longest, "longest of a unique key"),
        keep_first=given.keep_first,
    )


def _limits(value: object) -> list[rules.Limit]:
    """Rules that the job is held to."""
    given = [value] if isinstance(value, Limit) else value
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        message = f"Expected limits to be a Limit(...) or a list of them, found {arguments.shown(value)}"
        raise InvalidValue(message)
    return [_limit(each) for each in cast("Iterable[object]", given)]


def _limit(value: object) -> rules.Limit:
    if not isinstance(value, Limit):
        message = f"Expected limits to be a Limit(...) or a list of them, found {arguments.shown(value)}"
        raise InvalidValue(message)
    what = f"of limit '{arguments.key_text(arguments.name(value.key, 'the key of a limit'), 'the key of a limit')}'"
    return rules.Limit(
        key=value.key,
        most=arguments.whole(value.most, f"most {what}", 0, LIMIT_MOST_MAX),
        rate=arguments.whole(value.rate, f"rate {what}", 0, LIMIT_RATE_MAX),
        per_ms=_ms(value.per, f"per {what}"),
        burst=arguments.whole(value.burst, f"burst {what}", 0, LIMIT_RATE_MAX if value.rate else 0),
    )


def _after(said: Mapping[str, Any]) -> list[After]:
    """What comes first; a key that is named both ways counts as named by ``after``."""
    found: dict[int, After] = {}
    for word, either in (("after_finished", True), ("after", False)):
        for key in _keys(said.get(word, ()), word):
            found[key] = After(key, either)
    if len(found) > PARENTS_MAX:
        message = f"Expected at most {PARENTS_MAX} jobs to come after (PARENTS_MAX), found {len(found)}"
        raise InvalidValue(message)
    return list(found.values())


def _keys(value: object, word: str) -> Sequence[int]:
    """One key or several."""
    if isinstance(value, str | bytes | timedelta) or not isinstance(value, Iterable):
        return [arguments.key(value, word)]
    return [arguments.key(each, word) for each in cast("Iterable[object]", value)]
