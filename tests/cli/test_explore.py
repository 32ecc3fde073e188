"""explore: what can go wrong in a model, with the way to it; lint tells the same of small models in a line."""

from __future__ import annotations

import pytest

from procession.testing.bpmn import process, resource

SOUND = process("sound").start("s").service("work").end("e")
STUCK = (
    process("stuck")
    .start("s")
    .exclusive("which")
    .when("=a")
    .service("one", name="Pay by card")
    .parallel("join")
    .end("e")
    .at("which")
    .otherwise()
    .service("other")
    .to("join")
)
TALK = resource(
    process("asks").start("s1").send("ask", message="q").end("e1"),
    process("answers").start("s2").receive("asked", message="q").end("e2"),
    raw='<bpmn:collaboration id="c"><bpmn:messageFlow id="m" sourceRef="ask" targetRef="asked"/></bpmn:collaboration>',
)


@pytest.fixture
def models(shop):
    shop.write("sound.bpmn", SOUND)
    shop.write("stuck.bpmn", STUCK)
    shop.write("talk.bpmn", TALK.decode())


def test_a_sound_model_is_told_in_one_line_and_ends_with_0(models, command):
    answer = command("explore", "sound.bpmn")
    assert answer.code == 0
    assert "sound" in answer.out.splitlines()[0]
    assert "✓ always ends" in answer.out


def test_a_deadlock_is_told_with_line_suggestion_and_the_steps_that_lead_there(models, command):
    answer = command("explore", "stuck.bpmn")
    assert answer.code == 1
    lines = answer.out.splitlines()
    deadlock = next(number for number, line in enumerate(lines) if "DEADLOCK" in line)
    assert "join" in lines[deadlock]
    assert "→" in lines[deadlock + 2]
    assert lines[deadlock + 3].split() == ["1.", "starts", "at", "s"]
    assert "◆ which takes which_one" in lines[deadlock + 4]
    assert "2. Pay by card (one) completes" in answer.out


def test_as_json_it_is_a_report_per_process(models, command):
    answer = command("explore", "stuck.bpmn", "--json")
    (report,) = answer.json
    assert report["processIds"] == ["stuck"]
    assert report["isComplete"] is True
    assert report["canEnd"] is False
    finding = report["findings"][0]
    assert (finding["verdict"], finding["elementId"]) == ("DEADLOCK", "join")
    assert [step["action"] for step in finding["trace"]] == ["start", "complete"]


def test_processes_with_message_flows_are_explored_together_too(models, command):
    assert [report["processIds"] for report in command("explore", "talk.bpmn", "--json").json] == [
        ["asks"],
        ["answers"],
        ["asks", "answers"],
    ]
    alone = command("explore", "talk.bpmn", "--process", "answers", "--json").json
    assert [report["processIds"] for report in alone] == [["answers"]]


def test_a_process_that_is_not_there_is_an_error_that_names_those_that_are(models, command):
    answer = command("explore", "talk.bpmn", "--process", "other")
    assert answer.code == 1
    assert "asks, answers" in answer.err


def test_a_bound_is_said(models, command):
    answer = command("explore", "stuck.bpmn", "--states", "2")
    assert "STATES_MAX = 2" in answer.out
    assert "✓" not in answer.out


def test_lint_tells_what_exploring_finds(models, command):
    answer = command("lint", "stuck.bpmn", "sound.bpmn", "--json")
    found = {(finding["file"], finding["code"], finding["elementId"]) for finding in answer.json}
    assert ("stuck.bpmn", "DEADLOCK", "join") in found
    assert not any(file == "sound.bpmn" for file, _, _ in found)
    assert answer.code == 0  # data may rule it out: a warning
    assert command("lint", "stuck.bpmn", "--strict").code == 1
