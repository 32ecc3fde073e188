"""What can never work is refused at deployment, with its element, its line and what would do instead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procession.errors import InvalidValue
from procession.jobs.schedule import cycle_due, date_due, duration_due
from procession.model import InvalidModel, compile_resource
from procession.model.reader.cron import cron_problem
from procession.model.reader.durations import is_cycle, is_date, is_duration
from procession.testing.bpmn import multi_instance, process, standard_loop
from procession.testing.core import DAY_ONE, CoreRun
from tests.model.models import around, codes, findings, refused

ZEEBE_TASK = '<{0} id="x"><extensionElements>{1}</extensionElements>{2}</{0}>'


def timer(kind: str, value: str) -> bytes:
    return process("p").start().catch("x", **{kind: value}).end().xml()


def task(extension: str, kind: str = "serviceTask", inner: str = "") -> bytes:
    return around(ZEEBE_TASK.format(kind, extension, inner))


def job(attributes: str) -> bytes:
    return task(f'<zeebe:taskDefinition type="t" {attributes}/>')


def user(extension: str) -> bytes:
    return task(f"<zeebe:userTask/>{extension}", "userTask")


def boundary_cycle(value: str) -> bytes:
    builder = process("p").start().service("a").end().boundary("x", on="a", interrupting=False, cycle=value)
    return builder.end("e2").xml()


NEVER = {
    "no repetition": (boundary_cycle("R0/PT1S"), "INVALID_TIMER"),
    "a repetition without a pause": (boundary_cycle("R/PT0S"), "INVALID_TIMER"),
    "a negative pause": (boundary_cycle("R3/-PT1S"), "INVALID_TIMER"),
    "too many repetitions": (boundary_cycle("R99999999999/PT1S"), "INVALID_TIMER"),
    "an end before the start": (boundary_cycle("R/2030-01-02/2030-01-01"), "INVALID_TIMER"),
    "an unknown zone of a cron expression": (boundary_cycle("CRON_TZ=Mars/Base 0 9 * * *"), "INVALID_TIMER"),
    "a day that no month has": (boundary_cycle("0 0 0 31 2 *"), "INVALID_TIMER"),
    "an hour that no day has": (boundary_cycle("0 25 * * *"), "INVALID_TIMER"),
    "a year in a cron expression": (boundary_cycle("0 0 9 * * MON 2030"), "INVALID_TIMER"),
    "a day that February never has": (timer("date", "2030-02-30"), "INVALID_TIMER"),
    "an unknown zone of a date": (timer("date", "2030-01-31T09:00:00[Mars/Base]"), "INVALID_TIMER"),
    "a duration beyond all years": (timer("timer", "P9000Y"), "INVALID_TIMER"),
    "a duration in words": (timer("timer", "soon"), "INVALID_TIMER"),
    "an expression that gives no duration": (timer("timer", '=duration("soon")'), "FEEL_CONSTANT"),
    "an expression that gives a number": (timer("timer", "=5"), "INVALID_TIMER"),
    "an expression that gives a cycle without pause": (boundary_cycle('="R/PT0S"'), "INVALID_TIMER"),
    "no retries": (job('retries="0"'), "INVALID_RETRIES"),
    "negative retries": (job('retries="-1"'), "INVALID_RETRIES"),
    "retries in words": (job('retries="many"'), "INVALID_RETRIES"),
    "an expression of no retries": (job('retries="=1 - 1"'), "INVALID_RETRIES"),
    "retries beyond a small number": (job('retries="40000"'), "INVALID_RETRIES"),
    "a job type that is no text": (task('<zeebe:taskDefinition type="=true"/>'), "INVALID_NAME"),
    "a job type that is empty": (task('<zeebe:taskDefinition type="=&#34;&#34;"/>'), "INVALID_NAME"),
    "a job type that is too long": (task(f'<zeebe:taskDefinition type="{"t" * 201}"/>'), "INVALID_NAME"),
    "a job priority in words": (
        task('<zeebe:taskDefinition type="t"/><zeebe:jobPriorityDefinition priority="high"/>'),
        "INVALID_PRIORITY",
    ),
    "a topic's priority in words": (
        around('<serviceTask id="x" camunda:type="external" camunda:topic="t" camunda:taskPriority="high"/>'),
        "INVALID_PRIORITY",
    ),
    "a priority above all": (user('<zeebe:priorityDefinition priority="101"/>'), "INVALID_PRIORITY"),
    "a priority in words": (user('<zeebe:priorityDefinition priority="urgent"/>'), "INVALID_PRIORITY"),
    "a negative priority": (around('<userTask id="x" camunda:priority="-1"/>'), "INVALID_PRIORITY"),
    "a due date in words": (user('<zeebe:taskSchedule dueDate="tomorrow"/>'), "INVALID_DATE"),
    "a follow-up date that is none": (user('<zeebe:taskSchedule followUpDate="2030-13-01"/>'), "INVALID_DATE"),
    "a due date of Camunda 7 in words": (around('<userTask id="x" camunda:dueDate="next week"/>'), "INVALID_DATE"),
    "no list as a collection": (
        process("p").start().service("x", loop=multi_instance("=5")).end().xml(),
        "INVALID_COLLECTION",
    ),
    "a negative cardinality": (
        around(
            '<task id="x"><multiInstanceLoopCharacteristics><loopCardinality>-3</loopCardinality>'
            "</multiInstanceLoopCharacteristics></task>"
        ),
        "INVALID_CARDINALITY",
    ),
    "a completion condition that is no truth": (
        process("p").start().service("x", loop=multi_instance("=[1]", until="=1")).end().xml(),
        "INVALID_CONDITION",
    ),
    "a loop condition that is no truth": (
        process("p").start().service("x", loop=standard_loop('="yes"')).end().xml(),
        "INVALID_CONDITION",
    ),
    "a condition of a flow that is no truth": (
        process("p").start().exclusive("x").when("=1").end("e1").at("x").otherwise(id="d").end("e2").xml(),
        "INVALID_CONDITION",
    ),
    "a condition to wait for that is no truth": (
        process("p").start().catch("x", condition="=null").end().xml(),
        "INVALID_CONDITION",
    ),
    "an unknown activity": (
        process("p").start().ad_hoc("x", active='=["a", "z"]').service("a").done().end().xml(),
        "INVALID_COLLECTION",
    ),
    "a correlation key that is nothing": (
        process("p").start().catch("x", message="m", key="=null").end().xml(),
        "INVALID_NAME",
    ),
    "a message name that is a list": (
        process("p").start().catch("x", message="=[1]", key="=1").end().xml(),
        "INVALID_NAME",
    ),
    "an error code that is nothing": (process("p").start().end("x", error="=null").xml(), "INVALID_NAME"),
    "a called process that is nothing": (process("p").start().call("x", process="=null").end().xml(), "INVALID_NAME"),
    "a called decision that is nothing": (
        process("p").start().rule("x", decision="=null").end().xml(),
        "INVALID_NAME",
    ),
    "a listener without attempts": (
        task(
            '<zeebe:taskDefinition type="t"/><zeebe:executionListeners>'
            '<zeebe:executionListener eventType="start" type="a" retries="0"/></zeebe:executionListeners>'
        ),
        "INVALID_RETRIES",
    ),
    "a quantity below one": (around('<task id="x" startQuantity="0"/>'), "INVALID_QUANTITY"),
    "a negative loop maximum": (
        around('<task id="x"><standardLoopCharacteristics loopMaximum="-1"/></task>'),
        "NEGATIVE_LOOP_MAXIMUM",
    ),
}


@pytest.mark.parametrize("what", NEVER)
def test_what_can_never_work_is_refused_with_its_place_and_what_would_do(what: str):
    content, code = NEVER[what]
    (problem,) = findings(content)
    assert problem.code == code
    assert problem.element_id
    assert problem.line > 1
    assert problem.suggestion


def test_everything_that_can_never_work_is_told_at_once():
    content = (
        process("p")
        .start()
        .service("a", retries=0)
        .catch("b", timer="P")
        .user("c", extensions='<zeebe:priorityDefinition priority="high" />')
        .end()
        .xml()
    )
    problems = refused(content).problems
    assert {(problem.element_id, problem.code) for problem in problems} == {
        ("a", "INVALID_RETRIES"),
        ("b", "INVALID_TIMER"),
        ("c", "INVALID_PRIORITY"),
    }


@pytest.mark.parametrize(
    "content",
    [
        timer("timer", "PT0S"),
        timer("date", "1999-12-31"),
        timer("date", "=now()"),
        timer("timer", '=if now() > date and time("2500-01-01T00:00:00Z") then "PT1S" else null'),
        timer("timer", "=wait"),
        boundary_cycle("R/PT10S/2500-01-01"),
        boundary_cycle("R-1/PT10S"),
        boundary_cycle("CRON_TZ=Europe/Berlin 0 9 29 2 *"),
        boundary_cycle("0 0 0 31 2 MON"),
        job('retries="=tries"'),
        user('<zeebe:priorityDefinition priority="0"/><zeebe:taskSchedule dueDate="=null"/>'),
        around('<userTask id="x" camunda:dueDate="P3D" camunda:priority="500"/>'),
        process("p").start().parallel("x").when("=1").end().xml(),
    ],
)
def test_what_may_work_is_accepted(content: bytes):
    assert codes(content) == []


# -- what is accepted here works there ----------------------------------------------------------------------------

NUMBERS = st.integers(0, 70).map(str) | st.sampled_from(["29", "31", "0", "1.5", "007"])
DURATIONS = st.builds(
    lambda sign, date, time: f"{sign}P{''.join(date)}" + (f"T{''.join(time)}" if time else ""),
    st.sampled_from(["", "", "-", "+"]),
    st.lists(st.builds(lambda number, unit: number + unit, NUMBERS, st.sampled_from("YMWD")), max_size=3),
    st.lists(st.builds(lambda number, unit: number + unit, NUMBERS, st.sampled_from("HMS")), max_size=3),
)
DATES = st.builds(
    lambda day, time, zone: day + time + zone,
    st.builds(lambda y, m, d: f"{y:04}-{m:02}-{d:02}", st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32)),
    st.sampled_from(["", "T09:00", "T25:00:00Z", "T09:30:00.5+02:00", "T23:59:60Z"]),
    st.sampled_from(["", "[Europe/Berlin]", "[Mars/Base]", "Z"]),
)
FIELDS = st.sampled_from(["*", "?", "0", "L", "LW", "5L", "5#2", "MON", "FEB", "*/7", "3-1", "1-5/2", "60", "1,", "W"])
CRONS = st.lists(FIELDS | NUMBERS, min_size=4, max_size=7).map(" ".join)
CYCLES = st.builds("/".join, st.lists(st.sampled_from(["R", "R3", "R0", "R-1", "Rx"]) | DURATIONS | DATES, max_size=4))


@given(DURATIONS)
def test_every_duration_that_is_accepted_has_an_instant(text: str):
    if is_duration(text):
        duration_due(text, DAY_ONE)


@given(DATES)
def test_every_date_that_is_accepted_has_an_instant(text: str):
    if is_date(text):
        date_due(text)


@given(CRONS | CYCLES)
def test_every_cycle_that_is_accepted_fires(text: str):
    ended = text.count("/") == 2 and is_date(text.rpartition("/")[2])  # it may be over by now
    if is_cycle(text) and not ended:
        cycle_due(text, DAY_ONE)


@given(CRONS)
def test_every_cron_expression_that_fires_is_accepted(text: str):
    try:
        cycle_due(text, DAY_ONE)
        problem = ""
    except InvalidValue as refused_there:
        problem = str(refused_there)
    assert bool(cron_problem(text)) == bool(problem), problem


VALUES = ["0", "1", "-1", "3", "3.5", "many", "", "=0", "=-2", '="3"', "=null", "=true", "=[1]", "PT1S", '="PT1S"', "P"]
USUAL = {"retries": "3", "priority": "5", "due": "2030-01-31", "wait": "PT1H"}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("attribute", USUAL)
def test_a_model_whose_constants_are_accepted_stops_at_none_of_them(attribute: str, value: str):
    """Accepted, or refused, never an incident."""
    given_ = {**USUAL, attribute: value}
    job_priority = f'<zeebe:jobPriorityDefinition priority="{escaped(given_["priority"])}" />'
    builder = process("p").start().service("a", retries=given_["retries"], extensions=job_priority)
    builder.user("b", extensions=f'<zeebe:taskSchedule dueDate="{escaped(given_["due"])}" />')
    builder.catch("c", timer=given_["wait"]).end()
    try:
        (definition,) = compile_resource(builder.xml()).definitions
    except InvalidModel:
        return
    run = CoreRun(definition).start().complete("a").complete("b")
    assert run.active == ["c"]
    assert not run.incidents


def escaped(text: str) -> str:
    return text.replace('"', "&quot;")
