"""Stories of jobs, incidents, suspension, cancelling, listeners and the boundaries of transactions."""

from __future__ import annotations

import pytest

from procession.core.commands import CompleteJob, Continue, FireTimer, UpdateUserTask
from procession.core.events import JobRevived, UserTaskClosed, UserTaskCreated, UserTaskUpdated
from procession.core.state import IncidentKind
from procession.errors import Conflict, NotFound
from procession.jobs.kinds import JobKind
from procession.testing.bpmn import process
from procession.testing.core import DAY_ONE

MINUTE = 60_000
HOUR = 3_600_000


def test_a_job_without_retries_is_resolved_with_new_ones_only(world):
    """Scenario 114."""
    world.deploy(process("p").start().service("a").end())
    run = world.start("p").fail("a", "no connection")
    (incident,) = run.incidents
    assert incident.kind == IncidentKind.JOB_NO_RETRIES
    assert "no connection" in incident.message
    with pytest.raises(Conflict, match="retries"):
        run.resolve(retries=0)
    run.resolve(retries=2)
    assert [event.retries for event in run.events if isinstance(event, JobRevived)] == [2]
    assert run.complete("a").ended


def test_a_job_is_completed_once(world):
    """Scenario 113: after another completion it is not found."""
    world.deploy(process("p").start().service("a").service("b").end())
    run = world.start("p")
    job = next(iter(run.jobs))
    run.send(CompleteJob(job))
    with pytest.raises(NotFound, match=str(job)):
        run.send(CompleteJob(job))
    assert run.active == ["b"]


def test_a_suspended_instance_keeps_results_and_goes_on_when_resumed(world):
    """Scenario 118."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("a")
        .service("b")
        .end()
        .at("fork")
        .catch("wait", timer="PT1H")
        .end("e2")
        .at("fork")
        .catch("m", message="m", key="=1")
        .service("c")
        .end("e3")
    )
    run = world.start("p")
    timer = next(wait.key for _, wait in run.waits() if wait.due)
    run.suspend()
    run.complete("a", {"x": 1})
    assert run.variables == {"x": 1}
    assert run.active == ["m", "wait"]
    world.advance(HOUR)
    with pytest.raises(Conflict, match="suspended"):
        run.send(FireTimer(timer))
    world.publish("m", "1", ttl_ms=HOUR)
    assert run.active == ["m", "wait"]
    run.resume()
    world.advance(5 * MINUTE)  # a store offers the message again now and then, not at once
    assert run.active == ["b", "c"]


def test_a_suspended_instance_can_be_cancelled(world):
    """Scenarios 118 and 119."""
    world.deploy(process("p").start().service("a").end())
    run = world.start("p").suspend()
    with pytest.raises(Conflict):
        run.suspend()
    run.cancel()
    assert run.terminated


def test_cancelling_ends_everything(world):
    """Scenario 119."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .user("a")
        .end()
        .at("fork")
        .sub_process("s")
        .start("s1")
        .service("b")
        .end("e1")
        .done()
        .end("e2")
        .at("fork")
        .catch("t", timer="PT1H")
        .end("e3")
    )
    run = world.start("p").fail("b")
    run.cancel()
    assert run.terminated
    assert not run.waits()
    assert not run.incidents
    assert [event.outcome for event in run.events if isinstance(event, UserTaskClosed)] == ["canceled"]
    with pytest.raises(Conflict):
        run.cancel()


def test_execution_listeners_hold_the_element_at_its_start_and_end(world):
    """Blocking jobs, in order, before the work and after it."""
    world.deploy(
        process("p")
        .start()
        .service("a", listeners={"start": "prepare", "end": "tidy"}, outputs={"z": "=r"})
        .service("b")
        .end()
    )
    run = world.start("p")
    assert [(made.kind, made.type) for made in run.jobs.values()] == [(JobKind.LISTENER, "prepare")]
    run.complete("a", {"local": 1})
    assert run.local("a") == {"local": 1}
    assert run.job("a").type == "a"
    run.complete("a", {"r": 5})
    assert run.job("a").type == "tidy"
    run.fail("a")
    assert run.incidents[0].kind == IncidentKind.LISTENER_NO_RETRIES
    run.resolve().complete("a", {"done": True})
    assert run.active == ["b"]
    assert run.variables == {"z": 5, "done": True}


def test_listeners_of_gateways_events_and_scopes(world):
    """Elements that usually pass wait for their listeners."""
    world.deploy(
        process("p")
        .start(listeners={"end": "started"})
        .exclusive("x", listeners={"start": "choosing"})
        .sub_process("s", listeners={"end": "leaving"})
        .start("s1")
        .service("a")
        .end("e1")
        .done()
        .end(listeners={"start": "ending"})
    )
    run = world.start("p")
    for element, kind in (("start", "started"), ("x", "choosing"), ("a", "a"), ("s", "leaving"), ("end", "ending")):
        assert run.job(element).type == kind
        run.complete(element)
    assert run.ended


def test_listeners_of_links_and_of_terminate_end_events(world):
    """They are told before the token jumps, and before the scope is emptied and after it."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .throw("jump", link="A", listeners={"start": "jumping", "end": "jumped"})
        .apart()
        .catch("land", link="A")
        .end("stop", terminate=True, listeners={"start": "stopping", "end": "stopped"})
        .at("fork")
        .service("other")
        .end("e2")
    )
    run = world.start("p")
    for element, kind in (("jump", "jumping"), ("jump", "jumped"), ("stop", "stopping")):
        assert run.job(element).type == kind
        assert "other" in run.active
        run.complete(element)
    assert run.active == ["stop"]
    assert run.job("stop").type == "stopped"
    assert run.complete("stop").ended


def test_listeners_of_events_that_have_happened(world):
    """Of a boundary event, and of what stands behind an event-based gateway: both kinds, with the event's variables."""
    both = {"start": "comes", "end": "goes"}
    world.deploy(
        process("p")
        .start()
        .events("choice")
        .catch("m", message="m", key="=1", listeners=both)
        .service("a")
        .end()
        .boundary("late", on="a", timer="PT1H", listeners=both, outputs={"z": "=1"})
        .service("after")
        .end("e3")
        .at("choice")
        .catch("t", timer="PT1H")
        .end("e2")
    )
    run = world.start("p")
    world.publish("m", "1", {"x": 5})
    assert run.job("m").type == "comes"
    assert "x" not in run.variables
    run.fail("m").resolve().complete("m")
    assert run.variables == {"x": 5}
    assert run.job("m").type == "goes"
    run.complete("m")
    world.advance(HOUR)
    for kind in ("comes", "goes"):
        assert run.job("late").type == kind
        run.complete("late")
    assert run.active == ["after"]
    assert run.variables == {"x": 5, "z": 1}


def test_a_start_listener_of_an_event_that_has_happened_is_ordered_again_when_its_type_is_known(world):
    """What the event brought is kept meanwhile."""
    world.deploy(
        process("p")
        .start()
        .service("a")
        .end()
        .boundary("m", on="a", message="m", key="=1", listeners={"start": "=kind"})
        .service("after")
        .end("e2")
    )
    run = world.start("p")
    world.publish("m", "1", {"x": 5})
    assert [incident.kind for incident in run.incidents] == [IncidentKind.EXTRACT_VALUE_ERROR]
    run.set(kind="told").resolve().complete("m")
    assert run.active == ["after"]
    assert run.variables["x"] == 5


TASK_LISTENERS = (
    '<zeebe:taskListeners><zeebe:taskListener eventType="creating" type="check-new" />'
    '<zeebe:taskListener eventType="assigning" type="check-person" />'
    '<zeebe:taskListener eventType="completing" type="check-result" /></zeebe:taskListeners>'
)


def test_task_listeners_agree_correct_or_deny(world):
    """User task listeners: creating, assigning, completing."""
    world.deploy(process("p").start().user("form", extensions=TASK_LISTENERS).service("after").end())
    run = world.start("p")
    assert run.job("form").type == "check-new"
    assert not run.node("form").user_task
    run.send(CompleteJob(next(iter(run.jobs)), corrections={"priority": 70}))
    task = run.node("form").user_task
    assert [event.changes for event in run.events if isinstance(event, UserTaskUpdated)] == [{"priority": 70}]
    run.send(UpdateUserTask(task, {"assignee": "maria"}, "assign"))
    run.send(CompleteJob(next(iter(run.jobs)), denied=True))
    assert run.events[-1].__class__ is not UserTaskUpdated
    run.complete("form", {"ok": True})
    with pytest.raises(Conflict, match="listener"):
        run.complete("form")
    run.send(CompleteJob(next(iter(run.jobs)), denied=True))
    assert run.active == ["form"]
    assert "ok" not in run.variables
    run.complete("form", {"ok": True})
    run.send(CompleteJob(next(iter(run.jobs))))
    assert run.active == ["after"]
    assert run.variables == {"ok": True}


@pytest.mark.pure(reason="it looks between the steps of one command")
def test_an_asynchronous_continuation_is_a_step_of_its_own(world):
    """``asyncBefore`` and ``asyncAfter`` of Camunda 7: what came before is committed."""
    world.deploy(
        process("p")
        .start()
        .script("one", "1", result="x", attributes={"camunda:asyncBefore": "true"})
        .script("two", "x + 1", result="y", attributes={"camunda:asyncAfter": "true"})
        .service("a")
        .end()
    )
    with world.held():
        run = world.start("p")
        assert run.passed == ["start"]
        world.queue.clear()
        run.decide(Continue())
        assert run.passed == ["start", "one", "two"]
        assert run.variables == {"x": 1, "y": 2}
        run.decide(Continue())
        world.queue.clear()
        assert run.active == ["a"]
    with pytest.raises(NotFound):
        run.send(Continue())


def test_an_asynchronous_branch_still_counts_for_an_inclusive_join(world):
    """A token before a boundary of a transaction is a token."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .task("a")
        .inclusive("join")
        .service("after")
        .end()
        .at("fork")
        .script("b", "1", attributes={"camunda:asyncBefore": "true"})
        .to("join")
    )
    run = world.start("p")
    assert run.active == ["after"]
    assert run.count("join") == 1


def test_a_decision_that_is_not_deployed_is_an_incident(world):
    """What evaluates decisions is told in stories of its own."""
    world.deploy(process("p").start().rule("decide", decision="d").end())
    run = world.start("p")
    assert run.incidents[0].kind == IncidentKind.CALLED_DECISION_ERROR


def test_a_due_date_may_be_given_as_the_time_until_then(world):
    """A duration, as Camunda 7 reads it, or a date."""
    schedule = '<zeebe:taskSchedule dueDate="P1D" followUpDate="=&#34;2026-03-01T00:00:00Z&#34;" />'
    world.deploy(process("p").start().user("a", extensions=schedule).end())
    run = world.start("p")
    (task,) = [event for event in run.events if isinstance(event, UserTaskCreated)]
    assert (task.due, task.follow_up) == (run.now + 24 * HOUR, DAY_ONE + 59 * 24 * HOUR)


def test_a_method_is_a_job_of_its_name(world):
    """An undefined task bound to code."""
    world.deploy(process("p").start().task("price").manual("look").end(), methods=("price",))
    run = world.start("p")
    assert (run.job("price").kind, run.job("price").type) == (JobKind.METHOD, "price")
    assert run.complete("price", {"total": 3}).ended
    assert run.passed[-2:] == ["look", "end"]


def test_listeners_of_a_flow_hold_the_token_that_takes_it(world):
    """``take`` listeners of Camunda 7."""
    content = process("p").start().user("a").user("b").end().text().replace("<zeebe:userTask />", "")
    listener = (
        '<bpmn:extensionElements><camunda:executionListener event="take" class="org.example.Audit" />'
        "</bpmn:extensionElements>"
    )
    flow = '<bpmn:sequenceFlow id="a_b" sourceRef="a" targetRef="b" />'
    assert flow in content
    world.deploy(content.replace(flow, flow.replace(" />", f">{listener}</bpmn:sequenceFlow>")).encode())
    run = world.start("p").complete("a")
    assert "a_b" not in run.flows
    assert run.job("a").kind == JobKind.LISTENER
    run.complete("a")
    assert run.active == ["b"]
    assert run.flows == ["start_a", "a_b"]
