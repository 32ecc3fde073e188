"""What a linter adds to the rules of a model: small models are explored, common sense is applied to all."""

from __future__ import annotations

from procession.explorer import remarks
from procession.testing.bpmn import ProcessBuilder, process
from tests.explorer.models import compiled
from tests.explorer.test_processes import choice_then_join, split_then_merge


def remarked(builder: ProcessBuilder) -> list[tuple[str, str, str]]:
    """Severity, code and element of each remark."""
    return [(one.severity, one.code, one.element_id) for one in remarks(compiled(builder))]


def test_a_deadlock_is_a_warning_with_line_suggestion_and_the_decisions_that_lead_there():
    (deadlock,) = remarks(compiled(choice_then_join()))
    assert (deadlock.severity, deadlock.code, deadlock.element_id) == ("warning", "DEADLOCK", "join")
    assert deadlock.line > 1
    assert deadlock.suggestion
    assert "(after which_one)" in deadlock.message


def test_tokens_that_meet_are_a_warning_and_an_end_reached_twice_a_remark():
    assert set(remarked(split_then_merge())) == {("warning", "UNSAFE", "after"), ("info", "IMPROPER_COMPLETION", "e")}


def test_a_sound_model_gives_no_remark():
    assert remarked(process("p").start().service("work").end()) == []


def test_what_the_model_s_own_rule_tells_as_unreachable_is_not_told_again():
    builder = process("p").start("s").end("e").apart().service("lost").service("behind").end("e2")
    assert [problem.element_id for problem in compiled(builder).problems if problem.code == "UNREACHABLE"] == ["lost"]
    assert remarked(builder) == []


def test_elements_that_only_lead_to_each_other_are_unreachable():
    builder = process("p").start("s").end("e").apart().service("one").service("other").to("one")
    assert [code for _, code, _ in remarked(builder)] == ["DEAD_ELEMENT"]


def test_in_a_model_too_large_to_explore_loops_apart_and_dry_joins_are_told_nevertheless():
    builder = process("p").start("s").parallel("split")
    for number in range(14):
        builder.at("split").service(f"a{number}").exclusive(f"x{number}").service(f"b{number}")
        builder.parallel("join") if number == 0 else builder.to("join")
    builder.at("join").end("e").apart().service("one").service("other").to("one").at("other").to("join")
    found = remarked(builder)
    assert ("info", "NOT_EXPLORED", "p") in found
    assert ("warning", "UNREACHABLE", "one") in found
    assert ("warning", "JOIN_NEVER_FIRES", "join") in found


def test_a_timer_that_takes_no_time_is_told():
    assert remarked(process("p").start().catch("wait", timer="PT0S").end()) == [("warning", "TIMER_AT_ONCE", "wait")]
    assert remarked(process("p").start().catch("wait", timer="PT1S").end()) == []


def test_a_gateway_with_one_way_in_and_one_way_out_is_told():
    builder = process("p").start().exclusive("why").end()
    assert remarked(builder) == [("info", "GATEWAY_WITHOUT_PURPOSE", "why")]


def test_an_error_that_nobody_catches_is_a_remark_since_a_caller_may():
    assert remarked(process("p").start().end("bad", error="X")) == [("info", "POSSIBLE_INCIDENT", "bad")]
