"""The room's front: what is returned, what is raised, how fast, and what the builder of models writes."""

from __future__ import annotations

import time

import pytest

from procession.errors import Rejected
from procession.model import InvalidModel, Resource, compile_resource, lint_resource
from procession.model.definition import Kind
from procession.testing.bpmn import process, resource
from tests.model.models import around, compiled, refused


def two_tasks() -> bytes:
    """The model of the core's benchmark: start, two service tasks, end."""
    return process("p").start().service("a").service("b").end().xml()


def test_a_refusal_is_a_rejection_that_carries_every_problem():
    problem = refused(around('<serviceTask id="x"/>'), name="order.bpmn")
    assert isinstance(problem, Rejected)
    assert problem.name == "order.bpmn"
    assert [found.code for found in problem.problems] == ["MISSING_TASK_DEFINITION"]
    assert str(problem).splitlines()[0] == "'order.bpmn' cannot be deployed: 1 error"
    assert "line 4, element 'x'" in str(problem)


def test_warnings_travel_with_what_is_accepted():
    accepted = compile_resource(process("p").start().task("a").end().xml().replace(b'isExecutable="true"', b""))
    assert isinstance(accepted, Resource)
    assert [problem.code for problem in accepted.problems] == ["EXECUTABLE_ASSUMED"]


def test_lint_never_raises_and_sorts_by_line():
    found = lint_resource(around('<serviceTask id="x"/>') + b"<")
    assert [problem.code for problem in found] == ["XML_SYNTAX"]
    found = lint_resource(process("p").end("b").task("a").xml())
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)


def test_the_same_bytes_give_the_same_definition():
    first, second = compiled(two_tasks()), compiled(two_tasks())
    assert [element.id for element in first.elements] == [element.id for element in second.elements]
    assert first.index_of == second.index_of


def test_a_definition_cannot_be_changed():
    with pytest.raises(AttributeError):
        compiled(two_tasks()).process_id = "other"  # type: ignore[misc]


def test_a_small_model_compiles_within_milliseconds():
    content = two_tasks()
    durations = []
    for _ in range(20):
        before = time.perf_counter()
        compile_resource(content)
        durations.append(time.perf_counter() - before)
    assert min(durations) < 0.005  # about 0.25 ms


def test_a_long_model_compiles_in_a_time_that_grows_with_its_length():
    model = process("p").start()
    for number in range(3_000):
        model.service(f"t{number}")
    content = model.end().xml()
    before = time.perf_counter()
    definition = compiled(content)
    assert time.perf_counter() - before < 5  # about 0.4 s
    assert len(definition.elements) == 3_003


def test_a_file_with_thousands_of_problems_lists_a_thousand_and_says_so():
    model = process("p").start()
    for number in range(2_000):
        model.apart().catch(f"c{number}")
    found = [problem for problem in lint_resource(model.xml()) if problem.severity == "error"]
    assert len(found) == 1_001
    assert [problem.code for problem in found].count("TOO_MANY_PROBLEMS") == 1


def test_thousands_of_links_and_handlers_are_linked_in_a_second():
    model = process("p").start()
    for number in range(1_500):
        model.apart().throw(f"t{number}", link=f"L{number}").catch(f"c{number}", link=f"L{number}")
        model.service(f"s{number}").compensation(f"h{number}", on=f"s{number}")
    content = model.end().xml()
    before = time.perf_counter()
    definition = compiled(content)
    assert time.perf_counter() - before < 8  # about 1 s
    assert definition.element("s1499").compensation_handler == definition.index_of["h1499"]
    assert definition.element("t1499").link_target == definition.index_of["c1499"]


# -- the builder ------------------------------------------------------------------------------------------------------


def test_the_builder_refuses_what_it_cannot_write():
    with pytest.raises(ValueError, match="already an element 'a'"):
        process("p").start().task("a").task("a")
    with pytest.raises(ValueError, match="no element 'b'"):
        process("p").start().at("b")
    with pytest.raises(ValueError, match="No sub-process is open"):
        process("p").start().done()


def test_the_builder_may_lead_to_an_element_that_comes_later():
    definition = compiled(
        process("p").start().exclusive("x").when("=a").to("later").at("x").otherwise().task("later").end()
    )
    assert [definition.flows[f].target for f in definition.element("x").outgoing] == [definition.index_of["later"]] * 2


def test_the_builder_declares_a_message_once_for_all_processes():
    sender = process("sender").start().throw("t", message="m", key="=id").end()
    receiver = process("receiver").start(message="m").end()
    content = resource(sender, receiver)
    assert content.count(b"<bpmn:message ") == 1
    assert [item.name for item in compile_resource(content).messages] == ["m"]


def test_the_builder_takes_any_attribute_extension_and_raw_part():
    model = (
        process("p", executable=None, version_tag="v3")
        .start()
        .task("a", attributes={"camunda:asyncAfter": "true"}, extensions='<zeebe:taskDefinition type="m" />')
        .task("b", raw='<bpmn:standardLoopCharacteristics loopMaximum="2" />', name="B & co")
        .end()
    )
    definition = compiled(model)
    assert definition.version_tag == "v3"
    assert (definition.element("a").async_after, definition.element("a").work_name) == (True, "m")
    assert (definition.element("b").loop.loop_maximum, definition.element("b").name) == (2, "B & co")


def test_the_builder_writes_every_element():
    model = (
        process("p").start().task("a").manual("b").service("c").send("d", message="m")
        .user("e", assignee="ada", form_id="f").script("f", "1").receive("g", message="n", key="=1")
        .rule("h", decision="dec").call("i", process="q")
        .exclusive("j").parallel("k").inclusive("l").complex("m")
        .sub_process("o").start().end().done().transaction("q").start().end().done().ad_hoc("r").task("ra").done()
        .throw("s", signal="sig").catch("t", condition="=x").events("n").catch("n1", timer="PT1S").end()
        .at("n").catch("n2", message="o", key="=1").end("u", terminate=True)
        .boundary("v", on="a", date="2030-01-01T00:00:00Z").end().event_sub_process("w").start(error="E").end().done()
    )  # fmt: skip
    assert {element.kind for element in compiled(model).elements} == set(Kind)


def test_a_refused_model_of_the_builder_names_the_line_in_its_text():
    model = process("p").start().catch("c").end()
    with pytest.raises(InvalidModel) as refusal:
        compile_resource(model.xml())
    (problem,) = refusal.value.problems
    assert 'id="c"' in model.text().splitlines()[problem.line - 1]
