"""One process by itself: what goes wrong in a drawing, and the shortest way there."""

from __future__ import annotations

import pytest

from procession.explorer import Bounds, Verdict, explore
from procession.testing.bpmn import multi_instance, process, standard_loop
from tests.explorer.models import definition, explored, told, way


def choice_then_join():
    return (
        process("p")
        .start("s")
        .exclusive("which")
        .when("=a")
        .service("one")
        .parallel("join")
        .service("after")
        .end("e")
        .at("which")
        .otherwise()
        .service("other")
        .to("join")
    )


def split_then_merge():
    return (
        process("p")
        .start("s")
        .parallel("split")
        .service("one")
        .exclusive("merge")
        .service("after")
        .end("e")
        .at("split")
        .service("other")
        .to("merge")
    )


def fork(split: str, join: str):
    """Two branches, split and joined by gateways of these kinds."""
    builder = process("p").start("s")
    getattr(builder, split)("split").when("=a").service("one")
    getattr(builder, join)("join").end("e")
    return builder.at("split").when("=b").service("other").to("join")


# -- deadlock -------------------------------------------------------------------------------------------------------
def test_a_parallel_join_behind_an_exclusive_split_is_a_deadlock():
    report = explored(choice_then_join())
    assert told(report) == [("DEADLOCK", "join"), ("DEAD_ELEMENT", "join")]
    assert not report.can_end
    deadlock = report.of(Verdict.DEADLOCK)[0]
    assert "'other_join'" in deadlock.message
    assert way(report, Verdict.DEADLOCK) == [("start", "s"), ("complete", "one")]
    assert [decision.flows for decision in deadlock.trace[0].decisions] == [("which_one",)]
    assert report.of(Verdict.DEAD_ELEMENT)[0].also == ("after", "e")


def test_a_deadlock_within_a_sub_process_is_found_though_a_timer_could_end_it():
    builder = process("p").start("s").sub_process("part").start("ps").exclusive("which")
    builder.when("=a").service("one").parallel("join").end("pe").at("which").otherwise().service("other").to("join")
    builder.done().end("e").boundary("late", on="part", timer="PT1H").end("too late")
    report = explored(builder)
    assert ("DEADLOCK", "join") in told(report)
    assert report.can_end  # the timer ends it


def test_an_inclusive_split_with_a_parallel_join_is_a_deadlock():
    assert ("DEADLOCK", "join") in told(explored(fork("inclusive", "parallel")))


def test_start_quantity_without_enough_tokens_is_a_deadlock():
    builder = process("p").start("s").service("pair", attributes={"startQuantity": "2"}).end("e")
    assert ("DEADLOCK", "pair") in told(explored(builder))


# -- lack of synchronisation ----------------------------------------------------------------------------------------
def test_an_exclusive_merge_behind_a_parallel_split_lets_what_follows_run_twice():
    report = explored(split_then_merge())
    assert not report.is_safe
    assert told(report) == [("UNSAFE", "after"), ("IMPROPER_COMPLETION", "e")]
    assert way(report, Verdict.UNSAFE) == [
        ("start", "s"),
        ("complete", "one"),
        ("enter", "merge"),
        ("complete", "other"),
        ("enter", "merge"),
    ]
    assert report.of(Verdict.UNSAFE)[0].also == ("after_e",)


def test_two_flows_to_a_task_from_parallel_branches_meet_there():
    builder = process("p").start("s").parallel("split").service("one").service("after").end("e")
    assert ("UNSAFE", "after") in told(explored(builder.at("split").service("other").to("after")))


def test_a_loop_that_makes_tokens_is_unsafe_and_the_bound_of_tokens_is_told():
    builder = process("p").start("s").exclusive("again").parallel("split").service("work").end("e")
    report = explored(builder.at("split").to("again"))
    assert not report.is_safe
    assert report.bounds == ("TOKENS_MAX",)


# -- what is sound --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("split", "join"),
    [("exclusive", "exclusive"), ("parallel", "parallel"), ("inclusive", "inclusive"), ("parallel", "inclusive")],
)
def test_a_split_closed_by_a_fitting_join_is_sound(split, join):
    report = explored(fork(split, join))
    assert told(report) == []
    assert report.is_sound
    assert report.is_safe


def test_an_inclusive_pair_within_an_inclusive_pair_is_sound():
    builder = process("p").start("s").inclusive("o1").when("=a").inclusive("i1").when("=b").task("t1").inclusive("i2")
    builder.inclusive("o2").end("e").at("i1").when("=c").service("t2").to("i2").at("o1").when("=d").service("t3").to(
        "o2"
    )
    assert told(explored(builder)) == []


def test_a_loop_with_a_way_out_is_sound():
    builder = process("p").start("s").exclusive("in").service("work").exclusive("out").when("=bad").to("in")
    assert told(explored(builder.at("out").otherwise().end("e"))) == []


def test_a_loop_through_an_inclusive_join_ends_and_is_explored_in_steps():
    builder = process("p").start("s").inclusive("join").task("work").exclusive("out").when("=bad").to("join")
    report = explored(builder.at("out").otherwise().end("e"))
    assert told(report) == []
    assert report.states < 10


def test_links_event_gateways_and_boundary_events_are_sound():
    builder = process("p").start("s").events("wait").catch("paid", message="paid", key="=1").throw("jump", link="on")
    builder.at("wait").catch("late", timer="PT1H").user("ask").end("asked").boundary("hurry", on="ask", timer="PT1H")
    builder.end("hurried").apart().catch("landed", link="on").end("done")
    assert told(explored(builder)) == []


def test_two_end_events_of_parallel_branches_end_properly():
    builder = process("p").start("s").parallel("split").service("one").end("e1").at("split").service("other").end("e2")
    assert told(explored(builder)) == []


def test_inner_instances_are_meant_to_overlap():
    many = multi_instance("=items", element="item")
    builder = process("p").start("s").service("each", loop=many).sub_process("all", loop=many).start("as")
    assert told(explored(builder.service("work").end("ae").done().end("e"))) == []


def test_turns_of_a_standard_loop_are_not_told_apart():
    builder = process("p").start("s").task("again", loop=standard_loop("=more")).end("e")
    report = explored(builder)
    assert told(report) == []
    assert report.states < 10


def test_a_terminate_end_takes_the_other_tokens_away():
    builder = (
        process("p").start("s").parallel("split").service("one").end("stop", raw="<bpmn:terminateEventDefinition/>")
    )
    report = explored(builder.at("split").exclusive("w").when("=a").service("x").parallel("j").end("e").at("w").to("j"))
    assert ("DEADLOCK", "j") not in told(report)  # the other branch can still take it away
    assert report.can_end


def test_a_compensable_activity_in_a_loop_gives_finitely_many_states():
    builder = process("p").start("s").exclusive("in").service("book").compensation("cancel", on="book")
    builder.exclusive("out").when("=more").to("in").at("out").otherwise().throw("undo", compensate="").end("e")
    report = explored(builder)
    assert told(report) == []
    assert report.is_complete


def test_a_complex_gateway_is_taken_to_fire_in_time():
    builder = (
        process("p").start("s").parallel("split").service("a").complex("first", activation="=activationCount >= 1")
    )
    report = explored(builder.service("on").end("e").at("split").service("b").to("first"))
    assert report.of(Verdict.DEADLOCK) == ()
    assert report.can_end


def test_every_activity_of_an_ad_hoc_sub_process_may_start_whoever_chooses_them():
    for extensions in ("", '<zeebe:taskDefinition type="choose"/>'):
        builder = process("p").start("s").ad_hoc("free", completion="=enough", extensions=extensions)
        builder.apart().service("a").service("b").apart().service("c").done().end("e")
        assert told(explored(builder)) == []


# -- ends -----------------------------------------------------------------------------------------------------------
def test_an_end_event_that_both_branches_reach_ends_improperly():
    builder = process("p").start("s").parallel("split").service("one").end("e").at("split").service("other").to("e")
    report = explored(builder)
    assert told(report) == [("IMPROPER_COMPLETION", "e")]
    assert not report.ends_once
    assert report.can_end


def test_a_loop_without_a_way_out_never_ends():
    builder = (
        process("p").start("s").exclusive("in").service("work").exclusive("which").when("=a").service("more").to("in")
    )
    builder.at("which").otherwise().to("in").apart().end("e")
    report = explored(builder)
    assert ("NO_END", "in") in told(report)
    assert not report.can_end


# -- dead elements --------------------------------------------------------------------------------------------------
def test_a_boundary_event_of_a_script_never_happens():
    builder = process("p").start("s").script("sum", "=1 + 1").end("e").boundary("late", on="sum", timer="PT1H").end("l")
    report = explored(builder)
    assert told(report) == [("DEAD_ELEMENT", "late")]
    assert report.of(Verdict.DEAD_ELEMENT)[0].also == ("l",)


def test_an_error_boundary_is_alive_where_a_worker_may_throw_and_dead_where_nobody_can():
    builder = process("p").start("s").service("work").end("e").boundary("bad", on="work", error="X").end("b")
    assert told(explored(builder)) == []
    builder = process("p").start("s").sub_process("part").start("ps").script("sum", "=1").end("pe").done().end("e")
    assert told(explored(builder.boundary("bad", on="part", error="X").end("b"))) == [("DEAD_ELEMENT", "bad")]


def test_a_compensation_handler_without_a_throw_is_dead():
    builder = process("p").start("s").service("book").compensation("cancel", on="book").end("e")
    assert told(explored(builder)) == [("DEAD_ELEMENT", "cancel")]


# -- events ---------------------------------------------------------------------------------------------------------
def test_an_event_sub_process_may_interrupt_at_any_time():
    builder = process("p").start("s").service("work").end("e").event_sub_process("stop")
    builder.start("halt", message="halt", key="=1").service("tidy").end("h").done()
    report = explored(builder)
    assert told(report) == []
    assert {step.action for found in report.findings for step in found.trace} == set()


def test_a_non_interrupting_boundary_event_happens_once_per_opening():
    builder = process("p").start("s").user("ask").end("e")
    builder.boundary("remind", on="ask", interrupting=False, cycle="R/PT1H").service("mail").end("m")
    report = explored(builder)
    assert told(report) == []
    assert report.is_complete


def test_an_error_that_nobody_catches_is_told_with_its_place():
    report = explored(process("p").start("s").service("work").end("bad", error="X"))
    assert told(report) == [("INCIDENT", "bad")]
    assert "'X'" in report.of(Verdict.INCIDENT)[0].message
    assert not report.can_end


def test_a_called_process_is_work_that_may_throw_and_escalate():
    builder = process("p").start("s").call("sub", process="other").end("e")
    builder.boundary("bad", on="sub", error="").end("b").boundary("up", on="sub", escalation="U").end("u")
    assert told(explored(builder)) == []


def test_each_start_event_is_tried():
    builder = (
        process("p").start("s").service("work").end("e").apart().start("m", message="go").service("other").end("e2")
    )
    assert told(explored(builder)) == []


# -- data, bounds, determinism ----------------------------------------------------------------------------------------
def test_conditions_are_not_evaluated():
    builder = process("p").start("s").exclusive("which").when("=1 = 2").service("never").end("n")
    assert told(explored(builder.at("which").otherwise().end("e"))) == []


def test_a_bound_that_is_reached_is_told_and_nothing_is_claimed_beyond_it():
    report = explored(choice_then_join(), Bounds(states=2))
    assert report.states == 2
    assert report.bounds == ("STATES_MAX",)
    assert not report.is_complete
    assert told(report) == [("BOUND", "p")]
    assert "STATES_MAX = 2" in report.of(Verdict.BOUND)[0].message


@pytest.mark.parametrize(("bounds", "name"), [(Bounds(depth=1), "DEPTH_MAX"), (Bounds(moves=1), "MOVES_MAX")])
def test_depth_and_moves_are_bounded_too(bounds, name):
    report = explored(split_then_merge(), bounds)
    assert report.bounds == (name,)
    assert report.can_end  # what is not known is not claimed


def test_twenty_parallel_branches_end_at_the_bound_and_not_in_a_hang():
    builder = process("p").start("s").parallel("split")
    for number in range(20):
        builder.at("split").service(f"a{number}").exclusive(f"x{number}").service(f"b{number}")
        builder.parallel("join") if number == 0 else builder.to("join")
    report = explored(builder.at("join").end("e"), Bounds(states=300))
    assert report.states == 300
    assert "STATES_MAX" in report.bounds


def test_the_same_model_gives_the_same_report():
    assert explored(split_then_merge()) == explored(split_then_merge())


def test_a_report_names_a_line_for_each_finding():
    model = definition(choice_then_join())
    assert all(found.line == model.element(found.element_id).line for found in explore(model).findings)
