"""What is handed out of the instances at work: views, copies, the state itself to a run of methods. It decides nothing.

The half of ``Instances`` that looks and lends; the other half decides, writes and answers.
"""

from __future__ import annotations

from procession.core import State, decode_state, encode_state
from procession.engine.cache import Cache
from procession.engine.cells import Ask, Cell, Holder
from procession.engine.clock import StoreClock
from procession.engine.definitions import Definitions
from procession.engine.keys import KeyStock
from procession.engine.settings import Counters
from procession.engine.values import decode_json, encode_json
from procession.engine.writer import Draft
from procession.errors import NotFound
from procession.ids import Keys
from procession.model.definition import Definition
from procession.store.port import Store
from procession.store.rows import StoredInstance


class Lending:
    """The lending half of ``Instances``, which gives it its parts."""

    _store: Store
    _clock: StoreClock
    _keys: KeyStock
    _definitions: Definitions
    _counters: Counters
    _cache: Cache

    def _go(self, cell: Cell) -> None:
        raise NotImplementedError

    def _fly(self, cell: Cell, draft: Draft, asks: list[Ask], now: int) -> bool:
        raise NotImplementedError

    def _install(self, cell: Cell, row: StoredInstance) -> None:
        raise NotImplementedError

    # -- the cache --------------------------------------------------------------------------------------------------
    def adopt(self, row: StoredInstance) -> State:
        """The state of a row that was just read, kept if nothing newer is known."""
        cell = self._cache.get(row.key)
        if cell is not None and cell.is_as_stored and cell.ledger.rev == row.rev:
            assert cell.state is not None
            return cell.state
        if cell is None:
            cell = self._cache.obtain(row.key)
        if cell.free and (cell.state is None or cell.ledger.rev < row.rev):
            self._install(cell, row)
            self._cache.settle(cell)
            assert cell.state is not None
            return cell.state
        return decode_state(row.state, decode_json(row.variables or b"{}"))

    async def view(self, instance: int) -> State | None:
        """What is committed of an instance, to look at; None if it is not there. Raises Unavailable."""
        rows = await self._store.load([instance])
        if not rows or rows[0].rev < 1:
            return None
        await self._definitions.ensure([rows[0].definition])
        return self.adopt(rows[0])

    # -- holding: a run of methods has the state to itself ----------------------------------------------------------
    def keys_at_hand(self) -> Keys | None:
        """Enough keys for a decision, if they are here."""
        return self._keys.keys if self._keys.ready() else None

    async def keys(self) -> Keys:
        """Enough keys for a decision."""
        await self._keys.enough()
        return self._keys.keys

    def hold(self, instance: int, holder: Holder) -> Cell | None:
        """Give a free instance's cached state to a run of methods; None if it is not free."""
        cell = self._cache.get(instance)
        if cell is None or cell.state is None or not cell.free or cell.starved or not self._keys.ready():
            return None
        cell.holder = holder
        return cell

    def let_go(self, cell: Cell) -> None:
        """The run is given up: its changes are dropped."""
        cell.holder = None
        cell.drop_state()
        self._go(cell)

    def fly_held(self, cell: Cell, draft: Draft, ask: Ask) -> None:
        """Write what the holder decided."""
        cell.holder = None
        self._counters.in_flight += 1
        if not self._fly(cell, draft, [ask], self._clock.now()):
            self._go(cell)

    def _detach(self, cell: Cell) -> None:
        """Somebody needs the instance: the holder keeps its changed state to itself, the cell loads what is stored."""
        holder, cell.holder = cell.holder, None
        assert holder is not None
        holder.detached()
        cell.drop_state()

    async def copy(self, instance: int) -> tuple[Definition, State]:
        """A private copy of an instance's state, from memory or as it is stored. Raises NotFound, Unavailable."""
        await self._keys.enough()
        cell = self._cache.get(instance)
        if cell is not None and cell.is_as_stored and cell.definition is not None:
            assert cell.state is not None
            variables = decode_json(encode_json(cell.state.variables))
            return cell.definition, decode_state(encode_state(cell.state), variables)
        rows = await self._store.load([instance])
        if not rows or rows[0].rev < 1:
            raise NotFound(f"Expected instance {instance} to exist, found none with this key")
        row = rows[0]
        await self._definitions.ensure([row.definition])
        return self._definitions.get(row.definition), decode_state(row.state, decode_json(row.variables or b"{}"))
