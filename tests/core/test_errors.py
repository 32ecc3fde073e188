"""Stories of errors and escalations: who catches, what is interrupted, what stays."""

from __future__ import annotations

from procession.core.state import IncidentKind
from procession.testing.bpmn import multi_instance, process


def test_a_specific_code_is_caught_before_a_catch_all(world):
    """Scenario 47."""
    world.deploy(
        process("p")
        .start()
        .service("a")
        .end()
        .boundary("any", on="a", error="")
        .service("x")
        .end("e2")
        .boundary("X", on="a", error="X")
        .service("y")
        .end("e3")
    )
    assert world.start("p").throw("a", "X").active == ["y"]
    assert world.start("p").throw("a", "Z").active == ["x"]


def test_the_nearest_scope_with_any_match_catches(world):
    """Scenario 48."""
    world.deploy(
        process("p")
        .start()
        .sub_process("outer")
        .start("s1")
        .sub_process("middle")
        .start("s2")
        .sub_process("inner")
        .start("s3")
        .service("a")
        .end("e1")
        .done()
        .end("e2")
        .done()
        .end("e3")
        .boundary("any", on="middle", error="")
        .service("near")
        .end("e4")
        .done()
        .end()
        .boundary("X", on="outer", error="X")
        .service("far")
        .end("e5")
    )
    assert world.start("p").throw("a", "X").active == ["near", "outer"]


def test_an_error_of_a_called_process_is_caught_at_the_call(world):
    """Scenario 49."""
    world.deploy(
        process("p")
        .start()
        .call("call", process="child")
        .end()
        .boundary("failed", on="call", error="X")
        .service("repair")
        .end("e2"),
        process("child").start().parallel("fork").service("a").end("broken", error="X").at("fork").service("b").end(),
    )
    run = world.start("p")
    child = run.called("call").complete("a")
    assert run.active == ["repair"]
    assert child.terminated


def test_an_error_passes_through_a_called_process_to_a_caller_further_up(world):
    """Scenario 49."""
    world.deploy(
        process("p")
        .start()
        .call("call", process="middle")
        .end()
        .boundary("failed", on="call", error="X")
        .service("repair")
        .end("e2"),
        process("middle").start().call("deeper", process="child").end(),
        process("child").start().service("a").end(),
    )
    run = world.start("p")
    middle = run.called("call")
    child = middle.called("deeper").throw("a", "X")
    assert run.active == ["repair"]
    assert middle.terminated
    assert child.terminated


def test_an_error_that_no_caller_catches_is_an_incident_where_it_was_thrown(world):
    """Scenarios 49 and 51."""
    world.deploy(
        process("p").start().call("call", process="middle").end(),
        process("middle").start().call("deeper", process="child").end(),
        process("child").start().service("a").end(),
    )
    run = world.start("p")
    middle = run.called("call")
    child = middle.called("deeper").throw("a", "X")
    assert not run.incidents
    assert not middle.incidents
    assert child.incidents[0].kind == IncidentKind.UNHANDLED_ERROR_EVENT
    child.resolve().complete("a")
    assert run.ended


def test_variables_of_an_error_are_seen_where_it_is_caught(world):
    """Scenario 50."""
    world.deploy(
        process("p")
        .start()
        .service("a", inputs={"local": "=1"})
        .end()
        .boundary("X", on="a", error="X", outputs={"reason": "=why"})
        .service("x")
        .end("e2")
        .boundary("Y", on="a", error="Y")
        .service("y")
        .end("e3")
    )
    assert world.start("p").throw("a", "X", {"why": "late", "more": 1}).variables == {"reason": "late"}
    assert world.start("p").throw("a", "Y", {"why": "late"}).variables == {"why": "late"}


def test_an_error_event_may_name_variables_for_code_and_message(world):
    """Attributes of Camunda 7."""
    content = (
        process("p")
        .start()
        .service("a")
        .end()
        .boundary("X", on="a", error="")
        .service("x")
        .end("e2")
        .text()
        .replace(
            "<bpmn:errorEventDefinition",
            '<bpmn:errorEventDefinition camunda:errorCodeVariable="code" camunda:errorMessageVariable="text"',
        )
    )
    world.deploy(content.encode())
    assert world.start("p").throw("a", "X", message="no stock").variables == {"code": "X", "text": "no stock"}


def test_an_uncaught_error_leaves_everything_else_as_it_is(world):
    """Scenario 51."""
    world.deploy(process("p").start().parallel("fork").service("a").end().at("fork").service("b").end("e2", error="X"))
    run = world.start("p").complete("b")
    assert run.active == ["a", "e2"]
    assert run.incidents[0].kind == IncidentKind.UNHANDLED_ERROR_EVENT
    run.complete("a")
    assert not run.ended
    run.resolve()
    assert len(run.incidents) == 1


def test_an_error_of_one_inner_instance_ends_them_all(world):
    """Scenario 52."""
    world.deploy(
        process("p")
        .start()
        .service("a", loop=multi_instance("=[1, 2, 3, 4, 5]", element="item"))
        .end()
        .boundary("failed", on="a", error="X")
        .service("repair")
        .end("e2")
    )
    run = world.start("p").complete("a").throw("a", "X")
    assert run.active == ["repair"]
    assert run.count("failed") == 1


def escalating(interrupting: bool):
    return (
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .throw("ask", escalation="help")
        .service("go on")
        .end("e1")
        .done()
        .end()
        .boundary("helped", on="s", escalation="help", interrupting=interrupting)
        .service("help")
        .end("e2")
    )


def test_an_escalation_caught_without_interruption_leaves_its_thrower_going(world):
    """Scenario 53."""
    world.deploy(escalating(interrupting=False))
    run = world.start("p")
    assert run.active == ["go on", "help", "s"]
    assert run.complete("help").complete("go on").ended


def test_an_interrupting_escalation_ends_the_thrower_and_its_scope(world):
    """Scenario 53."""
    world.deploy(escalating(interrupting=True))
    run = world.start("p")
    assert run.active == ["help"]
    assert "ask_go on" not in run.flows


def test_an_escalation_that_nobody_catches_is_nothing(world):
    """Scenario 54."""
    world.deploy(process("p").start().throw("ask", escalation="help").service("a").end("tell", escalation="more"))
    run = world.start("p")
    assert run.active == ["a"]
    assert run.complete("a").ended
    assert not run.incidents


def test_an_escalation_passes_from_the_called_process_to_the_nearest_catcher(world):
    """Scenario 55."""
    world.deploy(
        process("p")
        .start()
        .call("call", process="middle")
        .end()
        .boundary("far", on="call", escalation="help", interrupting=False)
        .service("x")
        .end("e2"),
        process("middle")
        .start()
        .call("deeper", process="child")
        .end()
        .boundary("near", on="deeper", escalation="help", interrupting=False)
        .service("y")
        .end("e3"),
        process("child").start().throw("ask", escalation="help").service("a").end(),
    )
    run = world.start("p")
    middle = run.called("call")
    assert middle.active == ["deeper", "y"]
    assert run.active == ["call"]
    assert middle.called("deeper").active == ["a"]


def test_an_escalation_that_the_caller_does_not_catch_goes_further_up(world):
    """Scenario 55."""
    world.deploy(
        process("p")
        .start()
        .call("call", process="middle")
        .end()
        .boundary("far", on="call", escalation="help")
        .service("x")
        .end("e2"),
        process("middle").start().call("deeper", process="child").end(),
        process("child").start().throw("ask", escalation="help").service("a").end(),
    )
    run = world.start("p")
    assert run.active == ["x"]
    assert all(other.terminated for other in world.instances.values() if other is not run)


def test_an_error_caught_by_an_event_sub_process_of_the_process(world):
    """The scope's event sub-process comes before what is outside."""
    world.deploy(
        process("p")
        .start()
        .service("a")
        .end()
        .event_sub_process("on error")
        .start("any", error="")
        .service("repair")
        .end("e2")
        .done()
    )
    run = world.start("p").throw("a", "X", {"why": "late"})
    assert run.active == ["on error", "repair"]
    assert run.local("on error") == {"why": "late"}
    assert run.variables == {}
    assert run.complete("repair").ended
