"""Instances stepped by hand, without a store: commands in, the jobs and follow-ups that they open answered at once.

It stands for the shell around the core, as thin as can be. Every job is completed without variables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from procession.core import State, Status, decide, encode_state
from procession.core.commands import AnyCommand, CallProcess, CompleteJob, FollowUp, Send, StartInstance
from procession.core.events import JobCreated
from procession.errors import Bug
from procession.ids import Keys
from procession.model import Definition

NOW = 1_767_225_600_000  # 2026-01-01T00:00:00Z: the core's clock is an argument
KEYS_END = 1 << 51


class Stepping:
    """Some instances of some processes, in memory, until each has ended."""

    def __init__(self, definitions: Mapping[str, Definition], *, encode: bool = False) -> None:
        self.definitions = definitions
        self.encode = encode
        self.keys = Keys(range(1, KEYS_END))
        self.states: dict[int, State] = {}
        self.processes: dict[int, Definition] = {}
        self.todo: deque[tuple[int, AnyCommand]] = deque()
        self.jobs: deque[tuple[int, int]] = deque()  # (instance, job)
        self.steps = 0
        self.jobs_done = 0
        self.ended = 0

    def run(self, process_id: str, variables: dict[str, Any]) -> None:
        """One instance, and what it calls, from the start to the end."""
        self.start(process_id, variables)
        while self.jobs:
            self.complete_one()

    def start(self, process_id: str, variables: dict[str, Any]) -> int:
        """Start an instance and let it go on until only jobs are open."""
        instance = self.keys.take()
        self._begin(instance, process_id, StartInstance(instance, variables))
        self._settle()
        return instance

    def complete_one(self) -> None:
        """Complete the oldest open job."""
        instance, job = self.jobs.popleft()
        self.todo.append((instance, CompleteJob(job)))
        self.jobs_done += 1
        self._settle()

    def _begin(self, instance: int, process_id: str, command: StartInstance) -> None:
        self.processes[instance] = self.definitions[process_id]
        self.todo.append((instance, command))

    def _settle(self) -> None:
        todo = self.todo
        while todo:
            instance, command = todo.popleft()
            self._step(instance, command)

    def _step(self, instance: int, command: AnyCommand) -> None:
        decision = decide(self.processes[instance], self.states.get(instance), command, now=NOW, keys=self.keys)
        self.steps += 1
        state = decision.state
        for event in decision.events:
            if type(event) is JobCreated:
                self.jobs.append((instance, event.key))
        if self.encode:
            encode_state(state)
        for follow_up in decision.follow_ups:
            self._follow(follow_up)
        if state.status == Status.ACTIVE:
            self.states[instance] = state
        else:
            self.ended += 1
            self.states.pop(instance, None)
            del self.processes[instance]

    def _follow(self, follow_up: FollowUp) -> None:
        if isinstance(follow_up, Send):
            self.todo.append((follow_up.instance, follow_up.command))
        elif isinstance(follow_up, CallProcess):
            start = StartInstance(
                follow_up.instance,
                follow_up.variables,
                parent=follow_up.parent,
                parent_element_instance=follow_up.parent_element_instance,
                depth=follow_up.depth,
            )
            self._begin(follow_up.instance, follow_up.process_id, start)
        else:
            message = f"Expected the measured processes to call and continue only, found {type(follow_up).__name__}"
            raise Bug(message)
