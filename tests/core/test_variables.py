"""Stories of variables, scopes and mappings."""

from __future__ import annotations

import re

import pytest

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


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (lambda begun: begun.script("it", "=function(x) x + 1"), IncidentKind.EXTRACT_VALUE_ERROR),
        (lambda begun: begun.script("it", "={price: [function(x) x]}"), IncidentKind.EXTRACT_VALUE_ERROR),
        (lambda begun: begun.service("it", inputs={"price": "=function(x) x"}), IncidentKind.IO_MAPPING_ERROR),
        (lambda begun: begun.user("it", assignee="=function(x) x"), IncidentKind.EXTRACT_VALUE_ERROR),
        (lambda begun: begun.user("it", candidate_groups="=[function(x) x]"), IncidentKind.EXTRACT_VALUE_ERROR),
        (lambda begun: begun.service("it", type="=function(x) x"), IncidentKind.EXTRACT_VALUE_ERROR),
        (lambda begun: begun.receive("it", message="m", key="=function(x) x"), IncidentKind.EXTRACT_VALUE_ERROR),
    ],
    ids=["script", "script-within", "mapping", "assignee", "groups", "job-type", "correlation-key"],
)
def test_an_expression_that_gives_a_function_is_an_incident_at_its_element(world, model, kind):
    """A function is a value of FEEL, and none that can be kept."""
    world.deploy(model(process("p").start()).end())
    run = world.start("p")
    assert run.active == ["it"]
    (incident,) = run.incidents
    assert incident.kind == kind
    assert "function cannot be written as JSON" in incident.message


NAMED = 'if name = "nul" then "\\u0000" else name'  # what no store can hold does not come from outside


@pytest.mark.parametrize(
    "model",
    [
        lambda begun: begun.user("it", assignee=f"={NAMED}"),
        lambda begun: begun.user("it", candidate_groups=f"=[{NAMED}]"),
        lambda begun: begun.service("it", type=f"={NAMED}"),
        lambda begun: begun.receive("it", message="m", key=f"={NAMED}"),
    ],
    ids=["assignee", "groups", "job-type", "correlation-key"],
)
@pytest.mark.parametrize("name", ["ü" * 400, "nul"], ids=["long", "nul"])
def test_a_name_that_no_store_holds_is_an_incident_where_it_is_needed_not_where_the_step_began(world, model, name):
    """What came before has been done: it must not fail, nor be done again, for what comes after it."""
    world.deploy(model(process("p").start()).end())
    run = world.start("p", {"name": name})
    assert run.active == ["it"]
    (incident,) = run.incidents
    assert incident.kind == IncidentKind.EXTRACT_VALUE_ERROR
    assert re.search(r"_BYTES_MAX\)|U\+0000", incident.message)
    run.set(name="ada").resolve()
    assert run.active == ["it"]
    assert not run.incidents


def test_variables_set_from_outside_may_be_local(world):
    """SetVariables."""
    world.deploy(process("p").start().service("a").end())
    run = world.start("p", {"x": 1})
    run.send(SetVariables({"x": 2}, run.node("a").key, local=True))
    assert run.local("a") == {"x": 2}
    run.send(SetVariables({"x": 3}, run.node("a").key))
    assert run.local("a") == {"x": 3}
    assert run.variables == {"x": 1}
