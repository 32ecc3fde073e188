"""When a failed attempt is tried again, pure: exponential with jitter, constant, a list of delays, or an own function.

Chance and the attempt are arguments; nothing here waits or reads a clock.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol, TypeAlias, cast

import msgspec

from procession.errors import InvalidValue, Misconfigured
from procession.jobs.schedule import parse_duration

DELAY_MS_MAX = 366 * 24 * 3_600_000

Span: TypeAlias = int | float | str | timedelta  # seconds, "500ms" "30s" "10m" "2h" "1d", ISO 8601, or a timedelta

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")


class Backoff(Protocol):
    """How long to wait after a failed attempt."""

    def delay_ms(self, attempt: int, chance: float) -> int:
        """The pause after attempt ``attempt`` (from 1); ``chance`` is in [0, 1)."""
        ...


BackoffSpec: TypeAlias = "str | Span | Sequence[Span] | Callable[[int], Span] | Backoff | None"


class Exponential(msgspec.Struct, frozen=True, tag=True):
    """``first_ms``, then ``factor`` times as long each time, at most ``longest_ms``; chance takes up to ``jitter``."""

    first_ms: int = 1_000
    factor: float = 2.0
    longest_ms: int = 3_600_000
    jitter: float = 0.25

    def delay_ms(self, attempt: int, chance: float) -> int:
        """The pause after this attempt."""
        full = min(float(self.longest_ms), self.first_ms * self.factor ** min(max(attempt, 1) - 1, 64))
        return int(full * (1 - self.jitter * chance))


class Constant(msgspec.Struct, frozen=True, tag=True):
    """Always the same pause."""

    ms: int

    def delay_ms(self, attempt: int, chance: float) -> int:  # noqa: ARG002 - the protocol's signature
        """The pause."""
        return self.ms


class Delays(msgspec.Struct, frozen=True, tag=True):
    """One pause per attempt; the last one is used for all that follow."""

    ms: tuple[int, ...]

    def delay_ms(self, attempt: int, chance: float) -> int:  # noqa: ARG002 - the protocol's signature
        """The pause after this attempt."""
        return self.ms[min(max(attempt, 1), len(self.ms)) - 1]


class Custom(msgspec.Struct, frozen=True):
    """A function of the attempt that gives a span."""

    function: Callable[[int], Span]

    def delay_ms(self, attempt: int, chance: float) -> int:  # noqa: ARG002 - the protocol's signature
        """The pause after this attempt. Raises Misconfigured when the function gives no span."""
        return span_ms(self.function(attempt), "the result of a backoff function")


DEFAULT = Exponential()


def backoff_of(spec: BackoffSpec) -> Backoff:
    """The policy that a handler's or a job's ``backoff=`` means. Raises Misconfigured."""
    if spec is None or spec == "exponential":
        return DEFAULT
    if isinstance(spec, Exponential | Constant | Delays | Custom):
        return spec
    if isinstance(spec, int | float | str | timedelta):
        return Constant(span_ms(spec, "backoff"))
    if callable(spec):
        return Custom(spec)
    if isinstance(spec, Sequence) and spec:
        return Delays(tuple(span_ms(span, f"backoff[{index}]") for index, span in enumerate(spec)))
    if hasattr(spec, "delay_ms"):
        return cast("Backoff", spec)
    raise Misconfigured(
        f"Expected backoff to be 'exponential', a span such as '30s', a list of spans or a function, found {spec!r}"
    )


def encode_backoff(spec: BackoffSpec) -> str:
    """A policy as text that travels with a job. Raises Misconfigured; InvalidValue for a function, which cannot."""
    policy = backoff_of(spec)
    if not isinstance(policy, Exponential | Constant | Delays):
        raise InvalidValue(
            "Expected the backoff of one job to be 'exponential', a span such as '30s' or a list of spans, since it is "
            f"stored with the job: a function belongs to the handler (backoff= of job()); found {spec!r}"
        )
    return msgspec.json.encode(policy).decode()


_decode_backoff = msgspec.json.Decoder(Exponential | Constant | Delays).decode


def decode_backoff(text: str) -> Backoff:
    """The policy that ``encode_backoff`` made a text of. Raises Misconfigured for any other text."""
    try:
        return _decode_backoff(text.encode())
    except msgspec.DecodeError as error:
        raise Misconfigured(f"Expected a backoff as a job carries it, found {text[:60]!r}: {error}") from error


def span_ms(span: object, what: str = "a span of time") -> int:
    """Milliseconds of a span: seconds as a number, '500ms' '30s' '10m' '2h' '1d', ISO 8601, a timedelta.

    Raises Misconfigured when it is none of them, negative, or longer than a year.
    """
    ms = _ms(span)
    if ms is None or not 0 <= ms <= DELAY_MS_MAX:
        raise Misconfigured(
            f"Expected {what} to be seconds, a text such as '30s', '10m' or 'PT1H', or a timedelta, from 0 to "
            f"{DELAY_MS_MAX} ms (DELAY_MS_MAX); found {span!r}"
        )
    return ms


def lasting_ms(span: object, what: str = "a span of time") -> int:
    """The same for what takes time: at least a millisecond. Raises Misconfigured."""
    ms = span_ms(span, what)
    if ms < 1:
        raise Misconfigured(f"Expected {what} to be from 1 to {DELAY_MS_MAX} ms (DELAY_MS_MAX), found {span!r}")
    return ms


def _ms(span: object) -> int | None:
    """Milliseconds, or None for what is no span."""
    match span:
        case bool():
            return None
        case int() | float():
            return int(span * 1000) if abs(span) < 1e12 else None  # neither for what is not a number
        case timedelta():
            return span // timedelta(milliseconds=1)
        case str():
            parts = _SPAN.findall(span)
            if parts and not _SPAN.sub("", span).strip():
                total = sum(float(number) * _UNITS[unit] for number, unit in parts)
                return int(total) if math.isfinite(total) else None
            return _iso_ms(span)
        case _:
            return None


def _iso_ms(text: str) -> int | None:
    """Milliseconds of an ISO 8601 duration without years and months."""
    if not text.startswith("P"):
        return None
    duration = parse_duration(text)
    return duration // timedelta(milliseconds=1) if isinstance(duration, timedelta) else None
