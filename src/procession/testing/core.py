"""Drive the pure core by hand: one instance, a clock that is turned, everything checked after every step.

    run = CoreRun(definition).start({"orderId": 1})
    run.complete("pay", {"paid": True})
    assert run.ended

After each command the invariants are checked, the fold of all events is compared with the state, and the state is
encoded and decoded once. Follow-ups are collected in ``follow_ups``; commands to the own instance are sent at once.
Several instances that call and message each other: ``testing.world``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, Self

from procession.core import (
    Decision,
    State,
    Status,
    Surroundings,
    check,
    decide,
    decode_state,
    encode_state,
    fold,
    migrate,
)
from procession.core.commands import (
    Activate,
    AnyCommand,
    Cancel,
    CompleteJob,
    CompleteUserTask,
    Correlate,
    FailJob,
    FireTimer,
    FollowUp,
    Modify,
    Move,
    ResolveIncident,
    Resume,
    Send,
    SetVariables,
    StartInstance,
    Suspend,
    ThrowError,
)
from procession.core.decide import decide_at_length
from procession.core.events import Activated, Event, FlowTaken, JobCreated, Passed, Terminated
from procession.core.life import strays
from procession.core.state import ElementInstance, Incident, Phase, Wait
from procession.errors import Rejected
from procession.ids import Keys
from procession.model.definition import Definition

INSTANCE = 1
DAY_ONE = 1_767_225_600_000  # 2026-01-01T00:00:00Z
COMMANDS_MAX = 10_000


class CoreRun:
    """One instance under a virtual clock."""

    def __init__(
        self,
        definition: Definition,
        *,
        now: int = DAY_ONE,
        instance: int = INSTANCE,
        keys: Keys | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self.surroundings = surroundings or Surroundings()
        self.definition = definition
        self.now = now
        self.instance = instance
        self.keys = keys or Keys(range(instance + 1, 1 << 40))
        self.state: State | None = None
        self.events: list[Event] = []
        self.last: list[Event] = []  # the events of the last step
        self.follow_ups: list[FollowUp] = []
        self.steps = 0
        self.longest = 0  # events of the longest step
        self._folded: State | None = None
        self._phases: dict[int, Phase] = {}
        self._jobs: dict[int, JobCreated] = {}

    # -- commands -------------------------------------------------------------------------------------------------
    def start(self, variables: dict[str, Any] | None = None, **options: Any) -> Self:  # noqa: ANN401 - StartInstance's
        """Start the instance."""
        return self.send(StartInstance(self.instance, variables or {}, **options))

    def send(self, command: AnyCommand) -> Self:
        """Decide a command, and the commands that the instance sends itself; check everything."""
        todo = [command]
        for _ in range(COMMANDS_MAX):
            if not todo:
                return self
            for follow_up in self.decide(todo.pop(0)):
                if isinstance(follow_up, Send) and follow_up.instance == self.instance:
                    todo.append(follow_up.command)
                else:
                    self.follow_ups.append(follow_up)
        message = f"The instance sends itself more than {COMMANDS_MAX} commands"
        raise AssertionError(message)

    def decide(self, command: AnyCommand) -> list[FollowUp]:
        """One step: decide, check everything, pass the state through its bytes. The follow-ups are the caller's."""
        around = self.surroundings
        at_length = self._at_length(command)
        decision = decide(self.definition, self.state, command, now=self.now, keys=self.keys, surroundings=around)
        if at_length is not None:
            assert decision.events == at_length.events, "a straight line gives other events than the rules at length"
            assert decision.follow_ups == at_length.follow_ups
        return self.take(decision)

    def _at_length(self, command: AnyCommand) -> Decision | None:
        """The same step of a copy of the instance, token by token; None where ``decide`` has no shorter way.

        Processes that evaluate decisions are left out: their surroundings may count what they are asked.
        """
        if self.definition.asks or not isinstance(command, CompleteJob | StartInstance):
            return None
        state = None
        if self.state is not None:
            state = decode_state(encode_state(self.state), dict(self.state.variables))
        try:
            return decide_at_length(
                self.definition, state, command, now=self.now, keys=copy(self.keys), surroundings=self.surroundings
            )
        except Rejected:
            return None  # ``decide`` is about to say the same

    def take(self, decision: Decision) -> list[FollowUp]:
        """Check a decision and take it over."""
        self.steps += 1
        self.longest = max(self.longest, len(decision.events))
        self.last = decision.events
        self.events += decision.events
        check(self.definition, decision.state)
        assert not (found := strays(self._phases, decision.events)), found
        self._jobs.update({event.key: event for event in decision.events if isinstance(event, JobCreated)})
        self._folded = fold(decision.events, self._folded)
        raw = encode_state(decision.state)
        assert encode_state(self._folded) == raw, "the fold of the events differs from the state"
        assert self._folded.variables == decision.state.variables, "the fold of the events gives other variables"
        decoded = decode_state(raw, dict(decision.state.variables))
        assert encode_state(decoded) == raw, "the state differs after its bytes"
        check(self.definition, decoded)
        self.state = decoded if self.steps % 2 else decision.state  # an engine's cache keeps states, a restart does not
        return decision.follow_ups

    def complete(self, element_id: str, variables: dict[str, Any] | None = None) -> Self:
        """Complete the oldest open job or user task of an element."""
        node = self._working(element_id)
        if node.user_task:
            return self.send(CompleteUserTask(node.user_task, variables or {}))
        return self.send(CompleteJob(node.job, variables or {}))

    def fail(self, element_id: str, message: str = "it broke", variables: dict[str, Any] | None = None) -> Self:
        """The oldest job of an element has no attempts left."""
        return self.send(FailJob(self._working(element_id).job, message, variables or {}))

    def throw(self, element_id: str, code: str, variables: dict[str, Any] | None = None, message: str = "") -> Self:
        """A worker throws a BPMN error from the oldest job of an element."""
        return self.send(ThrowError(self._working(element_id).job, code, message, variables or {}))

    def advance(self, milliseconds: int) -> Self:
        """Turn the clock, firing every timer at its instant, in order."""
        until = self.now + milliseconds
        while True:
            due = sorted((wait.due, wait.key) for _, wait in self.waits() if wait.due and wait.due <= until)
            if not due:
                break
            self.now = max(self.now, due[0][0])
            self.send(FireTimer(due[0][1]))
        self.now = until
        return self

    def trigger(self, element_id: str, variables: dict[str, Any] | None = None) -> Self:
        """A message, signal or condition comes for the oldest wait of a catching element."""
        index = self.definition.index_of[element_id]
        key = next(wait.key for _, wait in self.waits() if wait.element == index)
        return self.send(Correlate(key, "", variables or {}))

    def fire(self, element_id: str) -> Self:
        """The oldest timer of a catching element is due: turn the clock to its instant and fire it."""
        index = self.definition.index_of[element_id]
        wait = next(wait for _, wait in self.waits() if wait.element == index and wait.due)
        self.now = max(self.now, wait.due)
        return self.send(FireTimer(wait.key))

    def resolve(self, retries: int = 1) -> Self:
        """Resolve the oldest incident."""
        return self.send(ResolveIncident(self.incidents[0].key, retries))

    def set(self, **variables: Any) -> Self:  # noqa: ANN401 - any JSON value
        """Write variables of the instance."""
        return self.send(SetVariables(variables))

    def cancel(self) -> Self:
        """Cancel the instance."""
        return self.send(Cancel())

    def suspend(self) -> Self:
        """Suspend the instance."""
        return self.send(Suspend())

    def resume(self) -> Self:
        """Resume the instance."""
        return self.send(Resume())

    def modify(
        self,
        *,
        activate: Iterable[str | Activate] = (),
        move: Mapping[str, str] | None = None,
        terminate: Iterable[int] = (),
    ) -> Self:
        """Put tokens before elements, move all tokens of an element to another, take element instances away."""
        puts = [Activate(one) if isinstance(one, str) else one for one in activate]
        moves = [Move(target, source) for source, target in (move or {}).items()]
        return self.send(Modify(puts, moves, list(terminate)))

    def migrate(self, target: Definition, mapping: Mapping[str, str] | None = None) -> Self:
        """Go on under another definition."""
        state = decode_state(encode_state(self.now_state), dict(self.now_state.variables))
        decision = migrate(self.definition, target, state, dict(mapping or {}), now=self.now, keys=self.keys)
        self.definition = target
        self.follow_ups += self.take(decision)
        return self

    # -- what is to be seen ---------------------------------------------------------------------------------------
    @property
    def now_state(self) -> State:
        """The state; the instance must have been started."""
        assert self.state is not None, "not started"
        return self.state

    @property
    def ended(self) -> bool:
        """Whether the instance has completed."""
        return self.now_state.status == Status.COMPLETED

    @property
    def terminated(self) -> bool:
        """Whether the instance was terminated."""
        return self.now_state.status == Status.TERMINATED

    @property
    def variables(self) -> dict[str, Any]:
        """The instance's variables."""
        return self.now_state.variables

    @property
    def active(self) -> list[str]:
        """Ids of the elements that are active, the process itself left out, sorted."""
        state = self.now_state
        elements = self.definition.elements
        return sorted(elements[node.element].id for node in state.nodes.values() if node.key != state.root)

    @property
    def working(self) -> list[str]:
        """Ids of the elements that have an open job, user task or called instance, sorted."""
        nodes = self.now_state.nodes
        elements = self.definition.elements
        return sorted(elements[nodes[key].element].id for key in self.now_state.jobs.values())

    @property
    def incidents(self) -> list[Incident]:
        """Open incidents, oldest first."""
        return list(self.now_state.incidents.values())

    @property
    def passed(self) -> list[str]:
        """Ids of the elements that were activated, in order, repeats included."""
        elements = self.definition.elements
        return [elements[event.element].id for event in self.events if isinstance(event, Activated | Passed)]

    @property
    def removed(self) -> list[str]:
        """Ids of the elements whose instances were terminated, in order."""
        of = {event.key: event.element for event in self.events if isinstance(event, Activated)}
        elements = self.definition.elements
        return [elements[of[event.key]].id for event in self.events if isinstance(event, Terminated)]

    @property
    def flows(self) -> list[str]:
        """Ids of the flows taken, in order."""
        return [self.definition.flows[event.flow].id for event in self.events if isinstance(event, FlowTaken)]

    def count(self, element_id: str) -> int:
        """How often an element was activated."""
        return self.passed.count(element_id)

    def local(self, element_id: str) -> dict[str, Any]:
        """The local variables of the oldest instance of an element."""
        return dict(self.node(element_id).variables or {})

    def node(self, element_id: str) -> ElementInstance:
        """The oldest element instance of an element."""
        index = self.definition.index_of[element_id]
        found = [node for node in self.now_state.nodes.values() if node.element == index]
        assert found, f"'{element_id}' is not active; active: {self.active}"
        return min(found, key=lambda node: node.key)

    def job(self, element_id: str) -> JobCreated:
        """How the oldest open job of an element was made."""
        return self.jobs[self._working(element_id).job]

    @property
    def jobs(self) -> dict[int, JobCreated]:
        """The open jobs, by key, oldest first, as they were made."""
        state = self.now_state
        return {key: made for key, made in self._jobs.items() if key in state.jobs}

    def parked(self) -> dict[str, int]:
        """Tokens that wait before joins: flow id to count, over all scopes."""
        found: dict[str, int] = {}
        arrivals = [here for node in self.now_state.nodes.values() for here in (node.arrived or {}).values()]
        for here in arrivals:
            for flow, count in here.items():
                flow_id = self.definition.flows[flow].id
                found[flow_id] = found.get(flow_id, 0) + count
        return found

    def waits(self) -> list[tuple[ElementInstance, Wait]]:
        """What is waited for, oldest first."""
        found = [(node, wait) for node in self.now_state.nodes.values() for wait in node.waits or ()]
        return sorted(found, key=lambda pair: pair[1].key)

    def waiting_for(self) -> list[str]:
        """Ids of the catching elements that are waited for, sorted, one per wait."""
        return sorted(self.definition.elements[wait.element].id for _, wait in self.waits())

    def _working(self, element_id: str) -> ElementInstance:
        """The oldest element instance of an element that has a job or user task."""
        index = self.definition.index_of[element_id]
        nodes = self.now_state.nodes.values()
        for node in sorted(nodes, key=lambda node: node.key):
            if node.element == index and (node.job or node.user_task):
                return node
        message = f"'{element_id}' has no open job or user task; active: {self.active}"
        raise AssertionError(message)


__all__ = ["DAY_ONE", "INSTANCE", "CoreRun"]
