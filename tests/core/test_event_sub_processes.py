"""Stories of event sub-processes and terminate end events."""

from __future__ import annotations

from procession.core.state import IncidentKind
from procession.testing.bpmn import multi_instance, process

HOUR = 3_600_000


def with_stop():
    """Tokens at a task, at a parallel join and at an inclusive join; an interrupting event sub-process on 'stop'."""
    return (
        process("p")
        .start()
        .parallel("fork")
        .service("a")
        .parallel("join")
        .end()
        .at("fork")
        .service("b")
        .to("join")
        .at("fork")
        .service("c")
        .inclusive("or join")
        .end("e2")
        .at("fork")
        .service("d")
        .to("or join")
        .event_sub_process("stopped")
        .start("on stop", message="stop", key="=1")
        .service("clean up")
        .end("e3")
        .done()
    )


def test_an_interrupting_event_sub_process_removes_all_other_tokens_even_those_before_joins(world):
    """Scenario 34."""
    world.deploy(with_stop())
    run = world.start("p").complete("a").complete("c")
    assert run.parked() == {"a_join": 1, "c_or join": 1}
    world.publish("stop", "1", {"why": "no stock"})
    assert run.active == ["clean up", "stopped"]
    assert run.parked() == {}
    assert run.local("stopped") == {"why": "no stock"}
    assert run.complete("clean up").ended


def test_a_second_interrupting_event_sub_process_is_not_started(world):
    """Scenario 35."""
    world.deploy(with_stop().event_sub_process("other").start("on other", signal="other").service("x").end("e4").done())
    run = world.start("p")
    world.publish("stop", "1")
    world.broadcast("other")
    world.publish("stop", "1")
    assert run.active == ["clean up", "stopped"]


def errors_in_a_handler():
    return (
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .service("a")
        .end("e1")
        .event_sub_process("on X")
        .start("x", error="X")
        .service("repair")
        .end("e2", error="Y")
        .done()
        .event_sub_process("on Y")
        .start("y", error="Y")
        .service("never")
        .end("e3")
        .done()
        .done()
        .end()
    )


def test_an_error_within_an_event_sub_process_is_not_caught_by_its_sibling(world):
    """Scenario 36."""
    world.deploy(errors_in_a_handler().boundary("failed", on="s", error="Y").service("outside").end("e4"))
    run = world.start("p").throw("a", "X").complete("repair")
    assert run.active == ["outside"]
    assert run.count("never") == 0


def test_an_error_that_nobody_outside_catches_is_an_incident(world):
    """Scenario 36."""
    world.deploy(errors_in_a_handler())
    run = world.start("p").throw("a", "X").complete("repair")
    assert run.incidents[0].kind == IncidentKind.UNHANDLED_ERROR_EVENT
    assert run.active == ["e2", "on X", "s"]


def with_notes():
    return (
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .service("work")
        .end("e1")
        .event_sub_process("note")
        .start("on note", message="note", key="=1", interrupting=False)
        .service("write")
        .end("e2")
        .done()
        .event_sub_process("stop")
        .start("on stop", message="stop", key="=1")
        .service("clean")
        .end("e3")
        .done()
        .done()
        .service("after")
        .end()
    )


def test_a_non_interrupting_event_sub_process_runs_once_per_message(world):
    """Scenario 37."""
    world.deploy(with_notes())
    run = world.start("p")
    for number in (1, 2, 3):
        world.publish("note", "1", {"number": number})
    assert run.active == ["note", "note", "note", "s", "work", "write", "write", "write"]
    locals_ = [node.variables for node in run.now_state.nodes.values() if node.variables]
    assert locals_ == [{"number": 1}, {"number": 2}, {"number": 3}]
    run.complete("work").complete("write").complete("write")
    assert run.active == ["note", "s", "write"]
    run.complete("write")
    assert run.active == ["after"]


def test_an_interrupting_event_sub_process_ends_the_non_interrupting_ones(world):
    """Scenario 38."""
    world.deploy(with_notes())
    run = world.start("p")
    world.publish("note", "1")
    world.publish("stop", "1")
    assert run.active == ["clean", "s", "stop"]
    assert run.complete("clean").active == ["after"]


def test_a_boundary_event_works_while_an_event_sub_process_runs(world):
    """Scenario 39."""
    world.deploy(with_notes().boundary("late", on="s", timer="PT1H").service("escalate").end("e4"))
    run = world.start("p")
    world.publish("stop", "1")
    world.advance(HOUR)
    assert run.active == ["escalate"]
    assert run.complete("escalate").ended


def test_a_start_timer_of_an_event_sub_process_counts_from_its_scope(world):
    """Scenario 40."""
    world.deploy(
        process("p")
        .start()
        .service("before")
        .sub_process("s")
        .start("s1")
        .service("work")
        .end("e1")
        .event_sub_process("late")
        .start("after an hour", timer="PT1H")
        .service("hurry")
        .end("e2")
        .done()
        .done()
        .end()
    )
    world.advance(HOUR)
    run = world.start("p")
    world.advance(HOUR)
    run.complete("before")
    world.advance(HOUR - 1)
    assert run.active == ["s", "work"]
    world.advance(1)
    assert run.active == ["hurry", "late", "s"]


def test_terminate_ends_its_sub_process_only(world):
    """Scenario 41."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .parallel("fork")
        .service("a")
        .end("stop", terminate=True)
        .at("fork")
        .service("b")
        .end("e1")
        .done()
        .service("after")
        .end()
        .boundary("failed", on="s", error="")
        .end("e2")
    )
    run = world.start("p").complete("a")
    assert run.active == ["after"]
    assert run.count("failed") == 0
    assert run.complete("after").ended


def test_terminate_ends_a_called_process_and_its_caller_goes_on(world):
    """Scenario 42."""
    world.deploy(
        process("p").start().call("call", process="child").service("after").end(),
        process("child")
        .start()
        .parallel("fork")
        .service("a")
        .end("stop", terminate=True)
        .at("fork")
        .service("b")
        .end(),
    )
    run = world.start("p")
    child = run.called("call").complete("a")
    assert child.ended
    assert run.active == ["after"]


def test_terminate_ends_one_inner_instance_only(world):
    """Scenario 42."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s", loop=multi_instance("=[1, 2]", element="item"))
        .start("s1")
        .parallel("fork")
        .service("a")
        .end("stop", terminate=True)
        .at("fork")
        .service("b")
        .end("e1")
        .done()
        .service("after")
        .end()
    )
    run = world.start("p").complete("a")
    assert run.active == ["a", "b", "s", "s"]
    run.complete("a")
    assert run.active == ["after"]


def test_terminate_does_not_compensate(world):
    """Scenario 43."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .service("book")
        .compensation("cancel booking", on="book", type="x")
        .end("stop", terminate=True)
        .done()
        .service("after")
        .end()
    )
    run = world.start("p").complete("book")
    assert run.active == ["after"]
    assert run.count("cancel booking") == 0
