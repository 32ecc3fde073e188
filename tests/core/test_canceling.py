"""Stories of a user task's canceling listeners: they are told before it goes, whatever takes it away."""

from __future__ import annotations

import pytest

from procession.core.commands import (
    CompleteJob,
    CompleteUserTask,
    FailJob,
    ResolveIncident,
    ThrowError,
    UpdateUserTask,
)
from procession.core.events import Terminated, UserTaskClosed
from procession.core.state import IncidentKind
from procession.errors import Conflict, InvalidValue, NotFound
from procession.jobs.kinds import JobKind
from procession.testing.bpmn import multi_instance, process

HOUR = 3_600_000
CANCELING = (
    '<zeebe:taskListeners><zeebe:taskListener eventType="canceling" type="{}" />'
    '<zeebe:taskListener eventType="canceling" type="second" />'
    '<zeebe:taskListener eventType="completing" type="check" /></zeebe:taskListeners>'
)


def with_listener(type_="tell"):
    return (
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .parallel("fork")
        .user("approve", extensions=CANCELING.format(type_))
        .end("e1")
        .at("fork")
        .service("other")
        .end("e2")
        .done()
        .end()
        .boundary("late", on="s", timer="PT1H")
        .service("after")
        .end("e3")
    )


def listener_job(run):
    (key,) = [key for key, made in run.jobs.items() if made.kind == JobKind.LISTENER]
    return key


def tell_all(run):
    for kind in ("tell", "second"):
        assert run.job("approve").type == kind
        run.send(CompleteJob(listener_job(run)))


def test_canceling_listeners_are_told_in_order_before_a_user_task_goes(world):
    """The interruption is complete only then; what else is interrupted goes at once."""
    world.deploy(with_listener())
    run = world.start("p")
    task = run.node("approve").user_task
    world.advance(HOUR)
    assert run.active == ["approve", "s"]
    assert run.job("approve").type == "tell"
    for command in (CompleteUserTask(task), UpdateUserTask(task, {"assignee": "maria"}, "assign")):
        with pytest.raises(Conflict, match="being taken away"):
            run.send(command)
    run.send(CompleteJob(listener_job(run), {"seen": 1}, corrections={"priority": 1}))
    assert run.job("approve").type == "second"
    run.send(CompleteJob(listener_job(run), denied=True))  # it cannot be denied
    assert run.active == ["after"]
    assert [event.outcome for event in run.events if isinstance(event, UserTaskClosed)] == ["canceled"]
    assert "seen" not in run.variables
    assert run.complete("after").ended


def test_a_canceling_listener_that_fails_asks_and_goes_on_when_it_is_resolved(world):
    """An incident, and nothing that could be resolved otherwise."""
    world.deploy(with_listener())
    run = world.start("p")
    world.advance(HOUR)
    job = listener_job(run)
    with pytest.raises(InvalidValue, match="cannot throw"):
        run.send(ThrowError(job, "X"))
    run.send(FailJob(job, "no connection"))
    assert run.incidents[0].kind == IncidentKind.LISTENER_NO_RETRIES
    tell_all(run.resolve())
    assert run.active == ["after"]


def test_a_canceling_listener_without_a_type_asks_at_the_user_task(world):
    """The expression of its type is corrected, and it is ordered anew."""
    world.deploy(with_listener("=kind"))
    run = world.start("p")
    world.advance(HOUR)
    assert run.incidents[0].kind == IncidentKind.EXTRACT_VALUE_ERROR
    run.set(kind="tell").resolve()
    assert run.job("approve").type == "tell"
    tell_all(run)
    assert run.active == ["after"]


def test_cancelling_an_instance_waits_for_its_canceling_listeners(world):
    """Scenario 119: the whole tree ends, once they know."""
    world.deploy(with_listener())
    run = world.start("p")
    run.cancel()
    assert not run.terminated
    assert run.active == ["approve", "s"]
    with pytest.raises(Conflict, match="cancelled already"):
        run.cancel()
    tell_all(run)
    assert run.terminated


def test_a_listener_under_way_gives_way_to_the_canceling_ones(world):
    """Whether the task may be completed does not matter any more."""
    world.deploy(with_listener())
    run = world.start("p").complete("approve", {"ok": True})
    assert run.job("approve").type == "check"
    world.advance(HOUR)
    assert run.job("approve").type == "tell"
    tell_all(run)
    assert run.active == ["after"]
    assert "ok" not in run.variables


def test_a_boundary_event_of_the_user_task_itself_waits_for_its_listeners(world):
    """Scenario 29."""
    world.deploy(
        process("p")
        .start()
        .user("approve", extensions=CANCELING.format("tell"))
        .end()
        .boundary("late", on="approve", timer="PT1H")
        .service("after")
        .end("e2")
    )
    run = world.start("p")
    world.advance(HOUR)
    assert run.waiting_for() == []
    tell_all(run)
    assert run.active == ["after"]


def test_an_outer_interruption_waits_for_the_listeners_that_an_inner_one_has_asked(world):
    """They are asked once."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .user("approve", extensions=CANCELING.format("tell"))
        .end("e1")
        .boundary("inner", on="approve", timer="PT1H")
        .service("never")
        .end("e2")
        .done()
        .end()
        .boundary("outer", on="s", message="m", key="=1")
        .service("after")
        .end("e3")
    )
    run = world.start("p")
    world.advance(HOUR)
    assert world.publish("m", "1")
    assert run.active == ["approve", "s"]
    tell_all(run)
    assert run.active == ["after"]
    assert run.count("never") == 0


def test_many_user_tasks_are_told_and_go_one_after_the_other(world):
    """The activity is gone with the last of them."""
    loop = multi_instance("=for i in 1..20 return i", element="item")
    world.deploy(
        process("p")
        .start()
        .user("approve", loop=loop, listeners={"canceling": "tell"})
        .end()
        .boundary("late", on="approve", timer="PT1H")
        .service("after")
        .end("e2")
    )
    run = world.start("p")
    world.advance(HOUR)
    told = [key for key, made in run.jobs.items() if made.kind == JobKind.LISTENER]
    assert len(told) == 20
    for number, key in enumerate(told, 1):
        run.send(CompleteJob(key))
        assert ("after" in run.active) == (number == 20)
    assert sum(isinstance(event, Terminated) for event in run.events) == 21


def test_an_instance_that_waits_for_canceling_listeners_is_not_resolved_elsewhere(world):
    """Other incidents within what goes are over."""
    world.deploy(with_listener())
    run = world.start("p").fail("other")
    incident = run.incidents[0].key
    world.advance(HOUR)
    with pytest.raises(NotFound):
        run.send(ResolveIncident(incident, 1))
