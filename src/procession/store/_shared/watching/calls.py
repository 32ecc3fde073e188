"""The calls of ``watch_port.Watching``, once for all stores: each runs a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from procession.store._shared.queue.script import Script
from procession.store._shared.watching import looks, metering
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

T = TypeVar("T")


class WatchCalls:
    """Looks, and the tally."""

    async def _run_script(self, make: Callable[[int], Script[T]], *, reads: bool = False) -> T:
        """Run a script in one transaction; ``reads``: it writes nothing."""
        raise NotImplementedError

    async def find_instances(self, which: InstanceSearch) -> FoundInstances:
        """A page of what is looked for."""
        return await self._run_script(lambda _: looks.find_instances(which), reads=True)

    async def count_found(self, which: InstanceSearch, most: int) -> int:
        """How many are meant."""
        return await self._run_script(lambda _: looks.count_found(which, most), reads=True)

    async def looks_at_all(self, which: InstanceSearch) -> bool:
        """Whether a search does not end before the oldest instance."""
        return await self._run_script(lambda _: looks.looks_at_all(which), reads=True)

    async def marks(self) -> Marks:
        """Numbers that differ when something changed."""
        return await self._run_script(lambda _: looks.marks(), reads=True)

    async def size(self) -> int:
        """Bytes that the database has."""
        return await self._run_script(lambda _: looks.size(), reads=True)

    async def revisions(self, instances: Sequence[int]) -> dict[int, tuple[int, int]]:
        """A pair for each instance."""
        return await self._run_script(lambda _: looks.revisions(instances), reads=True)

    async def standing(self, most: int, *, tenants: Sequence[str] = ()) -> Standing:
        """Bounded counts."""
        return await self._run_script(lambda _: looks.standing(most, tenants), reads=True)

    async def statuses(self, look: int, *, tenants: Sequence[str] = ()) -> Statuses:
        """The newest instances by status."""
        return await self._run_script(lambda _: looks.statuses(look, tenants), reads=True)

    async def queued(self, look: int, *, tenants: Sequence[str] = ()) -> Queued:
        """The newest jobs by queue and state."""
        return await self._run_script(lambda _: looks.queued(look, tenants), reads=True)

    async def incident_groups(
        self, *, tenants: Sequence[str] = (), look: int = 50_000, limit: int = 100
    ) -> list[IncidentGroup]:
        """Open incidents by fingerprint."""
        return await self._run_script(lambda _: looks.incident_groups(tenants, look, limit), reads=True)

    async def incident_places(self, *, definition: int = 0, look: int = 50_000) -> dict[tuple[int, str], int]:
        """Open incidents by element."""
        return await self._run_script(lambda _: looks.incident_places(definition, look), reads=True)

    async def waiting_for(
        self, name: str, correlation_key: str, *, tenant: str = "", limit: int = 100
    ) -> list[StoredSubscription]:
        """Subscriptions of instances to one message."""
        return await self._run_script(lambda _: looks.waiting(name, correlation_key, tenant, limit), reads=True)

    async def histories(
        self, instances: Sequence[int], *, containing: str = "", before: int = 0, limit: int = 10_000
    ) -> list[HistoryRow]:
        """The steps of several instances."""
        return await self._run_script(lambda _: looks.histories(instances, containing, before, limit), reads=True)

    # -- the tally ----------------------------------------------------------------------------------------------------
    async def history_after(self, cursor: TallyCursor, *, limit: int) -> list[HistoryAt]:
        """The next steps of all instances."""
        return await self._run_script(lambda now: looks.history_after(cursor, limit, now), reads=True)

    async def tally_cursor(self) -> TallyCursor:
        """How far the history was counted."""
        return await self._run_script(lambda _: looks.tally_cursor(), reads=True)

    async def add_tally(
        self,
        since: TallyCursor,
        until: TallyCursor,
        counts: Sequence[TallyCount],
        meter: Sequence[MeterRow] = (),
    ) -> bool:
        """Add counts and move the cursor."""
        return await self._run_script(lambda now: looks.add_tally(since, until, counts, meter, now))

    async def add_meter(self, rows: Sequence[MeterRow]) -> None:
        """Add to what is counted by time."""
        await self._run_script(lambda _: metering.add_meter(rows))

    async def meter(self, since: int, until: int, measures: Sequence[int], *, limit: int) -> list[MeterRow]:
        """What was counted in a span of time."""
        return await self._run_script(lambda _: metering.read_meter(since, until, measures, limit), reads=True)

    async def forget_meter(self, before: int, measures: Sequence[int], *, limit: int) -> None:
        """Delete what is old."""
        await self._run_script(lambda _: metering.forget_meter(before, measures, limit))

    async def tally(self, definitions: Sequence[int], *, totals: bool = False) -> list[TallyCount]:
        """What was counted."""
        return await self._run_script(lambda _: looks.tally(definitions, totals=totals), reads=True)
