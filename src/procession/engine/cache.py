"""The cells of this process, bounded: recently used instances stay with their state. It decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

from procession.core.state import Status
from procession.core.surroundings import NONE, Surroundings
from procession.engine.cells import Cell
from procession.engine.settings import Settings

OVER = frozenset({Status.COMPLETED, Status.TERMINATED})
EVICTIONS_MAX = 8  # per settled cell: enough to keep the bound, few enough not to stall a step


class Cache:
    """Cells by instance key, least recently used first. A cell in use is never forgotten."""

    __slots__ = ("_bytes", "_cells", "_settings", "_surroundings")

    def __init__(self, settings: Settings, surroundings: Surroundings = NONE) -> None:
        self._settings = settings
        self._surroundings = surroundings
        self._cells: dict[int, Cell] = {}
        self._bytes = 0

    def __iter__(self) -> Iterator[Cell]:
        """All cells, as of now."""
        return iter(list(self._cells.values()))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._cells)

    def get(self, instance: int) -> Cell | None:
        """The cell of an instance, if it is known."""
        return self._cells.get(instance)

    def obtain(self, instance: int) -> Cell:
        """The cell of an instance, made if it is not known."""
        cell = self._cells.get(instance)
        if cell is None:
            cell = self._cells[instance] = Cell(instance, self._surroundings)
        return cell

    def resize(self, cell: Cell, size: int) -> None:
        """The stored size of a cell's state changed."""
        self._bytes += size - cell.size
        cell.size = size

    def settle(self, cell: Cell) -> None:
        """Nothing is under way: keep the state as the most recently used, or forget it."""
        if not cell.free or cell.starved:
            return
        if cell.state is None or cell.state.status in OVER:
            self.forget(cell)
            return
        cells = self._cells
        if cells.pop(cell.key, None) is not None:
            cells[cell.key] = cell
        settings = self._settings
        if len(cells) > settings.instances_cached or self._bytes > settings.cached_bytes_max:
            self._evict()

    def _evict(self) -> None:
        """Forget the least recently used that are not in use."""
        settings = self._settings
        cells = self._cells
        for _ in range(EVICTIONS_MAX):
            if len(cells) <= settings.instances_cached and self._bytes <= settings.cached_bytes_max:
                return
            oldest = cells[next(iter(cells))]
            if oldest.free and not oldest.starved:
                self.forget(oldest)
            else:
                cells[oldest.key] = cells.pop(oldest.key)

    def forget(self, cell: Cell) -> None:
        """Take a cell out."""
        if self._cells.get(cell.key) is cell:
            del self._cells[cell.key]
            self._bytes -= cell.size
            cell.size = 0

    def forget_idle(self) -> None:
        """Drop every cached state that is not in use."""
        for cell in self:
            if cell.free and not cell.starved:
                self.forget(cell)

    def jobs(self) -> set[int]:
        """The jobs that commands on their way would close, and those that steps insert for this process."""
        found: set[int] = set()
        for cell in self:
            flights = [flight for flight in (cell.flight, cell.verify) if flight is not None]
            for ask in [*cell.waiting, *(ask for flight in flights for ask in flight.asks)]:
                found.update(ask.fences or ())
            found.update(job.key for flight in flights for job in flight.step.new_jobs if job.owner)
        return found
