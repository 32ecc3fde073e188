"""Stories of flows and of exclusive, parallel and event-based gateways."""

from __future__ import annotations

from procession.core.state import IncidentKind
from procession.testing.bpmn import process


def test_a_parallel_join_goes_on_once_after_all_branches(world):
    """Scenario 1."""
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
    run = world.start("p")
    run.complete("a")
    assert run.active == ["b"]
    assert run.parked() == {"a_join": 1}
    run.complete("b")
    assert run.active == ["c"]
    run.complete("c")
    assert run.ended
    assert run.count("c") == 1


def two_tokens_on_one_flow():
    """Flow f1 of the join gets a token per completion of ``first`` or ``again``; f2 by ``other``."""
    return (
        process("p")
        .start()
        .parallel("fork")
        .service("first")
        .exclusive("merge")
        .flow("f1")
        .parallel("join")
        .service("after")
        .end()
        .at("fork")
        .service("again")
        .to("merge")
        .at("fork")
        .service("other")
        .exclusive("merge2")
        .flow("f2")
        .to("join")
        .at("fork")
        .service("other2")
        .to("merge2")
    )


def test_a_parallel_join_keeps_surplus_tokens_for_the_next_set(world):
    """Scenarios 2 and 3."""
    world.deploy(two_tokens_on_one_flow())
    run = world.start("p")
    run.complete("first")
    run.complete("again")
    assert run.parked() == {"f1": 2}
    run.complete("other")
    assert run.parked() == {"f1": 1}
    run.complete("after")
    assert not run.ended
    run.complete("other2")
    assert run.parked() == {}
    run.complete("after")
    assert run.ended
    assert run.count("join") == 2


def test_a_join_in_a_loop_fires_every_time(world):
    """Scenario 4."""
    world.deploy(
        process("p")
        .start()
        .exclusive("again")
        .parallel("fork")
        .service("a")
        .parallel("join")
        .script("count", "n + 1", result="n")
        .exclusive("enough")
        .when("=n < 3")
        .to("again")
        .at("enough")
        .otherwise()
        .end()
        .at("fork")
        .service("b")
        .to("join")
    )
    run = world.start("p", {"n": 0})
    for _ in range(3):
        run.complete("b")
        run.complete("a")
    assert run.ended
    assert run.count("join") == 3


def test_a_fork_into_a_merge_runs_what_follows_once_per_token(world):
    """Scenario 5."""
    world.deploy(process("p").start().parallel("fork").exclusive("merge").service("t").end().at("fork").to("merge"))
    run = world.start("p")
    assert run.active == ["t", "t"]
    run.complete("t")
    assert not run.ended
    run.complete("t")
    assert run.ended
    assert run.count("end") == 2


def test_a_task_forks_by_its_flows_and_merges_without_waiting(world):
    """Scenario 6."""
    world.deploy(process("p").start().service("a").service("b").service("c").end().at("a").to("c"))
    run = world.start("p")
    run.complete("a")
    assert run.active == ["b", "c"]
    run.complete("b")
    assert run.active == ["c", "c"]
    run.complete("c").complete("c")
    assert run.ended


def conditional_task(default: bool):
    builder = (
        process("p").start().service("a").when("=x > 1").service("b").end().at("a").when("=x > 2").service("c").end()
    )
    return builder.at("a").otherwise().service("d").end() if default else builder


def test_conditional_flows_of_a_task_are_all_looked_at(world):
    """Scenario 7."""
    world.deploy(conditional_task(default=True))
    both = world.start("p", {"x": 3}).complete("a")
    assert both.active == ["b", "c"]
    none = world.start("p", {"x": 0}).complete("a")
    assert none.active == ["d"]


def test_a_task_that_no_flow_leaves_keeps_its_work_and_asks(world):
    """Scenario 7."""
    world.deploy(conditional_task(default=False))
    run = world.start("p", {"x": 0}).complete("a", {"y": 1})
    assert run.active == ["a"]
    assert run.incidents[0].kind == IncidentKind.CONDITION_ERROR
    assert run.variables["y"] == 1
    run.set(x=2).resolve()
    assert run.active == ["b"]


def test_the_default_flow_of_a_task_goes_beside_unconditional_ones(world):
    """BPMN 2.0, 8.3.13: it is taken where no condition holds."""
    world.deploy(
        process("p")
        .start()
        .service("a")
        .otherwise()
        .service("d")
        .end()
        .at("a")
        .when("=x")
        .service("b")
        .end()
        .at("a")
        .service("c")
        .end()
    )
    assert world.start("p", {"x": False}).complete("a").active == ["c", "d"]
    assert world.start("p", {"x": True}).complete("a").active == ["b", "c"]


def test_an_exclusive_gateway_takes_the_first_true_flow_and_looks_no_further(world):
    """Scenario 8."""
    world.deploy(
        process("p")
        .start()
        .exclusive("x")
        .when("=n > 1")
        .service("a")
        .end()
        .at("x")
        .when("=n > 0")
        .service("b")
        .end()
        .at("x")
        .when("=nothing.at.all > assert(n, n > 5)")
        .service("c")
        .end()
    )
    run = world.start("p", {"n": 1})
    assert run.active == ["b"]
    assert not run.incidents


def test_the_default_flow_is_the_last_resort_wherever_it_stands(world):
    """Scenario 9."""
    builder = (
        process("p")
        .start()
        .exclusive("x")
        .otherwise()
        .when("=true")
        .service("d")
        .end()
        .at("x")
        .when("=n = 1")
        .service("a")
        .end()
    )
    world.deploy(builder)
    assert world.start("p", {"n": 1}).active == ["a"]
    assert world.start("p", {"n": 2}).active == ["d"]


def test_a_gateway_without_a_way_out_asks_and_goes_on_when_the_data_is_corrected(world):
    """Scenario 10."""
    world.deploy(
        process("p").start().exclusive("x").when("=n = 1").service("a").end().at("x").when("=n = 2").service("b").end()
    )
    run = world.start("p", {"n": 3})
    assert run.incidents[0].kind == IncidentKind.CONDITION_ERROR
    run.resolve()
    assert len(run.incidents) == 1, "the same problem again"
    run.set(n=2).resolve()
    assert run.active == ["b"]
    assert not run.incidents
    assert run.complete("b").ended


def test_a_flow_without_condition_leaves_an_exclusive_gateway(world):
    """Scenario 11."""
    world.deploy(process("p").start().exclusive("x").when("=n = 1").service("a").end().at("x").service("b").end())
    assert world.start("p", {"n": 1}).active == ["a"]
    assert world.start("p", {"n": 2}).active == ["b"]


def test_a_gateway_without_outgoing_flow_ends_the_path(world):
    """Scenario 12."""
    world.deploy(process("p").start().service("a").exclusive("x"))
    assert world.start("p").complete("a").ended


def test_conditions_behind_a_parallel_gateway_are_ignored(world):
    """Scenario 13."""
    world.deploy(process("p").start().parallel("fork").when("=false").service("a").end().at("fork").service("b").end())
    assert world.start("p").active == ["a", "b"]


def test_one_parallel_gateway_joins_and_then_forks(world):
    """Scenario 14."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("a")
        .parallel("mixed")
        .service("c")
        .end()
        .at("mixed")
        .service("d")
        .end()
        .at("fork")
        .service("b")
        .to("mixed")
    )
    run = world.start("p").complete("a")
    assert run.active == ["b"]
    run.complete("b")
    assert run.active == ["c", "d"]
    assert run.complete("c").complete("d").ended


def message_or_timer():
    return (
        process("p")
        .start()
        .events("wait")
        .catch("paid", message="paid", key="=order")
        .service("ship")
        .end()
        .at("wait")
        .catch("late", timer="PT1H")
        .service("remind")
        .end()
    )


def test_the_first_event_behind_a_gateway_wins(world):
    """Scenario 25."""
    world.deploy(message_or_timer())
    run = world.start("p", {"order": "A"})
    world.publish("paid", "A", {"amount": 3})
    assert run.active == ["ship"]
    assert run.variables["amount"] == 3
    assert not run.waits()
    world.advance(7_200_000)
    assert run.active == ["ship"]
    assert run.count("late") == 0


def test_of_two_events_in_one_moment_exactly_one_wins(world):
    """Scenario 26."""
    world.deploy(message_or_timer())
    run = world.start("p", {"order": "A"})
    with world.held():
        world.publish("paid", "A")
        run.fire("late")
    assert run.active == ["remind"]
    assert run.count("paid") == 0
    assert run.complete("remind").ended


def test_a_task_wants_several_tokens_and_gives_several(world):
    """Scenario 28."""
    world.deploy(
        process("p")
        .start()
        .service("a", attributes={"completionQuantity": "2"})
        .service("b", attributes={"startQuantity": "2"})
        .end()
    )
    run = world.start("p").complete("a")
    assert run.active == ["b"]
    assert run.flows.count("a_b") == 2
    assert run.complete("b").ended


def test_a_task_that_wants_two_tokens_and_gets_one_waits(world):
    """Scenario 28."""
    world.deploy(process("p").start().service("a").service("b", attributes={"startQuantity": "2"}).end())
    run = world.start("p").complete("a")
    assert run.active == []
    assert run.parked() == {"a_b": 1}
    assert not run.ended


def test_a_deferred_choice_may_begin_a_process(world):
    """An instantiating event-based gateway; the other events are not waited for."""
    world.deploy(
        process("p")
        .events("g", instantiate=True)
        .catch("a", message="a")
        .service("x")
        .end()
        .at("g")
        .catch("b", message="b")
        .service("y")
        .end()
    )
    world.publish("b", variables={"n": 1})
    (run,) = world.runs("p")
    assert run.active == ["y"]
    assert run.variables == {"n": 1}
    assert not run.waits()
    assert run.complete("y").ended


def test_a_parallel_event_gateway_begins_with_one_event_and_wants_the_others(world):
    """An instantiating parallel event-based gateway (BPMN 2.0, 10.6.6)."""
    world.deploy(
        process("p")
        .events("g", instantiate=True, type="Parallel")
        .catch("a", message="a", key="=id")
        .service("x")
        .end()
        .at("g")
        .catch("b", message="b", key="=id")
        .service("y")
        .end()
    )
    world.publish("a", "7", {"id": "7"})
    (run,) = world.runs("p")
    run.complete("x")
    assert not run.ended
    world.publish("b", "7", {"id": "7"})
    assert run.active == ["y"]
    assert run.complete("y").ended
    assert len(world.runs("p")) == 1
