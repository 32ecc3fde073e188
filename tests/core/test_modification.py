"""Stories of modification and migration."""

from __future__ import annotations

import msgspec
import pytest

from procession.core import encode_state, fold, migration_findings
from procession.core.commands import Activate
from procession.core.events import AnyEvent
from procession.errors import Conflict, NotFound
from procession.testing.bpmn import multi_instance, process

HOUR = 3_600_000


def with_sub_process():
    return (
        process("p")
        .start()
        .service("a")
        .sub_process("s", inputs={"x": "=1"})
        .start("s1")
        .service("b")
        .service("c")
        .end("e1")
        .event_sub_process("h")
        .start("note", signal="note", interrupting=False)
        .service("d")
        .end("e2")
        .done()
        .done()
        .service("e")
        .end()
        .boundary("late", on="s", timer="PT1H")
        .end("e3")
    )


def test_a_token_moves_into_a_sub_process_that_is_made_without_its_start_event(world):
    """Scenario 121."""
    world.deploy(with_sub_process())
    run = world.start("p").modify(move={"a": "c"})
    assert run.active == ["c", "s"]
    assert "s1" not in run.passed
    assert run.local("s") == {"x": 1}
    assert run.waiting_for() == ["late", "note"]
    assert run.complete("c").active == ["e"]
    assert run.complete("e").ended


def test_a_token_moves_within_its_sub_process_without_leaving_it(world):
    """Scenario 121."""
    world.deploy(with_sub_process())
    run = world.start("p").complete("a")
    scope = run.node("s").key
    run.modify(move={"b": "c"})
    assert run.node("s").key == scope
    assert run.active == ["c", "s"]


def test_taking_the_last_token_away_ends_its_scope(world):
    """Scenario 121."""
    world.deploy(with_sub_process())
    run = world.start("p").complete("a")
    run.modify(activate=["e"], terminate=[run.node("b").key])
    assert run.active == ["e"]
    assert run.removed == ["b", "s"]
    run.modify(terminate=[run.node("e").key])
    assert run.terminated


def test_a_scope_that_is_active_several_times_has_to_be_named(world):
    """Scenario 121."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s", loop=multi_instance("=[1, 2]", element="item"))
        .start("s1")
        .service("a")
        .service("b")
        .end("e1")
        .done()
        .end()
    )
    run = world.start("p")
    with pytest.raises(Conflict, match="name the ancestor"):
        run.modify(activate=["b"])
    second = next(node for node in run.now_state.nodes.values() if node.loop_index == 2)
    run.modify(activate=[Activate("b", second.key)])
    (placed,) = [node for node in run.now_state.nodes.values() if run.definition.elements[node.element].id == "b"]
    assert placed.scope == second.key


def test_a_repeated_scope_is_not_made_for_one_token(world):
    """Scenario 121."""
    world.deploy(
        process("p")
        .start()
        .service("x")
        .sub_process("s", loop=multi_instance("=[1, 2]", element="item"))
        .start("s1")
        .service("a")
        .end("e1")
        .done()
        .end()
    )
    run = world.start("p")
    with pytest.raises(Conflict, match="is repeated and not active"):
        run.modify(activate=["a"])
    assert run.active == ["x"]
    run.modify(move={"x": "s"})
    assert run.working == ["a", "a"]


def test_an_inner_instance_that_is_taken_away_counts_as_done(world):
    """Scenario 121."""
    world.deploy(process("p").start().service("a", loop=multi_instance("=[1, 2]", element="item")).service("b").end())
    run = world.start("p").complete("a")
    inner = next(node for node in run.now_state.nodes.values() if node.loop_index)
    run.modify(terminate=[inner.key])
    assert run.active == ["b"]


def test_a_token_put_before_a_join_does_not_hang(world):
    """Scenario 122."""
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
    run = world.start("p").complete("a")
    run.modify(move={"b": "c"})
    assert run.parked() == {"a_join": 1}
    assert run.active == ["c"]


def test_a_modification_frees_an_inclusive_join(world):
    """Scenario 17."""
    world.deploy(
        process("p")
        .start()
        .inclusive("split")
        .when("=true")
        .service("a")
        .inclusive("join")
        .service("c")
        .end()
        .at("split")
        .when("=true")
        .service("b")
        .to("join")
    )
    run = world.start("p").complete("a")
    run.modify(terminate=[run.node("b").key])
    assert run.active == ["c"]


def test_a_modification_is_refused_as_a_whole(world):
    """All or nothing."""
    world.deploy(with_sub_process())
    run = world.start("p")
    with pytest.raises(NotFound, match="'z'"):
        run.modify(activate=["e", "z"])
    with pytest.raises(NotFound, match="nothing to move"):
        run.modify(activate=["e"], move={"b": "c"})
    assert run.active == ["a"]


def first_version():
    return (
        process("p")
        .start()
        .user("approve")
        .end()
        .boundary("late", on="approve", timer="PT1H")
        .end("e2")
        .boundary("stop", on="approve", signal="stop", interrupting=False)
        .end("e3")
    )


def second_version():
    return (
        process("p")
        .start()
        .service("check")
        .user("confirm")
        .service("after")
        .end()
        .boundary("too late", on="confirm", timer="PT2H")
        .service("remind")
        .end("e2")
        .boundary("hurry", on="confirm", message="hurry", key="=1", interrupting=False)
        .end("e4")
    )


def test_migration_keeps_what_is_mapped_closes_and_opens_the_rest(world):
    """Scenario 120."""
    world.deploy(first_version())
    run = world.start("p", {"x": 1})
    task = run.node("approve").user_task
    world.deploy(second_version())
    run.migrate(world.latest("p"), {"approve": "confirm", "late": "too late"})
    assert run.active == ["confirm"]
    assert run.node("confirm").user_task == task
    assert run.variables == {"x": 1}
    assert run.waiting_for() == ["hurry", "too late"]
    world.advance(HOUR)
    assert run.active == ["remind"], "the mapped timer kept its instant"
    stored = msgspec.json.decode(msgspec.json.encode(run.events), type=list[AnyEvent])
    assert encode_state(fold(stored)) == encode_state(run.now_state)


def test_a_dry_run_names_every_finding(world):
    """Scenario 120."""
    world.deploy(first_version())
    run = world.start("p")
    world.deploy(second_version())
    target = world.latest("p")
    found = migration_findings(run.definition, target, run.now_state, {"approve": "confirm", "late": "too late"})
    assert [(finding.severity, finding.element) for finding in found] == [("info", "stop"), ("info", "hurry")]
    found = migration_findings(run.definition, target, run.now_state, {"approve": "check", "nobody": "x"})
    errors = [finding.message for finding in found if finding.severity == "error"]
    assert len(errors) == 3
    assert "service task" in errors[-1]


def test_migration_is_all_or_nothing(world):
    """Scenario 120."""
    world.deploy(first_version())
    run = world.start("p")
    world.deploy(second_version())
    with pytest.raises(Conflict, match="'approve' is active"):
        run.migrate(world.latest("p"))
    assert run.active == ["approve"]
    world.advance(HOUR)
    assert run.ended


def joined(service: str):
    return (
        process("p")
        .start()
        .parallel("fork")
        .service("a")
        .parallel("join")
        .service(service)
        .end()
        .at("fork")
        .service("b")
        .to("join")
    )


def test_tokens_that_wait_before_a_join_migrate_with_it(world):
    """Scenario 120."""
    world.deploy(joined("c"))
    run = world.start("p").complete("a")
    world.deploy(joined("d"))
    run.migrate(world.latest("p"))
    assert run.parked() == {"a_join": 1}
    assert run.complete("b").active == ["d"]


def test_recorded_handlers_migrate_with_their_instance(world):
    """Design rule 9."""

    def booking(name: str):
        return (
            process("p")
            .start()
            .service("book")
            .compensation("cancel", on="book", type="x")
            .service(name)
            .throw("undo", compensate="")
            .end()
        )

    world.deploy(booking("pay"))
    run = world.start("p").complete("book")
    world.deploy(booking("charge"))
    run.migrate(world.latest("p"), {"pay": "charge"})
    run.complete("charge")
    assert run.active == ["cancel", "undo"]


def test_an_uncaught_error_is_resolved_after_a_modification(world):
    """Scenario 51."""
    world.deploy(process("p").start().service("a").end("broken", error="X").at("a").service("b").end())
    run = world.start("p").complete("a")
    assert run.active == ["b", "broken"]
    run.modify(move={"broken": "b"})
    assert run.active == ["b", "b"]
    assert not run.incidents
