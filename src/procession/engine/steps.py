"""A run of methods: several methods in a row are one step of their instance, committed once. It calls no handler.

The worker asks for the first call, gives its result, gets the next call, and so on until the branch waits; then
everything is committed together. While nobody else needs the instance the run decides on the cached state itself. When
somebody does, the run keeps that state to itself and, at the end, decides its recorded results again on what is
stored: the methods are never called twice for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from procession.core import Decision, State, decide, visible_variables
from procession.core import events as e
from procession.core.commands import CompleteJob, ThrowError
from procession.core.lines import Trail, completed_along
from procession.core.surroundings import NotAtHand, Surroundings
from procession.engine.cells import Ask, Cell, add_decisions
from procession.engine.delivery import Delivery
from procession.engine.instances import Instances
from procession.engine.writer import Draft
from procession.errors import NotFound
from procession.ids import Keys
from procession.jobs.kinds import JobKind
from procession.limits import METHODS_PER_STEP_MAX
from procession.model.definition import Definition, Element

METHOD = JobKind.METHOD  # members are slow to reach on the hot path


class MethodCall(msgspec.Struct, gc=False):
    """Call this method with these variables."""

    name: str
    variables: dict[str, Any]  # shared: never change it
    element: str
    element_instance: int
    spec: Element | None = None


class Result(msgspec.Struct, gc=False):
    """What one method gave: variables, or a BPMN error."""

    method: str
    variables: dict[str, Any]
    error: str | None = None
    message: str = ""

    def command(self, job: int) -> CompleteJob | ThrowError:
        """As a command about the job that stands for the call."""
        if self.error is None:
            return CompleteJob(job, self.variables)
        return ThrowError(job, self.error, self.message, self.variables)


class StepRun(Ask):
    """One step of methods. ``complete`` after each call, then ``commit``; or ``fail``."""

    __slots__ = (
        "_cell",
        "_draft",
        "_instances",
        "_job",
        "_now",
        "_private",
        "_results",
        "_runs_method",
        "_tell",
        "first",
        "job",
    )

    def __init__(
        self, instances: Instances, job: Delivery, *, now: Callable[[], int], runs_method: Callable[[str], bool]
    ) -> None:
        Ask.__init__(self, CompleteJob(job.key), {job.key: job.lease})
        self.job = job
        self.first = MethodCall(job.type, job.variables or {}, job.element, job.element_instance, job.spec)
        self._instances = instances
        self._now = now
        self._runs_method = runs_method
        self._results: list[Result] = []
        self._job = job.key  # the job that stands for the call under way
        self._cell: Cell | None = None  # held: its state is ours to change
        self._private: tuple[Definition, State] | None = None  # the same state after somebody else needed the instance
        self._draft = Draft(fences={job.key: job.lease})
        self._tell: Callable[[Exception | None], None] | None = None

    # -- what the worker calls --------------------------------------------------------------------------------------
    async def complete(self, result: Result) -> MethodCall | None:
        """A method has ended: the next call, or None when the branch waits.

        Raises Rejected when the step is void: its job is gone, its instance ended or suspended.
        """
        self._results.append(result)
        definition, state, decision = await self._decided(result)
        return self._follow(definition, state, decision)

    def at_hand(self) -> bool:
        """Whether ``advance`` can do at once what ``complete`` may have to wait for."""
        if self._private is not None:
            return False
        cell = self._cell
        if cell is None:
            cell = self._cell = self._instances.hold(self.job.instance, self)
            if cell is None:
                return False
        elif self._instances.keys_at_hand() is None:
            return False
        return cell.definition is not None and not cell.definition.asks

    def advance(self, result: Result) -> MethodCall | None:
        """``complete``, when all that it needs is at hand. Raises Rejected likewise."""
        self._results.append(result)
        cell, instances = self._cell, self._instances
        assert cell is not None
        definition, state = cell.definition, cell.state
        assert state is not None
        assert definition is not None
        command = result.command(self._job)
        if type(command) is CompleteJob:
            along = completed_along(definition, state, command, instances.key_stock)
            if along is not None:
                return self._follow_along(definition, state, *along)
        decision = decide(
            definition,
            state,
            command,
            now=self._now(),
            keys=instances.key_stock,
            surroundings=instances.surroundings,
        )
        return self._follow(definition, state, decision)

    def _follow_along(
        self, definition: Definition, state: State, events: list[e.Event], trail: Trail
    ) -> MethodCall | None:
        """``_follow`` along a straight line: the method, if there is one, is of the process' own scope and plain."""
        draft = self._draft
        if draft.events:
            draft.events += events
        else:
            draft.events = events
        if draft.trails is not None:
            draft.trails.append(trail)
        opened = trail.opened
        if opened is None or opened.kind != METHOD or not self._is_next(opened.type):
            return None
        self._job, owner = opened.key, opened.element_instance
        spec = definition.elements[state.nodes[owner].element]
        return MethodCall(opened.type, dict(state.variables), spec.id, owner, spec)

    def _is_next(self, method: str) -> bool:
        """Whether a method that follows is run in this step."""
        return len(self._results) < METHODS_PER_STEP_MAX and self._runs_method(method)

    def _follow(self, definition: Definition, state: State, decision: Decision) -> MethodCall | None:
        """Take down what was decided; the method that it leads to."""
        add_decisions(self._draft, self, [decision])
        following = next_method(decision)
        if following is None or not self._is_next(following.type):
            return None
        self._job = following.key
        owner = following.element_instance
        spec = definition.elements[state.nodes[owner].element]
        return MethodCall(following.type, visible_variables(state, owner), spec.id, owner, spec)

    def commit(self, tell: Callable[[Exception | None], None]) -> None:
        """Write the step; ``tell`` is called with None once it is durable, or with what went wrong."""
        self._tell = tell
        cell, self._cell = self._cell, None
        if cell is not None:
            self._instances.fly_held(cell, self._draft, self)
        else:
            self._private = None
            self._instances.submit(self.job.instance, self)

    def fail(self, error: Exception) -> None:
        """The step was not written (called by ``Instances``)."""
        self.abandon()
        if self._tell is not None:
            self._tell(error)

    def abandon(self) -> None:
        """Forget what was decided: a method failed, or the step is void."""
        cell, self._cell = self._cell, None
        self._private = None
        if cell is not None:
            self._instances.let_go(cell)

    # -- what Instances calls ---------------------------------------------------------------------------------------
    def succeed(self, cell: Cell) -> None:  # noqa: ARG002 - the base's signature
        """The step is durable."""
        if self._tell is not None:
            self._tell(None)

    def detached(self) -> None:
        """Somebody else needs the instance: the state is ours alone from now on, to be thrown away at the end."""
        cell, self._cell = self._cell, None
        assert cell is not None
        assert cell.state is not None
        assert cell.definition is not None
        self._private = (cell.definition, cell.state)

    def decide(self, cell: Cell, now: int, keys: Keys) -> list[Decision]:
        """Decide all results again on what is stored, matching each with the call it was the result of.

        Where the step goes another way now, what fits is kept and the rest waits as ordinary jobs.
        """
        definition, state = cell.definition, cell.state
        if state is None or definition is None:
            raise NotFound(f"Instance {cell.key} is not started, so job {self.job.key} cannot be completed")
        return self._replay(definition, state, now, keys, cell.surroundings)

    # -- internal ---------------------------------------------------------------------------------------------------
    async def _decided(self, result: Result) -> tuple[Definition, State, Decision]:
        """Decide a result, with the decisions that its process asks for at hand."""
        instances = self._instances
        keys = await instances.keys()
        definition, state = await self._state()
        if definition.asks:
            await instances.advise(definition)
            keys = await instances.keys()
            definition, state = await self._state()  # somebody else may have needed the instance meanwhile
        command = result.command(self._job)
        now = self._now()
        try:
            decision = decide(definition, state, command, now=now, keys=keys, surroundings=instances.surroundings)
        except NotAtHand as question:
            return await self._decided_anew(question)
        return definition, state, decision

    async def _decided_anew(self, question: NotAtHand) -> tuple[Definition, State, Decision]:
        """A decision has to be found out, and the state is under change: decide all results again on a copy."""
        self.abandon()
        self._draft = Draft()
        instances = self._instances
        while True:
            definition, state = await instances.copy(self.job.instance)
            await instances.advise(definition, question.request)
            keys = await instances.keys()
            try:
                decisions = self._replay(definition, state, self._now(), keys, instances.surroundings)
            except NotAtHand as another:
                question = another
            else:
                self._private = definition, state
                return definition, state, decisions[-1]

    def _replay(
        self, definition: Definition, state: State, now: int, keys: Keys, surroundings: Surroundings
    ) -> list[Decision]:
        """Decide the results one after the other, matching each with the call it was the result of."""
        decisions: list[Decision] = []
        job = self.job.key
        for index, result in enumerate(self._results):
            command = result.command(job)
            decisions.append(decide(definition, state, command, now=now, keys=keys, surroundings=surroundings))
            following = next_method(decisions[-1])
            if (
                following is None
                or index + 1 == len(self._results)
                or following.type != self._results[index + 1].method
            ):
                break
            job = following.key
        return decisions

    async def _state(self) -> tuple[Definition, State]:
        """The state to decide on: held, our own, or a copy of what is there now."""
        if self._private is not None:
            return self._private
        cell = self._cell
        if cell is None:
            cell = self._cell = self._instances.hold(self.job.instance, self)
        if cell is not None:
            assert cell.state is not None
            assert cell.definition is not None
            return cell.definition, cell.state
        self._private = await self._instances.copy(self.job.instance)
        return self._private


def next_method(decision: Decision) -> e.JobCreated | None:
    """The one method that the decision leads to; None if it leads to none, or to several."""
    trail = decision.trail
    if trail is not None:
        opened = trail.opened
        return opened if opened is not None and opened.kind == METHOD else None
    found: e.JobCreated | None = None
    for event in decision.events:
        if type(event) is e.JobCreated and event.kind == METHOD and event.key in decision.state.jobs:
            if found is not None:
                return None
            found = event
    return found
