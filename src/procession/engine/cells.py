"""What is known of one instance in this process, and the commands on their way into it. Plain objects, no effects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec

from procession.core import Decision, State, decide, marks_of
from procession.core.commands import AnyCommand, StartInstance
from procession.core.surroundings import NONE, Surroundings
from procession.engine.writer import Draft, Ledger
from procession.errors import Bug, Conflict, InvalidValue, NotFound, ProcessionError
from procession.ids import Keys
from procession.model.definition import Definition
from procession.store.port import StepTransaction
from procession.store.rows import NewJob, Step, StepResult, StoredInstance

MARKS_MAX = 16  # steps by others after which a step whose answer got lost is not recognised any more


class Begin(msgspec.Struct, kw_only=True):
    """What a start needs beyond its command."""

    definition: Definition
    raw: bytes = b""  # the variables as JSON
    tags: list[str] = []
    tenant: str = ""
    extra_jobs: list[NewJob] = []  # written with the start: the next firing of a start timer


class Ask:
    """One command on its way into an instance, and who is told what became of it. Subclasses say how."""

    __slots__ = ("begin", "certain", "command", "deadline", "fences", "tenant", "tries")

    alone = False  # whether its step holds no other command
    transaction: StepTransaction | None = None  # that its step is committed with; not grouped with others then

    def __init__(
        self,
        command: AnyCommand,
        fences: dict[int, int] | None = None,
        deadline: float = 0.0,
        begin: Begin | None = None,
    ) -> None:
        self.command = command
        self.fences = fences  # job -> lease it must be held by, closed with this command
        self.deadline = deadline  # on the loop's clock; 0: waits as long as it takes
        self.begin = begin
        self.tenant = ""  # whose the instance must be; empty: anybody's
        self.tries = 0
        self.certain = False  # it is decided on a state that was read after it came

    def admit(self, cell: Cell) -> None:
        """Raise NotFound where the instance is another tenant's: nothing tells it from one that is not there."""
        if self.tenant and cell.ledger.tenant != self.tenant:
            raise NotFound(no_instance(cell.key))

    def decide(self, cell: Cell, now: int, keys: Keys) -> list[Decision]:
        """What follows from the command; changes the cell's state. Raises Rejected before it changed anything."""
        state = cell.state
        command = self.command
        if isinstance(command, StartInstance):
            if state is not None:
                raise Conflict(f"Instance {cell.key} has been started already")
            if cell.requested and not command.variables:
                command.variables = msgspec.json.decode(cell.requested)
        elif state is None:
            raise Conflict(f"Instance {cell.key} is asked for but not started yet")
        assert cell.definition is not None
        decision = decide(cell.definition, state, command, now=now, keys=keys, surroundings=cell.surroundings)
        cell.state = decision.state
        return [decision]

    def succeed(self, cell: Cell) -> None:
        """It is committed."""
        raise NotImplementedError

    def fail(self, error: Exception) -> None:
        """It is refused, or given up."""
        raise NotImplementedError


class Asked(Ask):
    """A command whose caller awaits a future: the instance's status after the step."""

    __slots__ = ("future",)

    def __init__(
        self,
        command: AnyCommand,
        future: asyncio.Future[int],
        fences: dict[int, int] | None = None,
        deadline: float = 0.0,
        begin: Begin | None = None,
    ) -> None:
        self.command = command  # as ``Ask`` does, with a call less: there is one for every start
        self.fences = fences
        self.deadline = deadline
        self.begin = begin
        self.tenant = ""
        self.tries = 0
        self.certain = False
        self.future = future

    def succeed(self, cell: Cell) -> None:
        """Give the caller the status."""
        if not self.future.done():
            self.future.set_result(cell.status)

    def fail(self, error: Exception) -> None:
        """Give the caller the error."""
        if not self.future.done():
            self.future.set_exception(error)


class Told(Ask):
    """A command whose sender goes on and is called back: with None, or with what went wrong."""

    __slots__ = ("tell",)

    def __init__(
        self,
        command: AnyCommand,
        tell: Callable[[Exception | None], None],
        fences: dict[int, int] | None = None,
        deadline: float = 0.0,
        begin: Begin | None = None,
    ) -> None:
        Ask.__init__(self, command, fences, deadline, begin)
        self.tell = tell

    def succeed(self, cell: Cell) -> None:  # noqa: ARG002 - the base's signature
        """Say so."""
        self.tell(None)

    def fail(self, error: Exception) -> None:
        """Say why not."""
        self.tell(error)


class Holder(Protocol):
    """A run of methods that has the state to itself until somebody else needs the instance."""

    def detached(self) -> None:
        """The state is the holder's own copy from now on; it decides again on what is stored when it commits."""
        ...


class Cell:
    """One instance: its cached state with the revision it has in the database, and the commands that wait.

    At most one step is under way (``flight``). The state is ahead of the database by that step; on any doubt it is
    dropped and loaded again.
    """

    __slots__ = (
        "advised",
        "definition",
        "flight",
        "fresh",
        "holder",
        "key",
        "ledger",
        "loading",
        "requested",
        "size",
        "solo",
        "starved",
        "state",
        "surroundings",
        "verify",
        "waiting",
    )

    def __init__(self, key: int, surroundings: Surroundings = NONE) -> None:
        self.key = key
        self.surroundings = surroundings
        self.advised = False  # the decisions that its process asks for have just been found out
        self.ledger = Ledger(instance=key, rev=-1)
        self.definition: Definition | None = None
        self.state: State | None = None
        self.fresh = False  # there is no state yet, and a start may make it
        self.requested = b""  # variables (JSON) that a caller's own transaction left with the row
        self.waiting: list[Ask] = []
        self.flight: StepFlight | None = None
        self.verify: StepFlight | None = None  # a step that may have been applied: compare after loading
        self.holder: Holder | None = None
        self.loading = False
        self.starved = False  # waits for keys
        self.solo = 0  # so many of the next commands are decided one at a time: one of them was refused
        self.size = 0

    @property
    def status(self) -> int:
        """The instance's status in memory."""
        return self.state.status if self.state is not None else 0

    @property
    def is_as_stored(self) -> bool:
        """Whether the state is what the database has: no step on its way and no run of methods is ahead of it."""
        return self.state is not None and self.flight is None and self.holder is None

    @property
    def free(self) -> bool:
        """Whether nothing is under way, held or waiting."""
        return self.flight is None and self.holder is None and not self.loading and not self.waiting

    def be_fresh(self, begin: Begin, rev: int = -1) -> None:
        """There is no state: a start may make it. ``rev`` 0: the row is there already, asked for by a caller."""
        self.fresh = True
        self.definition = begin.definition
        self.requested = begin.raw if rev == 0 else b""
        ledger = self.ledger
        ledger.rev, ledger.tags, ledger.tenant = rev, begin.tags, begin.tenant
        if ledger.timers or ledger.marks or ledger.channel:
            ledger.timers, ledger.channel, ledger.marks = set(), "", []

    def take(self) -> list[Ask]:
        """The commands to decide now: all that wait, or one after the other when one of them was refused."""
        if self.solo:
            self.solo -= 1
            return [self.waiting.pop(0)] if self.waiting else []
        asks, self.waiting = self.waiting, []
        return asks

    def look_again(self, asks: list[Ask], *, keep: bool) -> None:
        """Before the first of these is refused: another process may have changed what is remembered, so read it.

        ``keep``: the commands before it were accepted and are written first.
        """
        self.waiting[:0] = asks
        if not keep:
            self.drop_state()
            self.fresh = False

    def drop_state(self) -> None:
        """Forget a state that is in doubt; it is loaded again when it is needed."""
        self.state = None
        self.ledger.timers = set()


class Landing(Protocol):
    """Whoever is told what became of a step."""

    def landed(self, flight: StepFlight, result: StepResult) -> None:
        """The store answered."""
        ...

    def lost(self, flight: StepFlight, error: Exception) -> None:
        """It will not be sent again."""
        ...

    def still_down(self, flight: StepFlight, error: Exception) -> None:
        """The database does not answer yet."""
        ...


class StepFlight:
    """One step on its way to the database, with the commands in it."""

    __slots__ = ("asks", "cell", "deadline", "landing", "mark", "patient", "step", "unclear")

    def __init__(self, landing: Landing, cell: Cell, step: Step, asks: list[Ask], mark: int) -> None:
        self.landing = landing
        self.cell = cell
        self.step = step
        self.asks = asks
        self.mark = mark
        self.unclear = False
        self.patient = False
        self.deadline = 0.0
        if len(asks) == 1:
            self.deadline = asks[0].deadline
            return
        for ask in asks:
            if ask.deadline and (not self.deadline or ask.deadline < self.deadline):
                self.deadline = ask.deadline

    def was_applied(self, row: StoredInstance) -> bool:
        """Whether a step in doubt is stored: the start of our own key, a mark, or the very state that it wrote."""
        step = self.step
        if step.rev < 0:
            return row.rev > 0
        if self.mark:
            return self.mark in marks_of(row.state)
        return row.rev == max(1, step.rev + 1) and row.state == step.state

    def landed(self, result: StepResult) -> None:
        """The store answered."""
        self.landing.landed(self, result)

    def lost(self, error: Exception) -> None:
        """It will not be sent again."""
        self.landing.lost(self, error)

    def still_down(self, error: Exception) -> None:
        """The database does not answer yet."""
        self.landing.still_down(self, error)


def mark_step(ledger: Ledger, asks: list[Ask], keys: Keys) -> int:
    """Mark a step with a command that has no lease: another process may write one that looks just like it."""
    if ledger.rev <= 0 or (asks[0].fences and (len(asks) == 1 or all(ask.fences for ask in asks))):
        return 0
    mark = keys.take()
    ledger.marks = [*ledger.marks[1 - MARKS_MAX :], mark]
    return mark


def add_decisions(draft: Draft, ask: Ask, decisions: list[Decision]) -> None:
    """Add what one command decided to the draft of its step."""
    for decision in decisions:
        if draft.events:
            draft.events.extend(decision.events)
        else:
            draft.events = decision.events
        if decision.trail is None:
            draft.trails = None
        elif draft.trails is not None:
            draft.trails.append(decision.trail)
        if decision.follow_ups:
            draft.follow_ups = [*draft.follow_ups, *decision.follow_ups]
    if ask.fences:
        draft.fences.update(ask.fences)
    begin = ask.begin
    if begin is not None:
        if begin.extra_jobs:
            draft.extra_jobs.extend(begin.extra_jobs)
        if begin.raw:
            draft.raw, draft.started_with = begin.raw, getattr(ask.command, "variables", {})


def no_instance(key: int) -> str:
    """What is said of an instance that is not there."""
    return f"Expected instance {key} to exist, found none with this key"


def fenced_error(ask: Ask, error: str) -> Conflict:
    """What the owner of a lost lease is told."""
    fences = ", ".join(f"{key} under lease {lease}" for key, lease in (ask.fences or {}).items())
    return Conflict(
        f"Expected to hold job {fences}; it is not held by that lease any more" + (f": {error}" if error else "")
    )


def shown_as(error: Exception, instance: int) -> ProcessionError:
    """What a caller is told when the rows of its step could not be made."""
    if isinstance(error, ProcessionError):
        return error
    if isinstance(error, UnicodeError):
        return InvalidValue(f"Expected well-formed Unicode in the texts given to instance {instance}, found {error}")
    return Bug(f"{type(error).__name__}: {error}")
