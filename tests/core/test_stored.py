"""Stories that only a store can tell: limits, pauses between attempts, restarts, tenants, bytes known already."""

from __future__ import annotations

import pytest

from procession.errors import InvalidModel, InvalidValue, NotFound
from procession.jobs.kinds import JobState
from procession.limits import VARIABLES_BYTES_MAX
from procession.testing.bpmn import multi_instance, process

pytestmark = pytest.mark.stored

SECOND = 1_000
HOUR = 3_600_000


def test_a_variable_over_the_limit_is_refused_and_the_instance_goes_on(world):
    """Scenario 111."""
    world.deploy(process("p").start().service("a").service("b").end())
    run = world.start("p", {"x": 1})
    large = "x" * VARIABLES_BYTES_MAX
    with pytest.raises(InvalidValue, match="VARIABLES_BYTES_MAX"):
        run.set(large=large)
    with pytest.raises(InvalidValue, match="VARIABLES_BYTES_MAX"):
        run.complete("a", {"large": large})
    with pytest.raises(InvalidValue, match="VARIABLES_BYTES_MAX"):
        world.start("p", {"large": large})
    assert run.variables == {"x": 1}
    assert run.complete("a", {"y": 2}).complete("b").ended
    assert len(world.runs("p")) == 1


def test_thousands_of_inner_instances_leave_room_for_others_and_can_be_cancelled(world):
    """Scenario 80."""
    loop = multi_instance("=for i in 1..3000 return i", element="item")
    world.deploy(process("p").start().service("a", loop=loop).end(), process("q").start().service("b").end())
    run, other = world.start("p"), world.start("q")
    assert len(run.jobs) == 3_000
    assert other.complete("b").ended
    run.complete("a", {"x": 1})
    run.cancel()
    assert run.terminated


def test_a_pause_between_attempts_outlives_a_restart(world):
    """Scenario 115."""
    world.deploy(process("p").start().service("a").end())
    run = world.start("p").try_again("a", after=30 * SECOND)
    assert run.row("a").state == JobState.SCHEDULED
    world.restart(after=10 * SECOND)
    assert run.row("a").state == JobState.SCHEDULED
    world.advance(20 * SECOND - 1)
    assert run.row("a").state == JobState.SCHEDULED
    world.advance(1)
    row = run.row("a")
    assert (row.state, row.attempt, row.retries) == (JobState.READY, 1, 2)
    assert run.complete("a").ended


def test_an_instance_goes_on_after_a_restart_at_any_point(world):
    """Scenario 117: with a stop between any two commands; killed processes are a matter of the tests that kill."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("a")
        .parallel("join")
        .service("c")
        .end()
        .at("fork")
        .catch("paid", message="paid", key="=order")
        .to("join")
        .at("fork")
        .catch("wait", timer="PT1H")
        .to("join")
        .at("fork")
        .call("call", process="child")
        .to("join"),
        process("child").start().user("form").end(),
    )
    run = world.start("p", {"order": "A"})
    world.restart()
    child = run.called("call")
    run.complete("a", {"x": 1})
    world.restart()
    world.publish("paid", "A", {"y": 2})
    world.restart(after=2 * HOUR)
    assert run.active == ["call"]
    child.complete("form", {"z": 3})
    world.restart()
    assert run.active == ["c"]
    assert run.variables == {"order": "A", "x": 1, "y": 2, "z": 3}
    assert run.complete("c").ended


def test_a_cycle_that_was_not_looked_at_for_an_hour_fires_once_and_keeps_its_rhythm(world):
    """Scenario 90: firings that were missed are not made up for; the next one is that of the anchor."""
    world.deploy(process("p").start("tick", cycle="R/PT10M").service("work").end())
    world.restart(after=HOUR + 60 * SECOND)
    assert len(world.runs("p")) == 1
    world.advance(9 * 60 * SECOND - 1)
    assert len(world.runs("p")) == 1
    world.advance(1)
    assert len(world.runs("p")) == 2


def test_tenants_do_not_reach_each_other(world):
    """Scenario 124: starts, messages and signals."""
    for tenant in ("a", "b"):
        world.deploy(
            process("p").start().catch("paid", message="paid", key="=1").catch("go", signal="go").service("x").end(),
            tenant=tenant,
        )
    world.deploy(process("only a").start().service("x").end(), tenant="a")
    with pytest.raises(NotFound):
        world.start("only a", tenant="b")
    with pytest.raises(NotFound):
        world.start("p")
    ours, theirs = world.start("p", tenant="a"), world.start("p", tenant="b")
    world.publish("paid", "1", tenant="b")
    assert (ours.active, theirs.active) == (["paid"], ["go"])
    world.publish("paid", "1", tenant="a")
    world.broadcast("go", tenant="a")
    assert (ours.active, theirs.active) == (["x"], ["go"])


def test_known_bytes_make_no_new_version(world):
    """Scenarios 91 and 126: nor do they touch the timers of start events."""
    model = process("p").start("tick", cycle="R/PT10S").service("work").end()
    world.deploy(model)
    world.advance(5 * SECOND)
    world.deploy(model)
    assert world.latest("p").version == 1
    world.advance(5 * SECOND)
    assert len(world.runs("p")) == 1
    world.deploy(process("p").start().service("work").end())
    assert world.latest("p").version == 2


def test_an_invalid_model_is_refused_with_all_its_problems_and_nothing_is_deployed(world):
    """Scenario 126."""
    broken = process("q").start().exclusive("x").when("=1 +").service("a").end().at("x").when("=)").service("b").end()
    with pytest.raises(InvalidModel) as caught:
        world.deploy(process("p").start().service("a").end(), broken)
    text = str(caught.value)
    assert len(caught.value.problems) >= 2
    assert "x_a" in text
    assert "x_b" in text
    assert text.count("line ") >= 2
    for name in ("p", "q"):
        with pytest.raises(NotFound):
            world.latest(name)
