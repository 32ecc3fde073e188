"""The store's clock, as this process estimates it between two readings. It never uses the machine's wall time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class StoreClock:
    """Store time = monotonic time + an offset measured now and then; or a clock that somebody turns by hand."""

    __slots__ = ("_fixed", "_offset")

    def __init__(self, fixed: Callable[[], int] | None = None) -> None:
        self._fixed = fixed
        self._offset = 0.0

    @property
    def virtual(self) -> bool:
        """Whether the clock is turned by hand."""
        return self._fixed is not None

    def now(self) -> int:
        """The store's clock in milliseconds since the epoch."""
        if self._fixed is not None:
            return self._fixed()
        return int(monotonic() * 1000 + self._offset)

    def moment(self) -> float:
        """Seconds of a clock that does not go back, to measure how long something took."""
        return self._fixed() / 1000 if self._fixed is not None else monotonic()

    def measured(self, store_now: int, before: float, after: float) -> None:
        """Take a reading: the store said ``store_now`` between two instants of ``time.monotonic()``.

        The middle of the round trip is taken. Time never runs backwards by more than a reading says.
        """
        self._offset = store_now - (before + after) / 2 * 1000
