"""Stories of instances that begin behind an element, as those do that go on where others stood."""

from __future__ import annotations

import pytest

from procession.errors import Conflict, NotFound
from procession.testing.bpmn import process

FORK = (
    process("p")
    .start()
    .parallel("fork")
    .service("a")
    .parallel("join")
    .service("c")
    .end("end")
    .at("fork")
    .service("b")
    .to("join")
)


def test_an_instance_may_begin_behind_an_element(world):
    """What is behind it in its sub-process runs; the element itself does not."""
    world.deploy(
        process("p").start().sub_process("s").start("s1").service("a").service("b").end("e1").done().service("c").end()
    )
    run = world.start("p", {"x": 1}, after=["a"])
    assert run.active == ["b", "s"]
    assert run.complete("b").complete("c").ended


def test_tokens_behind_the_branches_of_a_fork_meet_at_its_join(world):
    """One token waits there for the other."""
    world.deploy(FORK)
    run = world.start("p", at=["b"], after=["a"])
    assert run.active == ["b"]
    run.complete("b")
    assert run.active == ["c"]
    assert run.complete("c").ended


def test_behind_the_last_element_nothing_is_left_to_do(world):
    world.deploy(FORK)
    assert world.start("p", after=["end"]).ended


def test_behind_an_element_with_several_ways_is_no_place(world):
    world.deploy(FORK)
    with pytest.raises(Conflict, match=r"behind 'fork' .*2 flows leave it; put it before the element that is meant"):
        world.start("p", after=["fork"])
    with pytest.raises(NotFound, match="'z'"):
        world.start("p", after=["z"])
