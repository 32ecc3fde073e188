"""Stories of variables, scopes and mappings."""

from __future__ import annotations

from procession.core.commands import SetVariables
from procession.core.events import Warned
from procession.core.state import IncidentKind
from procession.testing.bpmn import process


def test_input_mappings_see_those_before_them(world):
    """Scenario 105."""
    world.deploy(process("p").start().service("a", inputs={"x": "=total + 1", "y": "=x * 2", "z": "=missing"}).end())
    run = world.start("p", {"total": 1})
    assert run.local("a") == {"x": 2, "y": 4, "z": None}
    assert [event for event in run.events if isinstance(event, Warned)]
    assert run.variables == {"total": 1}


def test_a_path_of_an_input_makes_a_new_object_and_one_of_an_output_merges(world):
    """Scenario 106."""
    world.deploy(
        process("p")
        .start()
        .service("a", inputs={"o.x": "=1", "o.y": "=2"}, outputs={"o.z": "=done"})
        .service("b")
        .end()
    )
    run = world.start("p", {"o": {"x": 9, "w": 8}})
    assert run.local("a") == {"o": {"x": 1, "y": 2}}
    run.complete("a", {"done": True})
    assert run.variables == {"o": {"x": 9, "w": 8, "z": True}}


def test_an_output_mapping_that_fails_is_done_again_without_the_worker(world):
    """Scenario 107."""
    world.deploy(
        process("p")
        .start()
        .service("a", outputs={"y": '=assert(limit, limit != null, "no limit") + r'})
        .service("b")
        .end()
    )
    run = world.start("p").complete("a", {"r": 1})
    assert run.active == ["a"]
    assert run.incidents[0].kind == IncidentKind.IO_MAPPING_ERROR
    assert not run.jobs
    assert run.local("a") == {"r": 1}, "the worker's result is kept"
    run.set(limit=10).resolve()
    assert run.active == ["b"]
    assert run.variables == {"limit": 10, "y": 11}
    assert run.count("a") == 1


def test_branches_that_write_the_same_variable_leave_the_last_value(world):
    """Scenario 108."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("a")
        .parallel("join")
        .service("c")
        .end()
        .at("fork")
        .service("b")
        .to("join")
    )
    run = world.start("p", {"x": 0}).complete("b", {"x": 1}).complete("a", {"x": 2})
    assert run.variables == {"x": 2}


def test_variables_of_a_failed_job_are_local(world):
    """Scenario 109."""
    world.deploy(process("p").start().service("a").end())
    run = world.start("p").fail("a", variables={"why": "timeout"})
    assert run.local("a") == {"why": "timeout"}
    assert run.variables == {}


def test_a_local_variable_of_a_sub_process_stays_there_unless_it_is_mapped(world):
    """Scenario 110."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s", inputs={"x": "=1", "y": "=1"}, outputs={"out": "=y"})
        .start("s1")
        .service("a")
        .end("e1")
        .done()
        .service("b")
        .end()
    )
    run = world.start("p").complete("a", {"x": 2, "y": 3})
    assert run.variables == {"out": 3}


def test_a_result_goes_to_the_nearest_scope_that_holds_its_name(world):
    """Design rule 7."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s", inputs={"x": "=1"})
        .start("s1")
        .service("a")
        .service("b")
        .end("e1")
        .done()
        .end()
    )
    run = world.start("p", {"x": 0}).complete("a", {"x": 2, "z": 3})
    assert run.variables == {"x": 0, "z": 3}
    assert run.local("s") == {"x": 2}


def test_a_script_writes_its_result_variable(world):
    """FEEL within the step."""
    world.deploy(process("p").start().script("sum", "total * 2", result="double").service("a").end())
    run = world.start("p", {"total": 21})
    assert run.variables == {"total": 21, "double": 42}


def test_variables_set_from_outside_may_be_local(world):
    """SetVariables."""
    world.deploy(process("p").start().service("a").end())
    run = world.start("p", {"x": 1})
    run.send(SetVariables({"x": 2}, run.node("a").key, local=True))
    assert run.local("a") == {"x": 2}
    run.send(SetVariables({"x": 3}, run.node("a").key))
    assert run.local("a") == {"x": 3}
    assert run.variables == {"x": 1}
