"""The rules of a deployment, one by one: a model that breaks it, the code, the element. And one that keeps them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from procession import model as model_room
from procession.model.rules import RULES
from procession.testing.bpmn import process as build
from tests.model.models import around, codes, compiled, findings, process
from tests.support.sources import ROOT

START = '<startEvent id="s"/>'
TIMER = "<timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition>"
HOUR = "PT1H"


def begun():
    """A process that has started."""
    return build("p").start("s")


def with_sub(inner: str, tag: str = "subProcess", attributes: str = "") -> bytes:
    """A process around a sub-process ``x`` in line 4."""
    return around(f'<{tag} id="x" {attributes}>{inner}</{tag}>')


def beside(*elements: str, roots: str = "") -> bytes:
    """A process that starts, and these elements from line 4 on."""
    return process(START, *elements, roots=roots)


ERRORS = {
    "a process without a start event": (build("p").task("x"), "NO_START_EVENT", "p"),
    "two none start events": (begun().end().start("t").end(), "SEVERAL_NONE_STARTS", "t"),
    "a sub-process without a start event": (with_sub('<task id="t"/>'), "SUB_PROCESS_START", "x"),
    "an empty sub-process": (with_sub(""), "SUB_PROCESS_START", "x"),
    "a sub-process with two start events": (
        with_sub('<startEvent id="a"/><startEvent id="b"/>'),
        "SUB_PROCESS_START",
        "b",
    ),
    "a sub-process that a timer starts": (
        with_sub(f'<startEvent id="a">{TIMER}</startEvent>'),
        "SUB_PROCESS_START",
        "a",
    ),
    "a transaction without a start event": (with_sub('<task id="t"/>', "transaction"), "SUB_PROCESS_START", "x"),
    "an event sub-process without a start event": (
        beside('<subProcess id="e" triggeredByEvent="true"><task id="t"/></subProcess>'),
        "EVENT_SUB_PROCESS_START",
        "e",
    ),
    "an event sub-process without a trigger": (
        beside('<subProcess id="e" triggeredByEvent="true"><startEvent id="a"/></subProcess>'),
        "EVENT_SUB_PROCESS_START",
        "a",
    ),
    "an event sub-process with two start events": (
        begun().event_sub_process("e").start("a", signal="x").start("b", signal="y").done(),
        "EVENT_SUB_PROCESS_START",
        "b",
    ),
    "a flow to an event sub-process": (
        with_sub(f'<startEvent id="a">{TIMER}</startEvent>', attributes='triggeredByEvent="true"'),
        "EVENT_SUB_PROCESS_FLOW",
        "f1",
    ),
    "an empty ad-hoc sub-process": (with_sub("", "adHocSubProcess"), "AD_HOC_CONTENT", "x"),
    "an end in an ad-hoc sub-process": (
        with_sub('<task id="t"/><endEvent id="e"/>', "adHocSubProcess"),
        "AD_HOC_CONTENT",
        "e",
    ),
    "a flow to a start event": (begun().user("u").to("s"), "START_EVENT_INCOMING", "u_s"),
    "a flow from an end event": (begun().end("e").task("t"), "END_EVENT_OUTGOING", "e_t"),
    "an instantiating receive task behind something": (
        around('<receiveTask id="x" instantiate="true" messageRef="m"/>', '<message id="m" name="m"/>'),
        "INSTANTIATE",
        "x",
    ),
    "an instantiating receive task in a sub-process": (
        begun().sub_process("x").start().end().receive("r", message="m", instantiate=True).done().end(),
        "INSTANTIATE",
        "r",
    ),
    "a condition at an end": (begun().end("e", condition="=a"), "TRIGGER_NOT_ALLOWED", "e"),
    "a timer that is thrown": (begun().throw("t", timer=HOUR).end(), "TRIGGER_NOT_ALLOWED", "t"),
    "an error in the middle": (begun().catch("t", error="E").end(), "TRIGGER_NOT_ALLOWED", "t"),
    "an error that starts a process": (build("p").start("s", error="E").end(), "TRIGGER_NOT_ALLOWED", "s"),
    "a terminate that starts an event sub-process": (
        begun().event_sub_process("e").start("a", terminate=True).done(),
        "TRIGGER_NOT_ALLOWED",
        "a",
    ),
    "a catch event without a trigger": (begun().catch("c").end(), "MISSING_TRIGGER", "c"),
    "a boundary event without a trigger": (begun().user("u").end().boundary("b", on="u").end(), "MISSING_TRIGGER", "b"),
    "a link among other triggers": (
        begun().catch("c", message="m", key="=1", link="L").end(),
        "TRIGGER_NOT_ALONE",
        "c",
    ),
    "an error that does not interrupt": (
        begun().user("u").end().boundary("b", on="u", error="E", interrupting=False).end(),
        "MUST_INTERRUPT",
        "b",
    ),
    "a compensation start that does not interrupt": (
        begun()
        .sub_process("x")
        .start()
        .end()
        .event_sub_process("e")
        .start("a", compensate="", interrupting=False)
        .done()
        .done()
        .end(),
        "MUST_INTERRUPT",
        "a",
    ),
    "a flow to a boundary event": (
        begun().user("u").end().boundary("b", on="u", timer=HOUR).end().at("s").to("b"),
        "BOUNDARY_INCOMING",
        "s_b",
    ),
    "a boundary event that leads nowhere": (
        begun().user("u").end().boundary("b", on="u", timer=HOUR),
        "BOUNDARY_OUTGOING",
        "b",
    ),
    "a cancel end outside a transaction": (begun().end("e", cancel=True), "CANCEL_OUTSIDE_TRANSACTION", "e"),
    "a cancel boundary on a task": (
        begun().user("u").end().boundary("b", on="u", cancel=True).end(),
        "CANCEL_OUTSIDE_TRANSACTION",
        "b",
    ),
    "two cancel boundaries": (
        begun()
        .transaction("t")
        .start()
        .end()
        .done()
        .end()
        .boundary("b", on="t", cancel=True)
        .end()
        .boundary("c", on="t", cancel=True)
        .end(),
        "DUPLICATE_CATCH",
        "c",
    ),
    "a cycle on an interrupting boundary": (
        begun().user("u").end().boundary("b", on="u", timer="R3/PT1S").end(),
        "CYCLE_NOT_ALLOWED",
        "b",
    ),
    "a cycle on an intermediate event of a Camunda model": (
        begun().service("x").catch("c", timer="R3/PT1S").end(),
        "CYCLE_NOT_ALLOWED",
        "c",
    ),
    "a cycle on an interrupting event sub-process": (
        begun().event_sub_process("e").start("a", timer="R3/PT1S").done(),
        "CYCLE_NOT_ALLOWED",
        "a",
    ),
    "a link that leads nowhere": (begun().throw("t", link="A"), "LINK_TARGET", "t"),
    "a link into another scope": (
        begun().throw("t", link="A").sub_process("x").start().end().catch("c", link="A").end().done(),
        "LINK_TARGET",
        "t",
    ),
    "a link with two catches": (
        begun().throw("t", link="A").catch("c", link="A").end().catch("d", link="A").end(),
        "DUPLICATE_LINK",
        "d",
    ),
    "a flow from a link throw": (begun().throw("t", link="A").end("e").catch("c", link="A").end(), "LINK_FLOW", "t_e"),
    "a flow to a link catch": (
        begun().throw("t", link="A").catch("c", link="A").end().at("s").to("c"),
        "LINK_FLOW",
        "s_c",
    ),
    "an error caught twice on one task": (
        begun().user("u").end().boundary("b", on="u", error="E").end().boundary("c", on="u", error="E").end(),
        "DUPLICATE_CATCH",
        "c",
    ),
    "every escalation caught twice in one scope": (
        begun()
        .event_sub_process("e")
        .start("a", escalation="")
        .done()
        .event_sub_process("f")
        .start("b", escalation="")
        .done(),
        "DUPLICATE_CATCH",
        "b",
    ),
    "two start events for one message": (
        build("p").start("a", message="m").end().start("b", message="m").end(),
        "DUPLICATE_CATCH",
        "b",
    ),
    "a start message named by a variable": (build("p").start("a", message="=name").end(), "START_EVENT_VARIABLES", "a"),
    "an event gateway with one way": (begun().events("g").catch("c", timer=HOUR).end(), "EVENT_GATEWAY_FLOWS", "g"),
    "an event gateway that leads to a task": (
        begun().events("g").catch("c", timer=HOUR).end().at("g").user("u").end(),
        "EVENT_GATEWAY_TARGET",
        "u",
    ),
    "an event gateway whose target is reached otherwise": (
        begun()
        .parallel("f")
        .events("g")
        .catch("c", timer=HOUR)
        .end()
        .at("g")
        .catch("d", signal="x")
        .end()
        .at("f")
        .to("d"),
        "EVENT_GATEWAY_TARGET",
        "d",
    ),
    "a boundary on a receive task behind an event gateway": (
        begun()
        .events("g")
        .catch("c", timer=HOUR)
        .end()
        .at("g")
        .receive("r", message="m", key="=1")
        .end()
        .boundary("b", on="r", timer=HOUR)
        .end(),
        "EVENT_GATEWAY_TARGET",
        "r",
    ),
    "one message twice behind an event gateway": (
        begun().events("g").catch("c", message="m", key="=1").end().at("g").catch("d", message="m", key="=2").end(),
        "EVENT_GATEWAY_DUPLICATE",
        "d",
    ),
    "a parallel event gateway in the middle": (
        begun().events("g", type="Parallel").catch("c", timer=HOUR).end().at("g").catch("d", signal="x").end(),
        "EVENT_GATEWAY_PARALLEL",
        "g",
    ),
    "a condition behind an event gateway": (
        begun().events("g").when("=a").catch("c", timer=HOUR).end().at("g").catch("d", signal="x").end(),
        "CONDITION_NOT_ALLOWED",
        "g_c",
    ),
    "a gateway without any flow": (beside('<parallelGateway id="g"/>'), "GATEWAY_FLOWS", "g"),
    "a flow from a compensation event": (
        begun().service("a").compensation("u", on="a").at("compensate_a").end("e"),
        "COMPENSATION_FLOW",
        "compensate_a_e",
    ),
    "a compensation event without a handler": (
        begun().service("a").end().boundary("b", on="a", compensate=""),
        "COMPENSATION_ASSOCIATION",
        "b",
    ),
    "a handler that is not marked as one": (
        beside(
            '<task id="a"/><boundaryEvent id="b" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>',
            '<task id="h"/><association id="as" sourceRef="b" targetRef="h"/>',
        ),
        "COMPENSATION_HANDLER",
        "h",
    ),
    "two compensation events on one activity": (
        beside(
            '<task id="a"/><boundaryEvent id="b" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>',
            '<boundaryEvent id="c" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>',
            '<task id="h" isForCompensation="true"/><association id="as" sourceRef="b" targetRef="h"/>',
            '<association id="at" sourceRef="c" targetRef="h"/>',
        ),
        "DUPLICATE_CATCH",
        "c",
    ),
    "a flow to a compensation handler": (
        begun().service("a").compensation("u", on="a").to("u"),
        "COMPENSATION_HANDLER_FLOW",
        "a_u",
    ),
    "a boundary on a compensation handler": (
        begun().service("a").compensation("u", on="a").end().boundary("b", on="u", timer=HOUR).end(),
        "COMPENSATION_HANDLER_BOUNDARY",
        "b",
    ),
    "compensation of something that is no activity": (
        begun().throw("t", compensate="s").end(),
        "COMPENSATION_ACTIVITY",
        "t",
    ),
    "an id that is too long": (begun().task("x" * 300).end(), "ID_TOO_LONG", "x" * 300),
    "a loop of tasks that pass": (begun().task("a").task("b").to("a"), "ENDLESS_LOOP", "a"),
    "a loop of scripts without a way out": (begun().script("a", "1").script("b", "2").to("a"), "ENDLESS_LOOP", "a"),
    "a loop that nothing in it can end": (
        begun().exclusive("m").task("a").exclusive("x").when("=again").to("m").at("x").otherwise().end(),
        "ENDLESS_LOOP",
        "m",
    ),
    "a loop through a link": (begun().task("a").throw("t", link="L").catch("c", link="L").to("a"), "ENDLESS_LOOP", "a"),
}

WARNINGS = {
    "a start event that leads nowhere": (beside(), "START_EVENT_OUTGOING", "s"),
    "a cycle on an intermediate event of plain BPMN": (
        around(
            '<intermediateCatchEvent id="x"><timerEventDefinition><timeCycle>R3/PT1S</timeCycle></timerEventDefinition>'
            "</intermediateCatchEvent>"
        ),
        "CYCLE_NOT_ALLOWED",
        "x",
    ),
    "a link that nobody throws": (begun().end().catch("c", link="A").end(), "UNUSED_LINK", "c"),
    "a message without a correlation key": (
        begun().service("x").catch("c", message="m").end(),
        "MISSING_CORRELATION_KEY",
        "c",
    ),
    "message events and receive tasks behind one gateway": (
        begun().events("g").catch("c", message="m", key="=1").end().at("g").receive("r", message="n", key="=1").end(),
        "EVENT_GATEWAY_MIXED",
        "g",
    ),
    "a condition behind a parallel gateway": (
        begun().parallel("g").when("=a").end("x").at("g").end("y"),
        "CONDITION_IGNORED",
        "g_x",
    ),
    "a condition behind an event": (begun().when("=a").end("x"), "CONDITION_ON_EVENT", "s_x"),
    "a default flow with a condition": (
        begun().exclusive("g").when("=a").otherwise().end("x").at("g").when("=b").end("y"),
        "DEFAULT_FLOW_CONDITION",
        "g_x",
    ),
    "a default flow of a parallel gateway": (
        begun().parallel("g").otherwise().end("x").at("g").end("y"),
        "DEFAULT_FLOW_IGNORED",
        "g",
    ),
    "a decision without a condition": (
        begun().exclusive("g").end("x").at("g").when("=a").end("y"),
        "CONDITION_MISSING",
        "g_x",
    ),
    "a converging gateway with two ways out": (
        begun()
        .exclusive("g", attributes={"gatewayDirection": "Converging"})
        .when("=a")
        .end("x")
        .at("g")
        .otherwise()
        .end("y"),
        "GATEWAY_DIRECTION",
        "g",
    ),
    "a handler that nobody uses": (beside('<task id="h" isForCompensation="true"/>'), "UNUSED_HANDLER", "h"),
    "a compensation start in the process itself": (
        begun().end().event_sub_process("e").start("a", compensate="").end("z").done(),
        "COMPENSATION_START",
        "a",
    ),
    "a loop of gateways with a way out": (
        begun().exclusive("a").exclusive("b").when("=x").to("a").at("b").otherwise().end(),
        "POSSIBLE_ENDLESS_LOOP",
        "a",
    ),
    "an element that nothing leads to": (beside('<task id="t"/>'), "UNREACHABLE", "t"),
    "listed flows that are none": (
        around('<task id="x"><incoming>f1</incoming><outgoing>f9</outgoing></task>'),
        "LISTED_FLOWS",
        "x",
    ),
    "an expression of Camunda 8 without its prefix": (
        begun().service("u").when("a > 1").end("e"),
        "EXPRESSION_WITHOUT_PREFIX",
        "u_e",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_it_is_refused(name: str):
    content, code, element = ERRORS[name]
    found = [(problem.code, problem.element_id) for problem in findings(content)]
    assert (code, element) in found
    assert all(problem.line > 1 for problem in findings(content))


@pytest.mark.parametrize("name", WARNINGS)
def test_it_is_remarked_on_and_accepted(name: str):
    content, code, element = WARNINGS[name]
    assert (code, element) in [(problem.code, problem.element_id) for problem in findings(content, "warning")]
    compiled(content)


def test_conditions_without_a_default_are_worth_knowing():
    model = begun().task("x").when("=a").end("e").at("x").when("=b").end("f")
    assert codes(model, "info") == ["NO_DEFAULT_FLOW"]


@pytest.mark.parametrize(
    "name",
    [
        "a process without a start event",
        "two none start events",
        "a sub-process without a start event",
        "a boundary event that leads nowhere",
        "a loop of tasks that pass",
        "one message twice behind an event gateway",
    ],
)
def test_gaps_of_a_drawing_are_tolerated_where_it_is_only_explored(name: str):
    content, code, _ = ERRORS[name]
    assert code in codes(content, "warning", lenient=True)
    compiled(content, lenient=True)


def test_a_scope_without_a_start_begins_at_what_nothing_leads_to_where_it_is_only_explored():
    definition = compiled(build("p").task("a").task("b").at("b"), lenient=True)
    assert definition.elements[0].starts == (definition.index_of["a"],)


@pytest.mark.parametrize(
    "model",
    [
        begun().user("a").task("b").to("a"),
        begun()
        .exclusive("m")
        .script("a", "n + 1", result="n")
        .exclusive("x")
        .when("=n < 3")
        .to("m")
        .at("x")
        .otherwise()
        .end(),
        begun()
        .exclusive("m")
        .task("a", outputs={"n": "=n + 1"})
        .exclusive("x")
        .when("=n < 3")
        .to("m")
        .at("x")
        .otherwise()
        .end(),
        begun().task("a", attributes={"camunda:asyncBefore": "true"}).task("b").to("a"),
        begun().task("a", listeners={"start": "audit"}).task("b").to("a"),
        begun().parallel("j").task("a").to("j"),
        begun().service("a").task("b").to("a"),
    ],
)
def test_a_loop_that_waits_or_counts_is_accepted(model):
    assert "ENDLESS_LOOP" not in codes(model)


def test_a_loop_with_a_method_is_accepted():
    model = begun().task("a").task("b").to("a")
    assert codes(model, methods=["a"]) == []


def test_a_rich_model_breaks_no_rule():
    model = (
        begun().service("charge", retries=5, inputs={"amount": "=order.total"})
        .exclusive("paid").when("=paid").parallel("fork").user("pick").parallel("join").end("done")
        .at("fork").script("note", "now()", result="noted").to("join")
        .at("paid").otherwise().events("wait").catch("money", message="money", key="=order.id").to("charge")
        .at("wait").catch("patience", timer="P3D").end("gaveUp", error="UNPAID")
        .boundary("declined", on="charge", error="DECLINED").throw("tell", signal="declined").end("declinedEnd")
        .boundary("slow", on="pick", timer="R/PT1H", interrupting=False).end("remind", escalation="SLOW")
        .event_sub_process("stop").start("cancelled", message="cancel", key="=order.id").throw("undo", compensate="")
        .end().done()
    )  # fmt: skip
    assert [str(problem) for problem in findings(model)] == []
    assert codes(model, "warning") == []


def test_every_rule_says_what_it_is_for():
    assert all(rule.__doc__ for rule in RULES)
    assert len({rule.__name__ for rule in RULES}) == len(RULES)


def test_every_code_of_the_room_is_named_by_a_test():
    room = Path(next(iter(model_room.__path__)))
    pattern = re.compile(r'(?:error|warning|info|gap|report|_problem)\(\s*f?"([A-Z][A-Z_]+)"')
    texts = [path.read_text(encoding="utf-8") for path in room.rglob("*.py")]
    codes_of_room = {code for text in texts for code in pattern.findall(text)}
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "model").glob("*.py"))
    assert codes_of_room, "the pattern fits the code no longer"
    assert sorted(code for code in codes_of_room if f'"{code}"' not in tests) == []
