"""The instances at work in this process: commands are decided on the cached state, one step under way per instance.

Commands for an instance queue up while its step is under way; then all of them are decided one after the other and
written as one step. Each has its own answer. A step that the store refuses because of another writer is decided again
on what is stored; one that it refuses because of one of several commands is decided again one command at a time.
It never decides anything about a process itself (``core`` does) and never talks to handlers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from procession.core import decode_state, marks_of
from procession.core.commands import CompleteJob
from procession.core.state import Status
from procession.core.surroundings import NotAtHand, Surroundings
from procession.engine.cache import OVER, Cache
from procession.engine.cells import (
    Ask,
    Begin,
    Cell,
    StepFlight,
    add_decisions,
    fenced_error,
    mark_step,
    no_instance,
    shown_as,
)
from procession.engine.clock import StoreClock
from procession.engine.commit import GroupCommit
from procession.engine.decisions import Adviser, Decisions, Request
from procession.engine.definitions import Definitions
from procession.engine.delivery import said_of
from procession.engine.ends import Ends
from procession.engine.keys import KeyStock
from procession.engine.lending import Lending
from procession.engine.loader import Loader
from procession.engine.outbox import Outbox
from procession.engine.settings import Counters, Settings
from procession.engine.values import decode_json
from procession.engine.writer import Draft, timers_of, write_step
from procession.errors import Bug, Conflict, InvalidValue, NotFound, ProcessionError, Rejected, Unavailable
from procession.limits import STEP_EVENTS_MAX
from procession.model.definition import Definition
from procession.store.port import Store
from procession.store.rows import StepOutcome, StepResult, StoredInstance

logger = logging.getLogger("procession.engine")

STARTS_MAX = 3  # inserts of a new instance that found nothing in their way and still failed
TRIES_MAX = 100  # decisions of one command that lost against other writers before its caller is told


class Instances(Lending):
    """Everything that changes an instance passes through here."""

    def __init__(  # noqa: PLR0913 - the parts of one engine, wired in one place
        self,
        store: Store,
        *,
        clock: StoreClock,
        keys: KeyStock,
        commit: GroupCommit,
        definitions: Definitions,
        decisions: Decisions,
        outbox: Outbox,
        settings: Settings,
        counters: Counters,
        chance: Callable[[], float],
    ) -> None:
        self._store = store
        self._clock = clock
        self._keys = keys
        self._commit = commit
        self._definitions = definitions
        self._decisions = decisions
        self.surroundings = Surroundings(
            find_decision=decisions.find, find_form=decisions.find_form, strict=settings.strict_expressions
        )
        self._outbox = outbox
        self._settings = settings
        self._counters = counters
        self._cache = Cache(settings, self.surroundings)
        self._loader = Loader(store, definitions, self, counters, chance)
        self._adviser = Adviser(decisions, self, chance)
        self.ends = Ends()
        self.key_stock = keys.keys  # for whoever has just seen that there are enough
        self._stopped = False

    # -- commands in ------------------------------------------------------------------------------------------------
    def submit(self, instance: int, ask: Ask) -> None:
        """Give a command to an instance. Its answer comes through the ask."""
        self._counters.in_flight += 1
        if self._stopped:
            self._fail(ask, Unavailable("The engine stopped"))
            return
        cell = self._cache.obtain(instance)
        cell.waiting.append(ask)
        if cell.flight is None:
            self._wake(cell)

    def start(self, instance: int, ask: Ask) -> None:
        """Create an instance whose key nobody else has; ``ask.begin`` says of which definition."""
        begin = ask.begin
        assert begin is not None
        self._counters.in_flight += 1
        cell, wake = self._cache.obtain(instance), self._wake
        if cell.state is None and cell.free:
            cell.be_fresh(begin)
            wake = self._go
        cell.waiting.append(ask)
        wake(cell)

    def _wake(self, cell: Cell) -> None:
        """Decide what waits, unless a step is under way, which does so when it lands."""
        if cell.flight is not None or cell.loading:
            return
        if cell.holder is not None:
            self._detach(cell)
        self._go(cell)

    # -- deciding ---------------------------------------------------------------------------------------------------
    def _go(self, cell: Cell) -> None:
        """Decide the waiting commands and send the step on its way."""
        while cell.waiting:
            if not self._prepared(cell):
                return
            asks = cell.take()
            draft = Draft()
            now = self._clock.now()
            accepted = self._decide(cell, asks, draft, now)
            if accepted and self._fly(cell, draft, accepted, now):
                return
        self._cache.settle(cell)

    def _prepared(self, cell: Cell) -> bool:
        """Whether state, decisions and keys are at hand; if not they are fetched and ``_go`` is called again."""
        if cell.loading:
            return False
        if cell.state is None and not cell.fresh:
            self._fetch(cell)
            return False
        if cell.definition is not None and cell.definition.asks and not cell.advised:
            asked = self._decisions.outdated(cell.definition)
            if asked:
                self._advise(cell, asked)
                return False
        cell.advised = False
        if not self._keys.ready():
            if not cell.starved:
                cell.starved = True
                self._keys.when_ready(lambda: self._fed(cell))
            return False
        return True

    def _fed(self, cell: Cell) -> None:
        """There are keys again."""
        cell.starved = False
        if cell.flight is None and not cell.loading and cell.holder is None:
            self._go(cell)

    def _decide(self, cell: Cell, asks: list[Ask], draft: Draft, now: int) -> list[Ask]:
        """Decide commands one after the other on the cell's state; those that were accepted."""
        keys = self._keys.keys
        accepted: list[Ask] = []
        for index, ask in enumerate(asks):
            if accepted and (
                len(draft.events) > STEP_EVENTS_MAX
                or not self._keys.ready()
                or ask.alone
                or accepted[0].alone
                or not draft.fences.keys().isdisjoint(ask.fences or ())  # one job under two leases: one of them is late
            ):
                cell.waiting[:0] = asks[index:]
                break
            try:
                if ask.tenant:
                    ask.admit(cell)
                decisions = ask.decide(cell, now, keys)
            except Rejected as error:
                if accepted or not ask.certain:  # what comes before it may still be refused by the store
                    cell.look_again(asks[index:], keep=bool(accepted))
                    break
                self._fail(ask, error)
                continue
            except NotAtHand as question:
                cell.waiting[:0] = asks
                cell.drop_state()
                self._advise(cell, [question.request])
                return []
            except Exception as error:
                logger.exception("instance %d: %s", cell.key, type(ask.command).__name__, extra=said_of(cell.key))
                cell.waiting[:0] = [*accepted, *asks[index + 1 :]]
                cell.drop_state()
                self._fail(
                    ask, error if isinstance(error, ProcessionError) else Bug(f"{type(error).__name__}: {error}")
                )
                return []
            accepted.append(ask)
            add_decisions(draft, ask, decisions)
        return accepted

    def _fly(self, cell: Cell, draft: Draft, asks: list[Ask], now: int) -> bool:
        """Write the rows and send them; False if they cannot be written, with everything put right again."""
        state, definition = cell.state, cell.definition
        assert state is not None
        assert definition is not None
        try:
            mark = 0 if asks[0].fences and len(asks) == 1 else mark_step(cell.ledger, asks, self._keys.keys)
            step = write_step(
                definition, state, draft, cell.ledger, keys=self._keys.keys, now=now, level=self._settings.history
            )
        except Exception as error:  # noqa: BLE001 - a value over its limit, or a defect: nothing was written
            self._unwritable(cell, asks, error)
            return False
        self._outbox.claim(step)
        flight = cell.flight = StepFlight(self, cell, step, asks, mark)
        if asks[0].transaction is None:
            flight.patient = not (step.new_jobs or step.rev <= 0 or flight.deadline or self.ends.waited_for(cell.key))
            self._commit.put(flight)
        else:
            self._commit.put_within(flight, asks[0].transaction)
        return True

    def _unwritable(self, cell: Cell, asks: list[Ask], error: Exception) -> None:
        """The rows could not be made: the command that is to blame is told, the others are decided again alone."""
        cell.drop_state()
        if len(asks) == 1:
            self._fail(asks[0], shown_as(error, cell.key))
            return
        cell.waiting[:0] = asks
        cell.solo = len(asks)

    # -- answers of the store ---------------------------------------------------------------------------------------
    def landed(self, flight: StepFlight, result: StepResult) -> None:
        """The store answered a step."""
        cell, outcome = flight.cell, result.outcome
        cell.flight = None
        if outcome == StepOutcome.APPLIED:
            self._applied(flight, flight.step.rev)
        else:
            self._outbox.unclaim(flight.step)
            cell.drop_state()
            if flight.unclear:
                self._doubt(flight)
            elif outcome == StepOutcome.STALE:
                self._stale(flight)
            else:
                self._refused(flight, outcome, result.error)
            self._go(cell)
            return
        if cell.waiting:
            self._go(cell)
        elif flight.step.status not in OVER:
            self._cache.settle(cell)

    def lost(self, flight: StepFlight, error: Exception) -> None:
        """A step will not be sent again: impatient callers are told, the other commands are decided again."""
        cell = flight.cell
        cell.flight = None
        self._outbox.unclaim(flight.step)
        cell.drop_state()
        now = asyncio.get_running_loop().time()
        keep: list[Ask] = []
        for ask in flight.asks:
            if self._stopped or not isinstance(error, Unavailable) or (ask.deadline and ask.deadline <= now):
                self._fail(ask, error)
            else:
                keep.append(ask)
        flight.asks = keep
        if flight.unclear:
            self._doubt(flight)
        else:
            cell.waiting[:0] = keep
        if not self._stopped:
            self._go(cell)

    def still_down(self, flight: StepFlight, error: Exception) -> None:
        """The database does not answer: tell impatient callers behind this step."""
        self.expire([flight.cell], error)

    def _applied(self, flight: StepFlight, before: int) -> None:
        """The step is durable: hand over its jobs, answer its commands. ``before``: the revision it made one higher."""
        cell, step = flight.cell, flight.step
        cell.ledger.rev = max(1, before + 1)
        if step.rev <= 0:
            self._counters.started += 1
            cell.fresh = False
        if step.new_incidents:
            self._counters.incidents += len(step.new_incidents)
        self._counters.accepted += len(flight.asks)
        self._counters.in_flight -= len(flight.asks)
        self._cache.resize(cell, len(step.state) + (len(step.variables) if step.variables is not None else 0))
        state = cell.state
        assert state is not None
        for ask in flight.asks:  # before the jobs: a caller who has waited goes first (see ``worker.line``)
            ask.succeed(cell)
            self._counters.jobs_completed += type(ask.command) is CompleteJob
        if step.new_jobs:
            self._outbox.hand_over(step, state, cell.definition)
        if step.closed_jobs:
            gone = {fence.key for fence in step.closed_jobs if not fence.lease}
            if gone:
                self._outbox.withdraw(gone)
        if step.status in OVER:
            self._ended(cell, step.status)

    def _ended(self, cell: Cell, status: int) -> None:
        """The instance is over: forget it, and tell who waits for its end."""
        if status == Status.COMPLETED:
            self._counters.completed += 1
        else:
            self._counters.terminated += 1
        if not cell.waiting:
            self._cache.forget(cell)
        self.ends.tell(cell.key, status)

    def _stale(self, flight: StepFlight) -> None:
        """Somebody else wrote: decide again on what is stored."""
        self._counters.stale += 1
        cell = flight.cell
        again: list[Ask] = []
        for ask in flight.asks:
            ask.tries += 1
            if ask.tries > TRIES_MAX:
                self._fail(ask, Unavailable(f"Instance {cell.key} was changed by others {TRIES_MAX} times meanwhile"))
            else:
                again.append(ask)
        cell.waiting[:0] = again
        cell.fresh = False

    def _refused(self, flight: StepFlight, outcome: StepOutcome, error: str) -> None:
        """One command is to blame: a lease that is not held, or a value that the database refuses."""
        cell = flight.cell
        asks = flight.asks
        if outcome == StepOutcome.FENCED:
            self._counters.fenced += 1
            blamed = [ask for ask in asks if ask.fences]
        else:
            self._counters.refused += 1
            blamed = asks
        if len(blamed) > 1:
            cell.waiting[:0] = asks
            cell.solo = len(asks)
            return
        cell.waiting[:0] = [ask for ask in asks if ask not in blamed]
        for ask in blamed:
            self._fail(ask, fenced_error(ask, error) if outcome == StepOutcome.FENCED else InvalidValue(error))
        if not blamed:
            self._stale(flight)

    def _doubt(self, flight: StepFlight) -> None:
        """The step may have been applied by a try whose answer got lost: compare with what is stored."""
        flight.cell.verify = flight
        flight.cell.fresh = False
        self._fetch(flight.cell)

    def _fail(self, ask: Ask, error: Exception) -> None:
        """Answer one command with an error."""
        self._counters.in_flight -= 1
        self._counters.reject(error)
        ask.fail(error)

    # -- loading ----------------------------------------------------------------------------------------------------
    def _fetch(self, cell: Cell) -> None:
        """Load the instance, with others that are needed now."""
        if not cell.loading:
            cell.loading = True
            self._loader.lane.put(cell)

    def _advise(self, cell: Cell, requests: list[Request]) -> None:
        """Find out decisions before the waiting commands are decided."""
        if not cell.loading:
            cell.loading = True
            self._adviser.lane.put((cell, requests))

    def advised(self, cell: Cell) -> None:
        """The decisions are at hand: go on."""
        cell.loading = False
        cell.advised = True
        if cell.flight is None:
            self._go(cell)

    async def advise(self, definition: Definition, request: Request | None = None) -> None:
        """Find out what a process asks for, or one decision more. Raises Unavailable."""
        asked = self._decisions.outdated(definition) if request is None else [request]
        await self._decisions.ensure(asked)

    def expire(self, cells: list[Cell], error: Exception) -> None:
        """Tell the callers whose patience has ended."""
        now = asyncio.get_running_loop().time()
        for cell in cells:
            for ask in [ask for ask in cell.waiting if ask.deadline and ask.deadline <= now]:
                cell.waiting.remove(ask)
                self._fail(ask, error)

    def loaded(self, cell: Cell, row: StoredInstance | None) -> None:
        """The instance was read: verify a doubtful step, then go on."""
        cell.loading = False
        for ask in cell.waiting:
            ask.certain = True
        doubtful, cell.verify = cell.verify, None
        if row is not None and row.rev > 0:
            try:
                self._install(cell, row)
            except Exception as error:
                logger.exception("instance %d cannot be read", cell.key, extra=said_of(cell.key))
                cell.verify = doubtful
                self.unreadable(cell, error)
                return
        elif row is not None:
            begin = Begin(
                definition=self._definitions.get(row.definition), raw=row.variables, tags=row.tags, tenant=row.tenant
            )
            cell.be_fresh(begin, rev=0)
        if doubtful is not None:
            self._verified(doubtful, row)
        if row is None:
            self._missing(cell)
        if cell.flight is None:
            self._go(cell)

    def _install(self, cell: Cell, row: StoredInstance) -> None:
        """Make a stored row the cell's state."""
        state = decode_state(row.state, decode_json(row.variables or b"{}"))
        cell.state = state
        cell.fresh = False
        cell.definition = self._definitions.get(row.definition)
        ledger = cell.ledger
        ledger.rev, ledger.tenant = row.rev, row.tenant
        ledger.timers = timers_of(state)
        ledger.channel, ledger.marks = state.start_channel, marks_of(row.state)
        self._cache.resize(cell, len(row.state) + len(row.variables))

    def _verified(self, flight: StepFlight, row: StoredInstance | None) -> None:
        """A doubtful step was applied, and perhaps others after it; or it is decided again."""
        cell = flight.cell
        if row is not None and cell.state is not None and flight.was_applied(row):
            self._outbox.claim_again(flight.step, cell.state)
            self._applied(flight, row.rev - 1)
        else:
            self._outbox.give_back(flight.step)
            cell.waiting[:0] = flight.asks

    def _missing(self, cell: Cell) -> None:
        """There is no such instance: only a start of it may go on."""
        asks, cell.waiting = cell.waiting, []
        for ask in asks:
            if ask.begin is None:
                self._fail(ask, NotFound(no_instance(cell.key)))
            elif ask.tries > STARTS_MAX:
                self._fail(ask, Conflict(f"Instance {cell.key} cannot start: its message start key is held by another"))
            else:
                cell.waiting.append(ask)
                cell.be_fresh(ask.begin)

    def unreadable(self, cell: Cell, error: Exception) -> None:
        """A defect: nobody can do anything with this instance now."""
        cell.loading = False
        self._fail_all(cell, Bug(f"Instance {cell.key} cannot be read: {type(error).__name__}: {error}"))

    def _fail_all(self, cell: Cell, error: Exception) -> None:
        """Nothing can be done with this instance."""
        doubtful, cell.verify = cell.verify, None
        asks = [*(doubtful.asks if doubtful is not None else ()), *cell.waiting]
        cell.waiting = []
        self._cache.forget(cell)
        for ask in asks:
            self._fail(ask, error)

    # -- life -------------------------------------------------------------------------------------------------------
    def start_work(self) -> None:
        """Begin to load."""
        self._stopped = False
        self._loader.lane.start()
        self._adviser.lane.start()

    @property
    def idle(self) -> bool:
        """Whether no command is under way."""
        return self._counters.in_flight == 0 and self._loader.lane.idle and self._adviser.lane.idle

    def jobs(self) -> set[int]:
        """The jobs of commands and steps on their way."""
        return self._cache.jobs()

    def forget_all(self) -> None:
        """Drop every cached state that is not in use."""
        self._cache.forget_idle()

    async def stop(self) -> None:
        """Answer everybody who still waits."""
        self._stopped = True
        await self._loader.lane.stop()
        await self._adviser.lane.stop()
        for cell in self._cache:
            self._fail_all(cell, Unavailable("The engine stopped"))
