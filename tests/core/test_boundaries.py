"""Stories of boundary events, intermediate events and timers within an instance."""

from __future__ import annotations

import pytest

from procession.core.commands import CompleteUserTask
from procession.core.state import IncidentKind
from procession.errors import InvalidModel, NotFound
from procession.testing.bpmn import process

SECOND = 1_000
HOUR = 3_600_000


def test_an_interrupting_timer_takes_the_task_away(world):
    """Scenario 29."""
    world.deploy(
        process("p")
        .start()
        .user("approve")
        .end()
        .boundary("late", on="approve", timer="PT1H")
        .service("remind")
        .end("e2")
    )
    run = world.start("p")
    task = run.node("approve").user_task
    world.advance(HOUR)
    assert run.active == ["remind"]
    with pytest.raises(NotFound):
        run.send(CompleteUserTask(task))
    world.advance(HOUR)
    assert run.count("late") == 1
    assert run.complete("remind").ended


def cycle_on_a_task():
    return (
        process("p")
        .start()
        .service("work")
        .end()
        .boundary("tick", on="work", cycle="R3/PT10S", interrupting=False)
        .service("note")
        .end("e2")
    )


def test_a_non_interrupting_cycle_gives_a_token_each_time(world):
    """Scenario 30."""
    world.deploy(cycle_on_a_task())
    run = world.start("p")
    for times in (1, 2, 3):
        world.advance(10 * SECOND)
        assert run.active == sorted(["work", *["note"] * times])
    world.advance(HOUR)
    assert run.count("tick") == 3
    run.complete("work").complete("note").complete("note").complete("note")
    assert run.ended


def test_a_cycle_ends_with_its_activity(world):
    """Scenario 30."""
    world.deploy(cycle_on_a_task())
    run = world.start("p")
    world.advance(15 * SECOND)
    run.complete("work")
    world.advance(HOUR)
    assert run.count("tick") == 1
    assert run.complete("note").ended


def test_a_boundary_event_removes_everything_within_its_sub_process_and_what_it_called(world):
    """Scenario 31."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .parallel("fork")
        .call("call", process="child")
        .end("e1")
        .at("fork")
        .user("form")
        .end("e2")
        .at("fork")
        .catch("wait", message="m", key="=1")
        .end("e3")
        .done()
        .end()
        .boundary("stop", on="s", message="stop", key="=1")
        .service("clean")
        .end("e4"),
        process("child").start().service("deep").end(),
    )
    run = world.start("p")
    child = run.called("call")
    world.publish("stop", "1")
    assert run.active == ["clean"]
    assert not run.waits()
    assert child.terminated
    assert child.now_state.parent == run.instance
    assert run.complete("clean").ended


@pytest.mark.parametrize("first", ["message", "end"])
def test_of_a_message_and_the_end_of_a_called_process_one_wins(world, first):
    """Scenario 32."""
    world.deploy(
        process("p")
        .start()
        .call("call", process="child")
        .service("after")
        .end()
        .boundary("stop", on="call", message="stop", key="=1")
        .service("stopped")
        .end("e2"),
        process("child").start().service("deep").end(),
    )
    run = world.start("p")
    child = run.called("call")
    with world.held():
        if first == "message":
            world.publish("stop", "1")
            child.complete("deep")
        else:
            child.complete("deep")
            world.publish("stop", "1")
    assert run.active == (["stopped"] if first == "message" else ["after"])
    run.complete(run.active[0])
    assert run.ended
    assert run.count("after") + run.count("stopped") == 1


def test_both_flows_of_a_boundary_event_are_taken(world):
    """Scenario 33."""
    world.deploy(
        process("p")
        .start()
        .service("a")
        .end()
        .boundary("late", on="a", timer="PT1H")
        .service("x")
        .end("e2")
        .at("late")
        .service("y")
        .end("e3")
    )
    run = world.start("p")
    world.advance(HOUR)
    assert run.active == ["x", "y"]


def test_a_link_goes_on_at_its_target(world):
    """Scenario 44."""
    world.deploy(process("p").start().throw("away", link="A").catch("here", link="A").service("a").end())
    run = world.start("p")
    assert run.active == ["a"]
    assert run.passed == ["start", "away", "here", "a"]
    assert run.complete("a").ended


def test_a_link_to_nowhere_is_refused(world):
    """Scenario 44."""
    with pytest.raises(InvalidModel, match="'A'"):
        world.deploy(process("p").start().throw("away", link="A"))


def test_an_intermediate_throw_without_trigger_passes(world):
    """Scenario 45."""
    world.deploy(process("p").start().throw("milestone").end())
    assert world.start("p").ended


def test_a_multiple_catch_goes_on_with_the_first_event(world):
    """Scenario 46."""
    world.deploy(process("p").start().catch("either", message="m", key="=1", signal="s").service("a").end())
    run = world.start("p")
    world.broadcast("s")
    assert run.active == ["a"]
    assert not run.waits()


def test_a_parallel_multiple_catch_needs_all_events(world):
    """Scenario 46."""
    world.deploy(
        process("p").start().catch("both", message="m", key="=1", signal="s", parallel_multiple=True).service("a").end()
    )
    run = world.start("p")
    world.broadcast("s", {"x": 1})
    assert run.active == ["both"]
    world.publish("m", "1", {"y": 2})
    assert run.active == ["a"]
    assert run.variables == {"x": 1, "y": 2}


def test_a_non_interrupting_parallel_multiple_boundary_needs_all_events_each_time(world):
    """Scenario 46."""
    world.deploy(
        process("p")
        .start()
        .service("work")
        .end()
        .boundary("both", on="work", message="m", key="=1", signal="s", parallel_multiple=True, interrupting=False)
        .service("note")
        .end("e2")
    )
    run = world.start("p")
    world.broadcast("s")
    world.broadcast("s")
    assert run.active == ["work"]
    world.publish("m", "1")
    assert run.active == ["note", "work"]
    world.publish("m", "1")
    assert run.active == ["note", "work"]
    world.broadcast("s")
    assert run.active == ["note", "note", "work"]


def test_a_multiple_throw_throws_all(world):
    """Scenario 46. In order; but a signal and a message reach others each by a job of its own, whichever is quicker."""
    world.deploy(
        process("p").start().throw("tell", signal="s", message="m", key="=1").end(),
        process("heard signal").start(signal="s").service("x").end(),
        process("heard message").start(message="m").service("y").end(),
    )
    run = world.start("p")
    assert run.ended
    found = [instance.definition.process_id for instance in world.instances.values()]
    assert sorted(found) == ["heard message", "heard signal", "p"]


@pytest.mark.parametrize("timer", ["PT0S", "-PT1H", "2020-01-01T00:00:00Z"])
def test_a_timer_of_the_past_fires_at_once(world, timer):
    """Scenario 87."""
    options = {"date": timer} if timer[0] == "2" else {"timer": timer}
    world.deploy(process("p").start().catch("wait", **options).service("a").end())
    run = world.start("p")
    world.advance(0)
    assert run.active == ["a"]


def test_a_timer_does_not_fire_early(world):
    """Scenario 87."""
    world.deploy(process("p").start().catch("wait", timer="PT10S").service("a").end())
    run = world.start("p")
    world.advance(9_999)
    assert run.active == ["wait"]
    world.advance(1)
    assert run.active == ["a"]


def test_a_duration_that_is_none_asks_at_its_element(world):
    """Scenario 92."""
    world.deploy(process("p").start().service("a").end().boundary("late", on="a", timer="=wait").end("e2"))
    run = world.start("p", {"wait": "soon"})
    (incident,) = run.incidents
    assert incident.kind == IncidentKind.EXTRACT_VALUE_ERROR
    assert "'late'" in incident.message
    assert run.active == ["a"]
    run.set(wait="PT1H").resolve()
    assert run.working == ["a"]
    world.advance(HOUR)
    assert run.ended


def test_a_boundary_event_fires_on_an_activity_with_an_incident(world):
    """The activity is interrupted with its problem."""
    world.deploy(process("p").start().service("a").end().boundary("late", on="a", timer="PT1H").service("b").end("e2"))
    run = world.start("p").fail("a")
    world.advance(HOUR)
    assert run.active == ["b"]
    assert not run.incidents
