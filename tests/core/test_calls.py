"""Stories of call activities."""

from __future__ import annotations

import pytest

from procession.core.state import IncidentKind
from procession.errors import Conflict
from procession.limits import CALL_DEPTH_MAX
from procession.testing.bpmn import process


def child(task: str = "a", version_tag: str = ""):
    return process("child", version_tag=version_tag).start().service(task).end()


def test_a_binding_is_resolved_when_the_call_begins(world):
    """Scenario 68."""
    world.deploy(
        process("p")
        .start()
        .service("wait")
        .parallel("fork")
        .call("newest", process="child")
        .end()
        .at("fork")
        .call("deployed", process="child", binding="deployment")
        .end("e2")
        .at("fork")
        .call("tagged", process="child", binding="versionTag", version_tag="v1")
        .end("e3"),
        child("one", "v1"),
    )
    run = world.start("p")
    world.deploy(child("two", "v2"))
    run.complete("wait")
    assert run.called("newest").active == ["two"]
    assert run.called("deployed").active == ["one"]
    assert run.called("tagged").active == ["one"]


def test_a_missing_process_asks_and_goes_on_when_it_is_there(world):
    """Scenario 69."""
    world.deploy(process("p").start().call("call", process="child").end())
    run = world.start("p")
    (incident,) = run.incidents
    assert incident.kind == IncidentKind.CALLED_ELEMENT_ERROR
    assert "'child'" in incident.message
    world.deploy(child())
    run.resolve()
    run.called("call").complete("a")
    assert run.ended


def test_a_called_process_gets_and_gives_only_what_is_mapped(world):
    """Scenario 70."""
    world.deploy(
        process("p")
        .start()
        .call(
            "call",
            process="child",
            propagate_parent=False,
            propagate_child=False,
            inputs={"x": "=total + 1"},
            outputs={"result": "=y"},
        )
        .service("after")
        .end(),
        child(),
    )
    run = world.start("p", {"total": 1, "secret": True})
    called = run.called("call")
    assert called.variables == {"x": 2}
    called.complete("a", {"y": 3, "z": 4})
    assert run.variables == {"total": 1, "secret": True, "result": 3}


def test_all_variables_pass_both_ways_by_default(world):
    """Scenario 70."""
    world.deploy(process("p").start().call("call", process="child").service("after").end(), child())
    run = world.start("p", {"total": 1})
    assert run.called("call").variables == {"total": 1}
    run.called("call").complete("a", {"y": 3})
    assert run.variables == {"total": 1, "y": 3}


def test_a_called_process_may_give_nothing_back(world):
    """Scenario 70."""
    world.deploy(
        process("p").start().call("call", process="child", propagate_child=False).service("after").end(), child()
    )
    run = world.start("p", {"total": 1})
    run.called("call").complete("a", {"y": 3})
    assert run.variables == {"total": 1}


def test_cancelling_the_caller_cancels_the_called_and_not_the_other_way_round(world):
    """Scenarios 71 and 119."""
    world.deploy(process("p").start().call("call", process="child").end(), child())
    run = world.start("p")
    called = run.called("call")
    with pytest.raises(Conflict, match="was called by instance"):
        called.cancel()
    run.cancel()
    assert run.terminated
    assert called.terminated
    assert not called.now_state.jobs


def test_an_interrupted_call_hands_nothing_over(world):
    """Scenario 72."""
    world.deploy(
        process("p")
        .start()
        .call("call", process="child")
        .end()
        .boundary("late", on="call", timer="PT1H")
        .service("after")
        .end("e2"),
        process("child").start().service("a").service("b").end(),
    )
    run = world.start("p")
    run.called("call").complete("a", {"y": 3})
    world.advance(3_600_000)
    assert run.active == ["after"]
    assert run.variables == {}


def test_a_process_that_calls_itself_without_end_stops_at_a_limit(world):
    """Scenario 73."""
    world.deploy(process("p").start().call("call", process="p").end())
    world.start("p")
    deepest = max(world.instances.values(), key=lambda run: run.now_state.depth)
    assert len(world.instances) == CALL_DEPTH_MAX + 1
    assert deepest.incidents[0].kind == IncidentKind.CALL_DEPTH_EXCEEDED
    assert "CALL_DEPTH_MAX" in deepest.incidents[0].message


def test_the_process_to_call_may_be_an_expression(world):
    """The process id is evaluated when the call begins."""
    world.deploy(process("p").start().call("call", process="=which").end(), child())
    assert world.start("p", {"which": "child"}).called("call").active == ["a"]
    assert world.start("p").incidents[0].kind == IncidentKind.EXTRACT_VALUE_ERROR


def test_camunda_7_passes_all_variables_or_only_those_of_the_call_itself(world):
    """``camunda:in variables="all"``, and the same with ``local="true"``."""
    own = '<camunda:inputParameter name="own">1</camunda:inputParameter>'
    for name, attributes in (("all", ""), ("own", ' local="true"')):
        passed = f'<camunda:inputOutput>{own}</camunda:inputOutput><camunda:in variables="all"{attributes} />'
        content = process(name).start().call("call", process="inner", extensions=passed).end().text()
        called = '<zeebe:calledElement processId="inner" />'
        assert called in content
        content = content.replace(called, "").replace('id="call"', 'id="call" calledElement="inner"')
        world.deploy(content.encode())
    world.deploy(process("inner").start().service("work").end())
    world.start("all", {"x": 5})
    world.start("own", {"x": 5})
    first, second = world.runs("inner")
    assert first.variables == {"x": 5, "own": "1"}
    assert second.variables == {"own": "1"}
