"""What a job may have beyond a plain one, and what follows from it for its life. Pure values; it stores nothing.

``JobOptions`` travels with the job from the caller to the handler: the store keeps it whole, as JSON. ``traits_of``
says which of its options need more than the job's own row when the job changes its state. A job without traits takes
the short statements of the hot path; one with traits goes the long way (``store/_shared/queue``).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, IntFlag
from typing import Final

import msgspec

from procession import limits
from procession.errors import InvalidValue

KEEP_OUTPUT_MS: Final = 24 * 3_600_000  # how long a parent's output is kept at least for those that come after it


class UniqueMode(IntEnum):
    """What becomes of a job whose unique key is held."""

    PLAIN = 0  # it is not inserted; the holder stays as it is
    REPLACE = 1  # a holder that has not started gets its arguments, options, priority and due time
    DEBOUNCE = 2  # a holder that has not started is pushed back to the new job's due time, and gets its arguments


class Unique(msgspec.Struct, frozen=True, omit_defaults=True):
    """A key that one job at a time holds, per tenant.

    It is held while the job lives (until it is SUCCEEDED, FAILED or DELETED), or with ``for_ms`` that long from when it
    was taken, whatever becomes of the job. Where the holder has started, REPLACE and DEBOUNCE insert the new job, which
    takes the key over, so that what was asked last is done last; with ``for_ms`` it is a duplicate then, too.
    ``longest_ms``: a debounced holder is not pushed back further than this after it was first inserted (0: no bound).
    ``keep_first``: a debounced holder keeps the arguments that it has.
    """

    key: str
    mode: UniqueMode = UniqueMode.PLAIN
    for_ms: int = 0
    longest_ms: int = 0
    keep_first: bool = False


class Limit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rule that jobs share by its key, over all processes. The newest rule that was inserted with a job counts.

    ``most``: so many run at once (0: any number). ``rate`` starts per ``per_ms`` on average, at most ``burst`` at once
    (0: a tenth of the rate, at least one); in any window of ``per_ms`` at most ``rate + burst`` starts.
    """

    key: str
    most: int = 0
    rate: int = 0
    per_ms: int = 1_000
    burst: int = 0


class After(msgspec.Struct, frozen=True, omit_defaults=True):
    """A job or batch of jobs that must end first: well, or (``either``) in any way."""

    key: int
    either: bool = False


class JobOptions(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Everything that a plain job does without. Zeros and empty values mean "none"."""

    title: str = ""
    tags: list[str] = []
    metadata: dict[str, str] = {}
    timeout_ms: int = 0  # of one attempt
    deadline_ms: int = 0  # not started so long after it was inserted: FAILED
    deadline_at: int = 0  # the same as an instant; the earlier one counts
    backoff: str = ""  # jobs.retry.encode_backoff; empty: the handler's
    keep_ms: int = 0  # how long its row is kept after it succeeded or was deleted
    output: bool = False  # the handler's return value is recorded
    ageing_ms: int = 0  # waiting so long is worth one priority, among jobs of the queue that age (one value per queue)
    fair_key: str = ""  # jobs of one queue take turns by this key
    unique: Unique | None = None
    limits: list[Limit] = []
    after: list[After] = []
    batch: int = 0  # the batch of jobs that it is a member of
    flow_title: str = ""  # that batch is a flow of this title, and begins with this job; not stored with the job
    priority: int = (
        0  # where it ages, the store keeps here what it was asked for: its row gives it up for a place in line
    )


class Trait(IntFlag):
    """What the end of a job, or its becoming ready, touches beyond its own row."""

    KEPT = 1  # its row goes to the archive
    UNIQUE = 2
    LIMITED = 4  # it is never READY: THROTTLED until a claim starts it
    PARENT = 8  # others come after it
    CHILD = 16
    MEMBER = 32  # of a batch of jobs
    AGEING = 64
    DEADLINE = 128
    CANCELING = 256  # somebody wants its run to end: however that ends (but well), the job is DELETED
    LOGGED = 512  # it has lines in the log, which go with it
    TRIED = 1024  # it has attempts that failed, which go with it


def traits_of(options: JobOptions | None) -> int:
    """The traits that options give a job; PARENT comes later, from those that name it."""
    if options is None:
        return 0
    return (
        (Trait.KEPT if options.keep_ms or options.output else 0)
        | (Trait.UNIQUE if options.unique else 0)
        | (Trait.LIMITED if options.limits else 0)
        | (Trait.CHILD if options.after else 0)
        | (Trait.MEMBER if options.batch else 0)
        | (Trait.AGEING if options.ageing_ms else 0)
        | (Trait.DEADLINE if options.deadline_ms or options.deadline_at else 0)
    )


def keep_ms_of(options: JobOptions | None, traits: int) -> int:
    """How long the row of a job that succeeded or was deleted is kept."""
    wanted = options.keep_ms if options is not None else 0
    if traits & Trait.PARENT or (options is not None and options.output):
        return max(wanted, KEEP_OUTPUT_MS)
    return wanted


def due_of(options: JobOptions, ready_at: int) -> tuple[int, int]:
    """(priority, place in line) of a job that ages when it becomes ready: it gives its priority for a place further on.

    All jobs of a queue age alike, so the order never changes while they wait, and nothing has to be rewritten.
    """
    return 0, max(1, ready_at - options.priority * options.ageing_ms)


def refusal_of_options(options: JobOptions) -> str:
    """Which limit the options break, in words, or an empty text."""
    if why := _refusal_of_texts(options):
        return why
    if len(options.tags) > limits.TAGS_MAX:
        return f"Expected at most {limits.TAGS_MAX} tags (TAGS_MAX), found {len(options.tags)}"
    if len(options.metadata) > limits.METADATA_KEYS_MAX:
        most = f"{limits.METADATA_KEYS_MAX} keys of metadata (METADATA_KEYS_MAX)"
        return f"Expected at most {most}, found {len(options.metadata)}"
    size = sum(len(key.encode()) + len(value.encode()) for key, value in options.metadata.items())
    if size > limits.METADATA_BYTES_MAX:
        return f"Expected metadata of at most {limits.METADATA_BYTES_MAX} bytes (METADATA_BYTES_MAX), found {size}"
    keys = [each.key for each in options.limits]
    if len(keys) > limits.LIMITS_PER_JOB_MAX or len(set(keys)) < len(keys):
        most = f"{limits.LIMITS_PER_JOB_MAX} limits with different keys (LIMITS_PER_JOB_MAX)"
        return f"Expected at most {most}, found {keys}"
    if len(options.after) > limits.PARENTS_MAX:
        return f"Expected at most {limits.PARENTS_MAX} jobs to come after (PARENTS_MAX), found {len(options.after)}"
    for limit in options.limits:
        if why := _refusal_of_limit(limit):
            return why
    return _refusal_of_numbers(options)


def check_options(options: JobOptions) -> None:
    """Raise InvalidValue for options that no store can keep."""
    if why := refusal_of_options(options):
        raise InvalidValue(why)


def _refusal_of_limit(limit: Limit) -> str:
    if not (limit.most or limit.rate):
        return f"Expected limit {limit.key!r} to have a maximum or a rate, found neither"
    within = 0 <= limit.most <= limits.LIMIT_MOST_MAX and 0 <= limit.rate <= limits.LIMIT_RATE_MAX
    if not within or not 0 <= limit.burst <= limits.LIMIT_RATE_MAX or not 1 <= limit.per_ms <= limits.LIMIT_PER_MS_MAX:
        return (
            f"Expected limit {limit.key!r} with a maximum up to {limits.LIMIT_MOST_MAX} (LIMIT_MOST_MAX), a rate and "
            f"burst up to {limits.LIMIT_RATE_MAX} (LIMIT_RATE_MAX) per 1 to {limits.LIMIT_PER_MS_MAX} ms "
            f"(LIMIT_PER_MS_MAX), found {limit.most}, {limit.rate}, {limit.burst} and {limit.per_ms} ms"
        )
    return ""


def _refusal_of_numbers(options: JobOptions) -> str:
    unique = options.unique or Unique("")
    spans = {
        "a timeout": options.timeout_ms,
        "a deadline": options.deadline_ms,
        "a deadline's instant": options.deadline_at,
        "a time to be kept": options.keep_ms,
        "an ageing time": options.ageing_ms,
        "a unique key's time": unique.for_ms,
        "a longest wait": unique.longest_ms,
    }
    for what, span in spans.items():
        if not 0 <= span <= limits.TIMER_MS_MAX:
            return f"Expected {what} of 0 to {limits.TIMER_MS_MAX} ms (TIMER_MS_MAX), found {span}"
    return ""


def _refusal_of_texts(options: JobOptions) -> str:
    keys = [("a tag", tag) for tag in options.tags] + [("a limit's key", limit.key) for limit in options.limits]
    keys += [("a fair key", options.fair_key)]
    if options.unique is not None:
        keys.append(("a unique key", options.unique.key))
        if not options.unique.key:
            return "Expected a unique key with at least one character, found an empty one"
    if not all(limit.key for limit in options.limits) or not all(options.tags):
        return "Expected tags and keys of limits with at least one character, found an empty one"
    for what, text in keys:
        if why := _refusal_of_text(what, text, limits.KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX"):
            return why
    texts: Iterable[str] = (*options.metadata, *options.metadata.values(), options.backoff)
    for text in texts:
        if why := _refusal_of_text("metadata", text, limits.METADATA_BYTES_MAX, "METADATA_BYTES_MAX"):
            return why
    return _refusal_of_text("a title", options.title, limits.NAME_BYTES_MAX, "NAME_BYTES_MAX")


def _refusal_of_text(what: str, text: str, bytes_max: int, limit: str) -> str:
    if "\0" in text:
        return f"Expected {what} without the NUL character (U+0000), found {text[:60]!r}"
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return f"Expected {what} as Unicode text, found a lone surrogate at character {error.start} of {text[:60]!r}"
    return f"Expected {what} of at most {bytes_max} bytes ({limit}), found {size}" if size > bytes_max else ""
