"""The work of a step does not grow with what is open elsewhere, nor with what has been. Lines of Python are counted.

Time is left to `procession bench core`; lines are the same on every machine. What C does in one go, such as copying the
keys of a scope, is not counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

import pytest

from procession.core import State, Status, decide
from procession.core.commands import (
    AnyCommand,
    ChildEnded,
    CompleteJob,
    Continue,
    Correlate,
    FailJob,
    FireTimer,
    ResolveIncident,
    Send,
    SetVariables,
    StartInstance,
    ThrowError,
)
from procession.core.events import Event
from procession.ids import Keys
from procession.model import compile_resource
from procession.testing.bpmn import ProcessBuilder, multi_instance, process
from procession.testing.core import DAY_ONE

FEW, MANY = 20, 2_000
GROWTH_MAX = 1.5  # a few lines more for a larger dictionary are no growth
HOUR = 3_600_000
EACH = multi_instance("=for i in 1..n return i", element="item")


class Counted:
    """One instance whose steps are counted in lines."""

    def __init__(self, builder: ProcessBuilder, number: int) -> None:
        (self.definition,) = compile_resource(builder.xml()).definitions
        self.keys = Keys(range(2, 1 << 40))
        self.now = DAY_ONE
        self.lines = 0
        self.events: list[Event] = []
        self.started: State | None = None
        self.send(StartInstance(1, {"n": number, "v": 0}))

    @property
    def state(self) -> State:
        assert self.started is not None
        return self.started

    def send(self, *commands: AnyCommand) -> Self:
        """Decide commands and what the instance sends itself, counting the lines of the last step."""
        todo = list(commands)
        while todo:
            self.lines = 0
            sys.settrace(self._enter)
            try:
                decision = decide(self.definition, self.started, todo.pop(0), now=self.now, keys=self.keys)
            finally:
                sys.settrace(None)
            self.started, self.events = decision.state, decision.events
            asked = [one for one in decision.follow_ups if isinstance(one, Send) and one.instance == 1]
            todo += [one.command for one in asked if isinstance(one.command, Continue)]
        return self

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        del frame, event, argument
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        del frame, argument
        self.lines += event == "line"
        return self._line

    def job(self, position: int = -1) -> int:
        return list(self.state.jobs)[position]

    def jobs_of(self, element: str) -> list[int]:
        index = self.definition.index_of[element]
        return [key for key, owner in self.state.jobs.items() if self.state.nodes[owner].element == index]

    def wait_of(self, element: str) -> int:
        index = self.definition.index_of[element]
        waits = [wait for node in self.state.nodes.values() for wait in node.waits or () if wait.element == index]
        return waits[-1].key


def beside(builder: ProcessBuilder, *within: Callable[[ProcessBuilder], ProcessBuilder]) -> ProcessBuilder:
    """Many instances of a sub-process in one branch; the other goes on from ``fork``."""
    builder = builder.start().parallel("fork").sub_process("each", loop=EACH).start("s1")
    for grow in within:
        builder = grow(builder)
    return builder.end("e1").done().end("e2").at("fork")


def completed_among_many(number: int) -> Counted:
    counted = Counted(process("p").start().service("a", loop=EACH).end(), number)
    return counted.send(CompleteJob(counted.job(), {"v": 1}))


def failed_and_resolved_among_many(number: int) -> Counted:
    counted = Counted(process("p").start().service("a", loop=EACH).end(), number)
    for job in counted.jobs_of("a")[:-1]:
        counted.send(FailJob(job, "broken"))
    counted.send(FailJob(counted.job(), "broken"))
    return counted.send(ResolveIncident(list(counted.state.incidents)[-1], 1))


def interrupted_among_many(number: int) -> Counted:
    builder = process("p").start().sub_process("s", loop=EACH).start("s1").service("a").end("e1")
    builder.boundary("late", on="a", timer="PT1H").end("e2").done().end()
    counted = Counted(builder, number)
    counted.now += HOUR
    return counted.send(FireTimer(counted.wait_of("late")))


def thrown_among_many(number: int) -> Counted:
    builder = process("p").start().sub_process("s", loop=EACH).start("s1").service("a").end("e1")
    builder.boundary("broken", on="a", error="X").end("e2").done().end()
    counted = Counted(builder, number)
    return counted.send(ThrowError(counted.job(), "X"))


def escalated_among_many(number: int) -> Counted:
    builder = process("p").start().parallel("fork")
    for branch in range(number // 20):
        builder.service(f"t{branch}").end(f"e{branch}").at("fork")
    builder.service("a").throw("tell", escalation="E").end()
    builder.event_sub_process("note").start("s1", escalation="E", interrupting=False).end("e_note").done()
    counted = Counted(builder, number)
    return counted.send(CompleteJob(counted.jobs_of("a")[0]))


def a_signal_that_nobody_hears(number: int) -> Counted:
    builder = beside(process("p"), lambda it: it.catch("wait", signal="other"))
    counted = Counted(builder.service("a").throw("tell", signal="t").end(), number)
    return counted.send(CompleteJob(counted.jobs_of("a")[0]))


def a_variable_that_no_condition_reads(number: int) -> Counted:
    builder = beside(process("p"), lambda it: it.catch("wait", condition="=v > 5"))
    counted = Counted(builder.service("a").end(), number)
    return counted.send(SetVariables({"w": 1}))


def a_message_for_one_of_many(number: int) -> Counted:
    builder = beside(process("p"), lambda it: it.catch("wait", message="m", key="=item"))
    counted = Counted(builder.service("a").end(), number)
    return counted.send(Correlate(counted.wait_of("wait"), "m", {"w": 1}))


def a_call_of_many_ends(number: int) -> Counted:
    counted = Counted(process("p").start().call("a", process="q", loop=EACH).end(), number)
    node = next(reversed(counted.state.nodes.values()))
    return counted.send(ChildEnded(node.key, node.called, "completed", {"w": 1}))


def a_join_beside_many(number: int) -> Counted:
    builder = beside(process("p"), lambda it: it.service("a")).inclusive("split")
    builder.when("=true").service("b").inclusive("join").service("after").end()
    builder.at("split").when("=true").service("c").to("join")
    counted = Counted(builder, number)
    counted.send(CompleteJob(counted.jobs_of("b")[0]))
    counted.send(CompleteJob(counted.jobs_of("c")[0]))
    assert counted.jobs_of("after")
    return counted


def the_last_turn_of_a_long_loop(number: int) -> Counted:
    builder = process("p").start().exclusive("again").service("a").exclusive("enough")
    builder.when("=v < 1").to("again").at("enough").otherwise().end()
    counted = Counted(builder, number)
    for _ in range(number):
        counted.send(CompleteJob(counted.job()))
    return counted


def a_handler_of_many(number: int) -> Counted:
    builder = process("p").start().service("a", loop=EACH).compensation("undo", on="a", type="u").at("a")
    counted = Counted(builder.service("b").throw("compensate", compensate="").end(), number)
    for job in counted.jobs_of("a"):
        counted.send(CompleteJob(job))
    counted.send(CompleteJob(counted.jobs_of("b")[0]))
    for _ in range(number // 2):
        counted.send(CompleteJob(counted.jobs_of("undo")[0]))
    return counted


def a_result_of_an_ad_hoc_sub_process(number: int) -> Counted:
    builder = (
        process("p")
        .start()
        .ad_hoc("hoc", extensions='<zeebe:adHoc outputCollection="results" outputElement="=item" />')
    )
    counted = Counted(builder.service("a", loop=EACH).service("b").done().end(), number)
    for job in counted.jobs_of("a"):
        counted.send(CompleteJob(job))
    return counted


STEPS = [
    completed_among_many,
    failed_and_resolved_among_many,
    interrupted_among_many,
    thrown_among_many,
    escalated_among_many,
    a_signal_that_nobody_hears,
    a_variable_that_no_condition_reads,
    a_message_for_one_of_many,
    a_call_of_many_ends,
    a_join_beside_many,
    the_last_turn_of_a_long_loop,
    a_handler_of_many,
    a_result_of_an_ad_hoc_sub_process,
]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_costs_the_same_among_few_and_among_many(step: Callable[[int], Counted]):
    few, many = step(FEW), step(MANY)
    assert few.state.status == many.state.status == Status.ACTIVE or step is a_result_of_an_ad_hoc_sub_process
    assert few.lines > 10
    assert many.lines <= few.lines * GROWTH_MAX, f"{few.lines} lines among {FEW}, {many.lines} among {MANY}"
