"""Drive the pure core by hand: one instance, a clock that is turned, everything checked after every step.

    run = CoreRun(definition).start({"orderId": 1})
    run.complete("pay", {"paid": True})
    assert run.ended

After each command the invariants are checked, the fold of all events is compared with the state, and the state is
encoded and decoded once. Follow-ups are collected in ``follow_ups``; commands to the own instance are sent at once.
"""

from __future__ import annotations

from typing import Any

from procession.core import State, Status, check, decide, decode_state, encode_state, fold
from procession.core.commands import (
    AnyCommand,
    Cancel,
    CompleteJob,
    CompleteUserTask,
    Correlate,
    FailJob,
    FireTimer,
    FollowUp,
    ResolveIncident,
    Send,
    SetVariables,
    StartInstance,
    ThrowError,
)
from procession.core.events import Activated, Event, FlowTaken, Passed
from procession.core.state import ElementInstance, Incident, Wait
from procession.ids import Keys
from procession.model.definition import Definition, Trigger

INSTANCE = 1
DAY_ONE = 1_767_225_600_000  # 2026-01-01T00:00:00Z
COMMANDS_MAX = 10_000


class CoreRun:
    """One instance under a virtual clock."""

    def __init__(self, definition: Definition, *, now: int = DAY_ONE) -> None:
        self.definition = definition
        self.now = now
        self.keys = Keys(range(INSTANCE + 1, 1 << 40))
        self.state: State | None = None
        self.events: list[Event] = []
        self.follow_ups: list[FollowUp] = []
        self.steps = 0

    # -- commands -------------------------------------------------------------------------------------------------
    def start(self, variables: dict[str, Any] | None = None, **options: Any) -> CoreRun:
        """Start the instance."""
        return self.send(StartInstance(INSTANCE, variables or {}, **options))

    def send(self, command: AnyCommand) -> CoreRun:
        """Decide a command, and the commands that the instance sends itself; check everything."""
        todo = [command]
        for _ in range(COMMANDS_MAX):
            if not todo:
                return self
            decision = decide(self.definition, self.state, todo.pop(0), now=self.now, keys=self.keys)
            self.steps += 1
            self.events += decision.events
            check(self.definition, decision.state)
            self._same(decision.state)
            self.state = decode_state(encode_state(decision.state), decision.state.variables)
            for follow_up in decision.follow_ups:
                if isinstance(follow_up, Send) and follow_up.instance == INSTANCE:
                    todo.append(follow_up.command)
                else:
                    self.follow_ups.append(follow_up)
        message = f"The instance sends itself more than {COMMANDS_MAX} commands"
        raise AssertionError(message)

    def complete(self, element_id: str, variables: dict[str, Any] | None = None) -> CoreRun:
        """Complete the oldest open job or user task of an element."""
        node = self._working(element_id)
        if node.user_task:
            return self.send(CompleteUserTask(node.user_task, variables or {}))
        return self.send(CompleteJob(node.job, variables or {}))

    def fail(self, element_id: str, message: str = "it broke") -> CoreRun:
        """The oldest job of an element has no attempts left."""
        return self.send(FailJob(self._working(element_id).job, message))

    def throw(self, element_id: str, code: str, variables: dict[str, Any] | None = None) -> CoreRun:
        """A worker throws a BPMN error from the oldest job of an element."""
        return self.send(ThrowError(self._working(element_id).job, code, variables=variables or {}))

    def advance(self, milliseconds: int) -> CoreRun:
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

    def trigger(self, element_id: str, variables: dict[str, Any] | None = None) -> CoreRun:
        """A message, signal or condition comes for the oldest wait of a catching element."""
        index = self.definition.index_of[element_id]
        key = next(wait.key for _, wait in self.waits() if wait.element == index)
        return self.send(Correlate(key, "", variables or {}))

    def resolve(self, retries: int = 1) -> CoreRun:
        """Resolve the oldest incident."""
        return self.send(ResolveIncident(self.incidents[0].key, retries))

    def set(self, **variables: Any) -> CoreRun:
        """Write variables of the instance."""
        return self.send(SetVariables(variables))

    def cancel(self) -> CoreRun:
        """Cancel the instance."""
        return self.send(Cancel())

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
    def incidents(self) -> list[Incident]:
        """Open incidents, oldest first."""
        return list(self.now_state.incidents.values())

    @property
    def passed(self) -> list[str]:
        """Ids of the elements that were activated, in order, repeats included."""
        elements = self.definition.elements
        return [elements[event.element].id for event in self.events if isinstance(event, Activated | Passed)]

    @property
    def flows(self) -> list[str]:
        """Ids of the flows taken, in order."""
        return [self.definition.flows[event.flow].id for event in self.events if isinstance(event, FlowTaken)]

    def parked(self) -> dict[str, int]:
        """Tokens that wait before joins: flow id to count, over all scopes."""
        found: dict[str, int] = {}
        for node in self.now_state.nodes.values():
            for flow, count in (node.arrived or {}).items():
                flow_id = self.definition.flows[flow].id
                found[flow_id] = found.get(flow_id, 0) + count
        return found

    def waits(self) -> list[tuple[ElementInstance, Wait]]:
        """What is waited for, oldest first."""
        found = [(node, wait) for node in self.now_state.nodes.values() for wait in node.waits or ()]
        return sorted(found, key=lambda pair: pair[1].key)

    def _working(self, element_id: str) -> ElementInstance:
        """The oldest element instance of an element that has a job or user task."""
        index = self.definition.index_of[element_id]
        nodes = self.now_state.nodes.values()
        for node in sorted(nodes, key=lambda node: node.key):
            if node.element == index and (node.job or node.user_task):
                return node
        message = f"'{element_id}' has no open job or user task; active: {self.active}"
        raise AssertionError(message)

    def _same(self, state: State) -> None:
        """The fold of all events is the state."""
        folded = fold(self.events)
        assert encode_state(folded) == encode_state(state), "the fold of the events differs from the state"
        assert folded.variables == state.variables, "the fold of the events gives other variables"


__all__ = ["DAY_ONE", "INSTANCE", "CoreRun", "Trigger"]
