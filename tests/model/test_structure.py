"""The skeleton of a compiled process: indexes, scopes, flows, boundaries, links, handlers, lanes and data."""

from __future__ import annotations

import pytest

from procession.model import compile_resource
from procession.model.definition import Kind, Trigger, Work
from procession.testing.bpmn import process as build
from procession.testing.bpmn import resource
from tests.model.models import around, codes, compiled, file, findings, process, refused


def test_elements_have_indexes_in_document_order_and_the_process_is_the_first():
    definition = compiled(build("p", name="A process").start("s").task("a").end("e"))
    assert definition.index_of == {"p": 0, "s": 1, "a": 2, "e": 3}
    assert [element.index for element in definition.elements] == [0, 1, 2, 3]
    assert definition.elements[0].kind == Kind.PROCESS
    assert definition.elements[0].children == (1, 2, 3)
    assert (definition.process_id, definition.name, definition.none_start) == ("p", "A process", 1)
    assert definition.element("a").line == 9


def test_flows_know_their_ends_and_elements_their_flows():
    definition = compiled(build("p").start().task("a").flow("last").end())
    first, last = definition.flows
    assert (first.id, first.source, first.target) == ("start_a", 1, 2)
    assert (last.id, last.index) == ("last", 1)
    assert definition.element("a").incoming == (0,)
    assert definition.element("a").outgoing == (1,)


def test_a_flow_without_an_id_gets_one_from_its_ends():
    definition = compiled(
        process('<startEvent id="s"/><endEvent id="e"/><sequenceFlow sourceRef="s" targetRef="e"/>' * 1)
    )
    assert definition.flows[0].id == "s-e"


def test_a_reference_may_be_a_qualified_name():
    content = process('<startEvent id="s"/><endEvent id="e"/><sequenceFlow id="f" sourceRef="t:s" targetRef="t:e"/>')
    assert compiled(content).flows[0].target == 2


def test_outgoing_flows_stand_in_document_order():
    model = build("p").start().exclusive("x").when("=a", id="second").end("b").at("x").when("=c", id="first").end("d")
    definition = compiled(model)
    assert [definition.flows[index].id for index in definition.element("x").outgoing] == ["second", "first"]


def test_a_default_flow_is_known_by_its_index():
    definition = compiled(build("p").start().exclusive("x").when("=a").end("b").at("x").otherwise().end("c"))
    assert definition.flows[definition.element("x").default_flow].id == "x_c"
    assert definition.element("start").default_flow == -1


def test_sub_processes_are_scopes_with_their_own_children():
    model = build("p").start().sub_process("sub").start("s").task("t").end("e").done().end()
    definition = compiled(model)
    sub = definition.element("sub")
    assert sub.kind == Kind.SUB_PROCESS
    assert [definition.elements[index].id for index in sub.children] == ["s", "t", "e"]
    assert sub.starts == (definition.index_of["s"],)
    assert definition.element("t").scope == sub.index
    assert definition.element("end").scope == 0


def test_every_kind_of_scope_is_told_apart():
    model = (
        build("p").start().transaction("t").start("ts").end("te").done()
        .ad_hoc("a", sequential=True, cancel_remaining=False).task("one").task("two").done().end()
        .event_sub_process("esp").start("es", message="m", key="=k", interrupting=False).end("ee").done()
    )  # fmt: skip
    definition = compiled(model)
    kinds = {element.id: element.kind for element in definition.elements}
    assert (kinds["t"], kinds["a"], kinds["esp"]) == (Kind.TRANSACTION, Kind.AD_HOC_SUB_PROCESS, Kind.EVENT_SUB_PROCESS)
    root, esp, ad_hoc = definition.elements[0], definition.element("esp"), definition.element("a")
    assert root.event_sub_processes == (esp.index,)
    assert esp.start_event == definition.index_of["es"]
    assert not definition.element("es").interrupting
    assert [definition.elements[index].id for index in ad_hoc.starts] == ["one"]
    assert ad_hoc.ad_hoc is not None
    assert (ad_hoc.ad_hoc.sequential, ad_hoc.ad_hoc.cancel_remaining) == (True, False)


def test_boundary_events_know_their_host_and_the_host_them():
    model = build("p").start().user("u").end().boundary("b", on="u", timer="PT1H", interrupting=False).end("e2")
    definition = compiled(model)
    boundary = definition.element("b")
    assert boundary.attached_to == definition.index_of["u"]
    assert definition.element("u").boundaries == (boundary.index,)
    assert not boundary.interrupting
    assert boundary.events[0].trigger == Trigger.TIMER


def test_a_compensation_handler_is_found_by_its_association():
    definition = compiled(build("p").start().service("book").compensation("undo", on="book", type="undo").end())
    assert definition.element("book").compensation_handler == definition.index_of["undo"]
    assert definition.element("undo").is_for_compensation
    assert definition.element("undo").work == Work.JOB


def test_a_link_throw_leads_to_its_catch():
    model = build("p").start().throw("jump", link="A").catch("land", link="A").end()
    definition = compiled(model)
    assert definition.element("jump").link_target == definition.index_of["land"]


def test_start_events_with_triggers_are_listed():
    model = (
        build("p")
        .start("none")
        .end()
        .start("typed", message="m")
        .end()
        .receive("r", message="n", instantiate=True)
        .end()
    )
    definition = compiled(model)
    assert definition.none_start == definition.index_of["none"]
    assert [definition.elements[index].id for index in definition.start_events] == ["typed", "r"]
    assert definition.messages_caught == {"m", "n"}


def test_lanes_and_data_are_kept():
    definition = compiled(
        process(
            '<laneSet id="ls"><lane id="outer" name="Sales"><flowNodeRef>s</flowNodeRef>',
            '<childLaneSet id="c"><lane id="inner"><flowNodeRef>s</flowNodeRef></lane></childLaneSet></lane></laneSet>',
            '<startEvent id="s"/><dataObject id="d" isCollection="true"/>',
            '<dataObjectReference id="dr" dataObjectRef="d" name="Order"/>',
            '<property id="pr" name="x"/><dataStoreReference id="ds"/>',
        )
    )
    outer, inner = definition.lanes
    assert (outer.name, outer.elements, outer.parent, inner.parent) == ("Sales", (1,), -1, 0)
    kinds = [(data.id, data.kind.removesuffix("Reference"), data.ref) for data in definition.data_objects]
    assert kinds == [
        ("d", "dataObject", ""),
        ("dr", "dataObject", "d"),
        ("pr", "property", ""),
        ("ds", "dataStore", ""),
    ]
    assert definition.data_objects[0].is_collection


def test_message_flows_text_and_groups_are_drawings():
    content = file(
        '<collaboration id="c"><participant id="pa" processRef="p"/>',
        '<messageFlow id="mf" sourceRef="s" targetRef="pa"/><textAnnotation id="ta"/><group id="g"/></collaboration>',
        '<process id="p" isExecutable="true"><startEvent id="s"/><textAnnotation id="t"/><group id="g2"/></process>',
    )
    assert compiled(content).index_of == {"p": 0, "s": 1}


def test_an_unknown_extension_is_ignored():
    content = process(
        '<startEvent id="s"><extensionElements><x:y xmlns:x="urn:x" z="1"/></extensionElements></startEvent>'
    )
    assert codes(content) == []


def test_a_file_with_several_processes_gives_several_definitions():
    compiled_file = compile_resource(resource(build("a").start().end(), build("b").start().end()), name="two.bpmn")
    assert [definition.process_id for definition in compiled_file.definitions] == ["a", "b"]
    assert compiled_file.name == "two.bpmn"


def test_what_a_file_declares_is_listed():
    content = build("p").start().throw("t", signal="sig").end("e", error="E1").xml()
    found = compile_resource(content)
    assert [(item.id, item.name) for item in found.signals] == [("signal_sig", "sig")]
    assert [(item.code, item.line) for item in found.errors] == [("E1", 8)]


# -- which processes are executable -----------------------------------------------------------------------------------

START = '<startEvent id="s{0}"/>'


def test_only_executable_processes_are_compiled():
    content = file(
        f'<process id="a" isExecutable="true">{START.format(1)}</process>',
        f'<process id="b" isExecutable="false">{START.format(2)}</process>',
        f'<process id="c">{START.format(3)}</process>',
    )
    assert compiled(content).process_id == "a"
    everything = compile_resource(content, executable_only=False)
    assert [(d.process_id, d.is_executable) for d in everything.definitions] == [
        ("a", True),
        ("b", False),
        ("c", False),
    ]


def test_a_missing_attribute_counts_as_executable_when_no_process_says_so():
    content = file(f'<process id="a">{START.format(1)}</process>', '<process id="pool"/>')
    assert compiled(content).process_id == "a"
    assert codes(content, "info") == ["EXECUTABLE_ASSUMED"]


def test_a_file_of_processes_that_are_not_executable_is_refused():
    problem = refused(file('<process id="a" isExecutable="false">' + START.format(1) + "</process>"))
    assert [(p.code, p.element_id, p.line) for p in problem.problems] == [("NO_EXECUTABLE_PROCESS", "a", 2)]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (file('<process id="a"/>'), "EMPTY_PROCESS"),
        (file('<message id="m"/>'), "NO_PROCESS"),
        (file('<process isExecutable="true"><startEvent id="s"/></process>'), "MISSING_ID"),
        (file(*['<process id="a" isExecutable="true"><startEvent id="s"/></process>'] * 2), "DUPLICATE_ID"),
        (file('<process id="a" isExecutable="yes"><startEvent id="s"/></process>'), "INVALID_ATTRIBUTE"),
    ],
)
def test_a_file_without_a_usable_process_is_refused(content: bytes, code: str):
    assert code in codes(content)


# -- references and names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        (('<startEvent id="s"/>', '<sequenceFlow id="f" targetRef="s"/>'), "MISSING_REFERENCE", 4),
        (('<startEvent id="s"/>', '<sequenceFlow id="f" sourceRef="s" targetRef="gone"/>'), "UNKNOWN_REFERENCE", 4),
        (('<startEvent id="s"/>', '<task id="s"/>'), "DUPLICATE_ID", 4),
        (('<startEvent id="s"/>', "<task/>"), "MISSING_ID", 4),
        (('<startEvent id="s"/>', '<task id="a" default="x"/>'), "DEFAULT_FLOW", 4),
        (('<startEvent id="s"/>', '<boundaryEvent id="b" attachedToRef="gone"/>'), "BOUNDARY_HOST", 4),
        (('<startEvent id="s"/>', '<boundaryEvent id="b" attachedToRef="s"/>'), "BOUNDARY_HOST", 4),
        (('<startEvent id="s"/>', '<frobnicate id="x"/>'), "UNKNOWN_ELEMENT", 4),
        (('<startEvent id="s"/>', '<choreographyTask id="x"/>'), "UNSUPPORTED_ELEMENT", 4),
        (('<startEvent id="s"/>', '<task id="x"><timerEventDefintion/></task>'), "UNKNOWN_ELEMENT", 4),
        (('<startEvent id="s">', '<x:fooEventDefinition xmlns:x="urn:x"/></startEvent>'), "UNSUPPORTED_ELEMENT", 4),
        (
            ('<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>',
             '<subProcess id="x"><startEvent id="xs"/><task id="t"/></subProcess>'),
            "FLOW_CROSSES_SCOPE", 3,
        ),
        (
            ('<startEvent id="s"/><subProcess id="x"><startEvent id="xs"/></subProcess>',
             '<subProcess id="y"><startEvent id="ys"/>',
             '<boundaryEvent id="b" attachedToRef="x"><timerEventDefinition/></boundaryEvent></subProcess>'),
            "BOUNDARY_HOST", 5,
        ),
    ],
)  # fmt: skip
def test_a_broken_reference_or_name_is_refused_with_its_line(lines: tuple[str, ...], code: str, line: int):
    found = [(problem.code, problem.line) for problem in findings(process(*lines))]
    assert (code, line) in found


@pytest.mark.parametrize(
    "name", ["choreography", "globalUserTask", "globalTask", "globalConversation", "globalChoreographyTask"]
)
def test_what_nobody_executes_is_refused_by_name(name: str):
    content = process('<startEvent id="s"/>', roots=f'<{name} id="x"/>')
    (problem,) = refused(content).problems
    assert problem.code == "UNSUPPORTED_ELEMENT"
    assert name in problem.message


def test_a_conversation_in_a_collaboration_is_refused_by_name():
    content = process('<startEvent id="s"/>', roots='<collaboration id="c"><conversation id="x"/></collaboration>')
    assert codes(content) == ["UNSUPPORTED_ELEMENT"]


def test_an_unknown_root_element_is_refused():
    assert codes(process('<startEvent id="s"/>', roots='<proces id="x"/>')) == ["UNKNOWN_ELEMENT"]


def test_a_flow_that_stands_in_another_scope_is_remarked_on():
    content = process(
        '<startEvent id="s"/><subProcess id="x"><startEvent id="xs"/><endEvent id="xe"/></subProcess>',
        '<sequenceFlow id="f" sourceRef="xs" targetRef="xe"/><sequenceFlow id="g" sourceRef="s" targetRef="x"/>',
    )
    assert "FLOW_IN_OTHER_SCOPE" in codes(content, "warning")


def test_every_problem_is_reported_at_once_with_element_and_line():
    content = around('<serviceTask id="x"/>').replace(b'<endEvent id="end"/>', b'<task id="x"/><bogus id="y"/>')
    problem = refused(content)
    assert {found.code for found in problem.problems} >= {
        "MISSING_TASK_DEFINITION",
        "DUPLICATE_ID",
        "UNKNOWN_ELEMENT",
        "UNKNOWN_REFERENCE",
    }
    text = str(problem)
    assert "line 4, element 'x'" in text
    assert all(found.code in text for found in problem.problems)


def test_a_problem_in_a_part_names_the_element_that_people_see():
    content = around('<intermediateCatchEvent id="x"><timerEventDefinition id="t"/></intermediateCatchEvent>')
    assert [problem.element_id for problem in findings(content)] == ["x"]
