"""Stories of how instances begin: timers at the start, versions, chosen elements."""

from __future__ import annotations

import pytest

from procession.errors import NotFound
from procession.testing.bpmn import process

SECOND = 1_000
DAY = 86_400_000


def by_timer(**timer: str):
    return process("p").start("now and then", **timer).service("work").end()


def test_a_start_cycle_starts_as_many_instances_as_it_says(world):
    """Scenario 88."""
    world.deploy(by_timer(cycle="R3/PT10S"))
    for count in (1, 2, 3):
        world.advance(10 * SECOND)
        assert len(world.runs("p")) == count
    world.advance(DAY)
    assert len(world.runs("p")) == 3


def test_an_endless_cycle_goes_on(world):
    """Scenario 88."""
    world.deploy(by_timer(cycle="R/PT10S"))
    world.advance(100 * SECOND)
    assert len(world.runs("p")) == 10


def test_a_cycle_with_a_date_begins_there(world):
    """Scenario 88."""
    world.deploy(by_timer(cycle="R2/2026-01-05T00:00:00Z/P1D"))
    world.advance(4 * DAY - 1)
    assert not world.runs("p")
    world.advance(1)
    assert len(world.runs("p")) == 1
    world.advance(10 * DAY)
    assert len(world.runs("p")) == 2


def test_a_new_version_takes_over_the_start_timer_and_leaves_instances_alone(world):
    """Scenario 91."""
    world.deploy(process("p").start("tick", cycle="R/PT10S").catch("wait", timer="PT1H").end())
    world.advance(10 * SECOND)
    (old,) = world.runs("p")
    world.deploy(by_timer(cycle="R/PT20S"))
    world.advance(20 * SECOND)
    assert [run.active for run in world.runs("p")] == [["wait"], ["work"]]
    world.advance(3_600_000)
    assert old.ended


def test_months_keep_their_day_and_do_not_drift(world):
    """Scenario 93: P1M from 31 January."""
    world.deploy(by_timer(cycle="R3/2026-01-31T00:00:00Z/P1M"))
    days: list[int] = []
    for day in range(1, 120):
        world.advance(DAY)
        if len(world.runs("p")) > len(days):
            days.append(day)
    assert days == [30, 58, 89], "31 January, 28 February, 31 March"


def test_an_instance_may_begin_at_chosen_elements(world):
    """Scenario 122."""
    world.deploy(
        process("p").start().service("a").sub_process("s").start("s1").service("b").end("e1").done().service("c").end()
    )
    run = world.start("p", {"x": 1}, at=["b", "c"])
    assert run.active == ["b", "c", "s"]
    assert "s1" not in run.passed
    run.complete("b")
    assert run.active == ["c", "c"]
    assert run.complete("c").complete("c").ended


def test_an_instance_that_begins_before_a_join_does_not_hang(world):
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
    run = world.start("p", at=["join"])
    assert run.active == ["c"]
    assert run.complete("c").ended


def test_an_instance_cannot_begin_at_an_unknown_element(world):
    """Scenario 122."""
    world.deploy(process("p").start().service("a").end())
    with pytest.raises(NotFound, match="'z'"):
        world.start("p", at=["z"])


def test_event_sub_processes_are_open_when_an_instance_begins_at_chosen_elements(world):
    """Scenario 122."""
    world.deploy(
        process("p")
        .start()
        .service("a")
        .service("b")
        .end()
        .event_sub_process("h")
        .start("stop", signal="stop")
        .service("clean")
        .end("e2")
        .done()
    )
    run = world.start("p", at=["b"])
    world.broadcast("stop")
    assert run.active == ["clean", "h"]


def test_a_conditional_start_event_starts_an_instance_when_somebody_asks_with_variables_that_fulfil_it(world):
    """Before there is an instance no change can be noticed: Camunda's evaluation of start conditions."""
    world.deploy(
        process("p")
        .start("cold", condition="=temperature < 5")
        .service("heat")
        .end()
        .start("hot", condition="=temperature > 25", outputs={"felt": "=temperature"})
        .service("cool")
        .end("e2")
    )
    assert world.start_by_conditions("p", {"temperature": 20}) == []
    assert world.start_by_conditions("p", {}) == []
    (run,) = world.start_by_conditions("p", {"temperature": 30})
    assert run.active == ["cool"]
    assert run.variables == {"felt": 30}
    (run,) = world.start_by_conditions("p", {"temperature": 1})
    assert run.complete("heat", {}).ended
    with pytest.raises(NotFound):
        world.start_by_conditions("nothing")
