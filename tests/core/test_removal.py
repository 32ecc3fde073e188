"""Stories of what goes: in bounded steps where it is much, and complete before anything else follows."""

from __future__ import annotations

import pytest

from procession.core import check, decide
from procession.core.commands import (
    Cancel,
    CompleteJob,
    Continue,
    FireTimer,
    Send,
    StartInstance,
)
from procession.core.events import JobClosed
from procession.core.state import Phase, Status
from procession.errors import Conflict, NotFound
from procession.ids import Keys
from procession.limits import STEP_EVENTS_MAX
from procession.model import compile_resource
from procession.testing.bpmn import multi_instance, process
from procession.testing.core import DAY_ONE

HOUR = 3_600_000
MANY = multi_instance("=for i in 1..3000 return i", element="item")
CONTINUES_MAX = 60
pure = pytest.mark.pure(reason="it looks between the steps of one command")


def in_steps(world, run, ready, *, each=lambda: None):
    """Let the instance go on, one step at a time, each through its bytes and checked; how many there were."""
    for number in range(CONTINUES_MAX):
        if ready():
            return number
        world.queue.clear()
        each()
        run.decide(Continue())
        assert len(run.last) < 2 * STEP_EVENTS_MAX
    raise AssertionError(run.active[:5])


def grown(world, builder, variables=None):
    """An instance whose many inner instances have all been made."""
    world.deploy(builder)
    return world.start("p", variables or {})


def interrupted_task():
    return (
        process("p")
        .start()
        .service("many", loop=MANY)
        .end()
        .boundary("late", on="many", timer="PT1H")
        .service("after")
        .end("e2")
    )


@pure
def test_a_boundary_event_goes_on_when_all_that_it_interrupts_is_gone(world):
    """Scenario 80: interrupted, a huge activity goes step by step, and nothing else is blocked meanwhile."""
    run = grown(world, interrupted_task())
    made = len(run.jobs)
    assert made == 3_000
    job = next(reversed(run.jobs))
    with world.held():
        run.fire("late")
        assert len(run.last) < STEP_EVENTS_MAX + 100
        assert "after" not in run.active
        refused = pytest.raises(Conflict, match="being taken away")

        def late_answers():
            if job in run.jobs:
                with refused:
                    run.decide(CompleteJob(job))

        steps = in_steps(world, run, lambda: run.active == ["after"], each=late_answers)
        world.queue.clear()
    assert steps >= 2
    assert run.removed.count("many") == made + 1
    closed = [event for event in run.events if isinstance(event, JobClosed) and event.outcome == "canceled"]
    assert len(closed) == made
    with pytest.raises(NotFound):
        run.send(CompleteJob(job))
    assert run.complete("after").ended


def test_what_interrupts_much_leads_to_the_same_end_on_every_store(world):
    """Scenario 80."""
    run = grown(world, interrupted_task())
    world.advance(HOUR)
    assert run.active == ["after"]
    assert run.complete("after").ended


class Bare:
    """One instance, one step at a time: for what is too large to be checked after each of them."""

    def __init__(self, builder):
        (self.definition,) = compile_resource(builder.xml()).definitions
        self.keys = Keys(range(2, 1 << 40))
        self.state = None
        self.goes_on = False

    def step(self, command, now=DAY_ONE):
        decision = decide(self.definition, self.state, command, now=now, keys=self.keys)
        assert len(decision.events) < STEP_EVENTS_MAX + 500
        self.state = decision.state
        self.goes_on = any(isinstance(asked, Send) and asked.instance == 1 for asked in decision.follow_ups)

    def settle(self):
        steps = 0
        while self.goes_on:
            self.step(Continue(), DAY_ONE + HOUR)
            steps += 1
        check(self.definition, self.state)
        return steps

    @property
    def active(self):
        return {self.definition.elements[node.element].id for node in self.state.nodes.values()}


HUNDRED_THOUSAND = multi_instance("=for i in 1..100000 return i", element="item")


@pytest.mark.parametrize("how", ["boundary event", "cancel", "cancel half way"])
def test_a_hundred_thousand_inner_instances_are_made_and_removed_in_bounded_steps(how):
    """Scenario 80."""
    builder = process("p").start().service("many", loop=HUNDRED_THOUSAND).end()
    bare = Bare(builder.boundary("late", on="many", timer="PT1H").service("after").end("e2"))
    bare.step(StartInstance(1))
    if how == "cancel half way":
        for _ in range(70):
            bare.step(Continue())
        assert 40_000 < len(bare.state.jobs) < 60_000
    else:
        assert bare.settle() > 100
        assert len(bare.state.jobs) == 100_000
    timer = next(iter(bare.state.waits))
    bare.step(FireTimer(timer) if how == "boundary event" else Cancel(), DAY_ONE + HOUR)
    assert bare.settle() > 40
    if how == "boundary event":
        assert bare.active == {"p", "after"}
    else:
        assert bare.state.status == Status.TERMINATED


@pytest.mark.stored(reason="it is about what is stored")
def test_a_stop_while_much_is_removed_loses_nothing(world):
    """Scenarios 80 and 117: another process goes on where it stood."""
    run = grown(world, interrupted_task())
    with world.held():
        run.fire("late")
        assert run.node("many").phase == Phase.TERMINATING
        world.restart()
    assert run.active == ["after"]
    assert run.complete("after").ended


@pure
def test_an_event_sub_process_starts_when_its_scope_is_empty(world):
    """And the variables of its message are kept until then."""
    builder = (
        process("p")
        .start()
        .service("many", loop=MANY)
        .end()
        .event_sub_process("stop")
        .start("s", message="m", key="=1")
        .service("clean")
        .end("e2")
        .done()
    )
    run = grown(world, builder)
    with world.held():
        run.trigger("s", {"why": "too many"})
        assert run.waiting_for() == []
        in_steps(world, run, lambda: run.working == ["clean"])
        world.queue.clear()
    assert run.local("stop") == {"why": "too many"}
    assert run.complete("clean").ended


@pure
def test_a_terminate_end_event_leaves_when_its_scope_is_empty(world):
    """The scope completes then, and its parent goes on."""
    builder = (
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .parallel("fork")
        .service("many", loop=MANY)
        .end("e1")
        .at("fork")
        .user("stop")
        .end("terminate", terminate=True)
        .done()
        .service("after")
        .end()
    )
    run = grown(world, builder)
    with world.held():
        run.complete("stop")
        in_steps(world, run, lambda: run.active == ["after"])
        world.queue.clear()
    assert run.complete("after").ended


@pure
def test_enough_of_a_loop_removes_the_rest_in_steps(world):
    """The completion condition holds after two; results come in the order of the items."""
    loop = multi_instance(
        "=for i in 1..3000 return i",
        element="item",
        output="results",
        result="=item",
        until="=numberOfCompletedInstances = 2",
    )
    run = grown(world, process("p").start().service("many", loop=loop).service("after").end())
    jobs = list(run.jobs)
    run.send(CompleteJob(jobs[1]))
    with world.held():
        run.send(CompleteJob(jobs[0]))
        assert run.active != ["after"]
        in_steps(world, run, lambda: run.active == ["after"])
        world.queue.clear()
    assert run.variables["results"][:3] == [1, 2, None]
    assert len(run.variables["results"]) == 3_000


@pure
def test_a_cancelled_transaction_compensates_when_all_within_is_gone(world):
    """What completed is compensated after what was active has gone."""
    builder = (
        process("p")
        .start()
        .transaction("t")
        .start("t1")
        .service("book")
        .compensation("unbook", on="book", type="unbook")
        .at("book")
        .parallel("fork")
        .service("many", loop=MANY)
        .end("e1")
        .at("fork")
        .user("stop")
        .end("cancel", cancel=True)
        .done()
        .end()
        .boundary("cancelled", on="t", cancel=True)
        .service("after")
        .end("e2")
    )
    run = grown(world, builder)
    run.complete("book")
    with world.held():
        run.complete("stop")
        in_steps(world, run, lambda: "unbook" in run.active)
        world.queue.clear()
    assert run.complete("unbook").active == ["after"]


@pure
def test_a_second_interruption_further_out_wins(world):
    """What was to follow within a scope that goes itself never follows."""
    builder = (
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .service("many", loop=MANY)
        .end("e1")
        .boundary("inner", on="many", timer="PT1H")
        .service("never")
        .end("e2")
        .done()
        .end()
        .boundary("outer", on="s", message="m", key="=1")
        .service("after")
        .end("e3")
    )
    run = grown(world, builder)
    with world.held():
        run.fire("inner")
        run.trigger("outer")
        in_steps(world, run, lambda: run.active == ["after"])
        world.queue.clear()
    assert run.count("never") == 0
    assert run.complete("after").ended


@pure
def test_other_branches_go_on_while_much_is_removed(world):
    """Only what goes stands still."""
    builder = (
        process("p")
        .start()
        .parallel("fork")
        .service("many", loop=MANY)
        .end()
        .boundary("late", on="many", timer="PT1H")
        .end("e2")
        .at("fork")
        .service("one")
        .service("two")
        .end("e3")
    )
    run = grown(world, builder)
    with world.held():
        run.fire("late")
        run.complete("one")
        in_steps(world, run, lambda: run.active == ["two"])
        world.queue.clear()
    assert run.complete("two").ended


@pure
def test_a_suspended_instance_removes_the_rest_when_it_is_resumed(world):
    """An error may interrupt while an instance is suspended."""
    builder = (
        process("p")
        .start()
        .service("many", loop=MANY)
        .end()
        .boundary("broken", on="many", error="X")
        .service("after")
        .end("e2")
    )
    run = grown(world, builder)
    with world.held():
        run.suspend()
        run.throw("many", "X")
        run.decide(Continue())
        assert run.last == []
        run.resume()
        in_steps(world, run, lambda: run.active == ["after"])
        world.queue.clear()


@pure
def test_a_suspended_instance_is_cancelled_in_steps_to_its_end(world):
    """Scenario 119."""
    run = grown(world, interrupted_task())
    run.suspend()
    run.cancel()
    assert run.terminated


@pure
def test_a_modification_takes_much_away_in_steps(world):
    """Scenario 121."""
    builder = process("p").start().service("many", loop=MANY).service("after").end()
    run = grown(world, builder)
    with world.held():
        run.modify(move={"many": "after"})
        assert run.node("many").phase == Phase.TERMINATING
        with pytest.raises(NotFound):
            run.modify(move={"many": "after"})
        with pytest.raises(Conflict, match="being taken away"):
            run.migrate(run.definition)
        in_steps(world, run, lambda: run.active == ["after"])
        world.queue.clear()
    assert run.complete("after").ended


def test_a_modification_that_takes_much_away_comes_to_its_end_on_every_store(world):
    """Scenario 121."""
    run = grown(world, process("p").start().service("many", loop=MANY).service("after").end())
    run.modify(move={"many": "after"})
    assert run.active == ["after"]
