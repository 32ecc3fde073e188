"""The third part of the port: what pages look at. It holds no implementation.

Every look is bounded: it says how far it looked instead of looking at everything. Like the queue's half it is written
once for all SQL stores, as scripts (``store/_shared/watching``); the memory store answers the same statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from procession.store.rows.metering import MeterRow
from procession.store.rows.reading import HistoryRow, StoredSubscription
from procession.store.rows.watching import (
    FoundInstances,
    HistoryAt,
    IncidentGroup,
    InstanceSearch,
    Marks,
    Queued,
    Standing,
    Statuses,
    TallyCount,
    TallyCursor,
)


class Watching(Protocol):
    """Looks, and the tally."""

    async def find_instances(self, which: InstanceSearch) -> FoundInstances:
        """A page of what is looked for, newest first. ``variables`` stay empty, ``state`` too unless it is asked for.

        Raises InvalidValue for more variables than SEARCH_VARIABLES_MAX.
        """
        ...

    async def count_found(self, which: InstanceSearch, most: int) -> int:
        """How many of the instances that a search looks at are meant, up to ``most``."""
        ...

    async def looks_at_all(self, which: InstanceSearch) -> bool:
        """Whether ``look`` is enough for every instance that the search has to look at."""
        ...

    async def marks(self) -> Marks:
        """Numbers that differ when something changed; cheap enough to be asked twice a second."""
        ...

    async def size(self) -> int:
        """How many bytes the database has on its disk, everything in it included; 0 where it has none."""
        ...

    async def revisions(self, instances: Sequence[int]) -> dict[int, tuple[int, int]]:
        """For each of these instances a pair that differs when it, or a job of it, changed."""
        ...

    async def standing(self, most: int, *, tenants: Sequence[str] = ()) -> Standing:
        """How much there is, each counted up to ``most``."""
        ...

    async def statuses(self, look: int, *, tenants: Sequence[str] = ()) -> Statuses:
        """How many of the newest ``look`` instances there are, by status."""
        ...

    async def queued(self, look: int, *, tenants: Sequence[str] = ()) -> Queued:
        """How many of the newest ``look`` jobs there are, by queue and state."""
        ...

    async def incident_groups(
        self, *, tenants: Sequence[str] = (), look: int = 50_000, limit: int = 100
    ) -> list[IncidentGroup]:
        """Open incidents by fingerprint, the most frequent first, among the newest ``look``."""
        ...

    async def incident_places(self, *, definition: int = 0, look: int = 50_000) -> dict[tuple[int, str], int]:
        """Open incidents per (definition, element), among the newest ``look``."""
        ...

    async def waiting_for(
        self, name: str, correlation_key: str, *, tenant: str = "", limit: int = 100
    ) -> list[StoredSubscription]:
        """The subscriptions of instances that a message with this name and key would find, oldest first."""
        ...

    async def histories(
        self, instances: Sequence[int], *, containing: str = "", before: int = 0, limit: int = 10_000
    ) -> list[HistoryRow]:
        """The steps of several instances, by instance and position; ``containing``: with this text in the events.

        ``before``: only positions below this one.
        """
        ...

    # -- the tally ----------------------------------------------------------------------------------------------------
    async def history_after(self, cursor: TallyCursor, *, limit: int) -> list[HistoryAt]:
        """The next steps of all instances, none of which a transaction that is under way could still precede."""
        ...

    async def tally_cursor(self) -> TallyCursor:
        """How far the history was counted."""
        ...

    async def add_tally(
        self,
        since: TallyCursor,
        until: TallyCursor,
        counts: Sequence[TallyCount],
        meter: Sequence[MeterRow] = (),
    ) -> bool:
        """Add counts and move the cursor, in one transaction; False, and nothing, where it does not stand there."""
        ...

    async def add_meter(self, rows: Sequence[MeterRow]) -> None:
        """Add to what is counted by time; rows of the same texts and time are one."""
        ...

    async def meter(self, since: int, until: int, measures: Sequence[int], *, limit: int) -> list[MeterRow]:
        """What was counted from ``since`` until before ``until``, by time, at most ``limit`` rows."""
        ...

    async def forget_meter(self, before: int, measures: Sequence[int], *, limit: int) -> None:
        """Delete rows of these measures that begin before an instant, the oldest first, at most ``limit``."""
        ...

    async def tally(self, definitions: Sequence[int], *, totals: bool = False) -> list[TallyCount]:
        """What was counted of these definitions; ``totals``: of the processes only (place 0, without durations)."""
        ...
