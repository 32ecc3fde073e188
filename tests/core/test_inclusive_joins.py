"""Stories of inclusive and complex joins: what they wait for, and what frees them."""

from __future__ import annotations

from procession.testing.bpmn import process


def split_of_three():
    return (
        process("p")
        .start()
        .inclusive("split")
        .when("=a")
        .service("A")
        .inclusive("join")
        .service("after")
        .end()
        .at("split")
        .when("=b")
        .service("B")
        .to("join")
        .at("split")
        .when("=c")
        .service("C")
        .to("join")
    )


def test_an_inclusive_join_waits_for_exactly_the_branches_that_were_taken(world):
    """Scenario 15."""
    world.deploy(split_of_three())
    run = world.start("p", {"a": True, "b": False, "c": True})
    assert run.active == ["A", "C"]
    run.complete("A")
    assert run.active == ["C"]
    run.complete("C")
    assert run.active == ["after"]
    assert run.complete("after").ended
    assert run.count("join") == 1


def test_an_inclusive_join_is_freed_when_the_other_branch_leaves_by_an_error(world):
    """Scenario 16: the case that others evaluate on arrival only, and hang."""
    world.deploy(split_of_three().boundary("failed", on="B", error="broken").service("repair").end())
    run = world.start("p", {"a": True, "b": True, "c": False})
    run.complete("A")
    assert run.active == ["B"]
    run.throw("B", "broken")
    assert run.active == ["after", "repair"]
    run.complete("after").complete("repair")
    assert run.ended


def test_an_inclusive_join_is_freed_when_the_other_branch_is_interrupted(world):
    """Scenario 17."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s")
        .start("s start")
        .inclusive("split")
        .when("=true")
        .service("A")
        .inclusive("join")
        .service("after")
        .end("s end")
        .at("split")
        .when("=true")
        .sub_process("inner")
        .start("inner start")
        .service("B")
        .end("inner end")
        .done()
        .to("join")
        .boundary("stop", on="inner", signal="stop")
        .end("stopped")
        .done()
        .end()
    )
    run = world.start("p")
    run.complete("A")
    assert run.active == ["B", "inner", "s"]
    world.broadcast("stop")
    assert run.active == ["after", "s"]
    assert run.complete("after").ended


def test_an_inclusive_join_is_freed_when_a_gateway_chooses_the_way_past_it(world):
    """Scenario 18."""
    world.deploy(
        process("p")
        .start()
        .inclusive("split")
        .when("=true")
        .service("A")
        .inclusive("join")
        .service("after")
        .end()
        .at("split")
        .when("=true")
        .service("B")
        .exclusive("x")
        .when("=back")
        .to("join")
        .at("x")
        .otherwise()
        .end("elsewhere")
    )
    run = world.start("p").complete("A")
    assert run.active == ["B"]
    run.complete("B", {"back": False})
    assert run.active == ["after"]


def test_an_inclusive_join_waits_for_a_token_that_comes_by_a_link(world):
    """Scenario 19."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("A")
        .inclusive("join")
        .service("after")
        .end()
        .at("fork")
        .service("B")
        .throw("jump", link="over")
        .catch("landing", link="over")
        .service("C")
        .to("join")
    )
    run = world.start("p").complete("A")
    assert run.active == ["B"]
    run.complete("B")
    assert run.active == ["C"]
    run.complete("C")
    assert run.active == ["after"]
    assert run.count("join") == 1


def test_an_inclusive_join_waits_for_a_loop_until_it_is_left_by_another_way(world):
    """Scenario 20."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("A")
        .inclusive("join")
        .service("after")
        .end()
        .at("fork")
        .exclusive("again")
        .service("B")
        .exclusive("x")
        .when('=way = "join"')
        .to("join")
        .at("x")
        .when('=way = "loop"')
        .to("again")
        .at("x")
        .otherwise()
        .end("out")
    )
    run = world.start("p").complete("A")
    run.complete("B", {"way": "loop"})
    assert run.active == ["B"]
    run.complete("B", {"way": "out"})
    assert run.active == ["after"]


def test_tokens_of_other_scopes_and_instances_never_block_an_inclusive_join(world):
    """Scenario 21."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .sub_process("one")
        .start("s1")
        .inclusive("split")
        .when("=true")
        .service("A")
        .inclusive("join")
        .service("after")
        .end("e1")
        .at("split")
        .when("=false")
        .service("B")
        .to("join")
        .done()
        .end()
        .at("fork")
        .service("elsewhere")
        .end("e2")
    )
    world.start("p")
    run = world.start("p").complete("A")
    assert run.active == ["after", "elsewhere", "one"]


def test_two_tokens_in_succession_fire_an_inclusive_join_twice(world):
    """Scenario 22."""
    world.deploy(
        process("p")
        .start()
        .service("A")
        .exclusive("x")
        .when("=true")
        .inclusive("join")
        .service("after")
        .exclusive("enough")
        .when("=done")
        .end()
        .at("enough")
        .otherwise()
        .to("A")
        .at("x")
        .otherwise()
        .service("B")
        .to("join")
    )
    run = world.start("p").complete("A").complete("after", {"done": False})
    run.complete("A").complete("after", {"done": True})
    assert run.ended
    assert run.count("join") == 2


def test_two_tokens_on_one_flow_fire_an_inclusive_join_twice(world):
    """Scenario 22: they arrive before anything else moves."""
    world.deploy(
        process("p")
        .start()
        .service("A", attributes={"completionQuantity": "2"})
        .inclusive("join")
        .service("after")
        .end()
        .at("start")
        .exclusive("never")
        .when("=false")
        .to("join")
        .at("never")
        .otherwise()
        .end("out")
    )
    run = world.start("p").complete("A")
    assert run.active == ["after", "after"]
    assert run.count("join") == 2


def test_an_inclusive_join_behind_an_exclusive_split_passes_at_once(world):
    """Scenario 23."""
    world.deploy(
        process("p")
        .start()
        .exclusive("x")
        .when("=true")
        .service("A")
        .inclusive("join")
        .service("after")
        .end()
        .at("x")
        .otherwise()
        .service("B")
        .to("join")
    )
    assert world.start("p").complete("A").active == ["after"]


def test_an_inclusive_join_behind_a_parallel_split_waits_for_all(world):
    """Scenario 24."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .service("A")
        .inclusive("join")
        .service("after")
        .end()
        .at("fork")
        .service("B")
        .to("join")
    )
    run = world.start("p").complete("B")
    assert run.active == ["A"]
    assert run.complete("A").active == ["after"]


def test_joins_that_only_wait_for_each_other_go_on(world):
    """Two inclusive joins in a cycle: nothing else could ever move, so the first of them does."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .inclusive("j1")
        .service("A")
        .exclusive("x")
        .when("=again")
        .to("j2")
        .at("x")
        .otherwise()
        .end()
        .at("fork")
        .inclusive("j2")
        .service("B")
        .exclusive("y")
        .when("=again")
        .to("j1")
        .at("y")
        .otherwise()
        .end("end2")
    )
    run = world.start("p", {"again": False})
    for _ in range(10):
        if not run.working:
            break
        run.complete(run.working[0])
    assert run.ended


def discriminator():
    return (
        process("p")
        .start()
        .exclusive("again")
        .parallel("fork")
        .service("A")
        .complex("gate", activation="=activationCount >= 2")
        .service("after")
        .exclusive("x")
        .when("=more")
        .to("again")
        .at("x")
        .otherwise()
        .end()
        .at("fork")
        .service("B")
        .to("gate")
        .at("fork")
        .service("C")
        .to("gate")
    )


def test_a_complex_gateway_fires_at_the_second_token_and_swallows_the_third(world):
    """Scenario 27."""
    world.deploy(discriminator())
    run = world.start("p", {"more": True})
    run.complete("A")
    assert run.active == ["B", "C"]
    run.complete("B")
    assert run.active == ["C", "after"]
    run.complete("C")
    assert run.active == ["after"]
    assert run.count("gate") == 1
    run.complete("after", {"more": True})
    run.complete("C").complete("A")
    assert run.active == ["B", "after"], "ready again"
    run.complete("after", {"more": False})
    assert not run.ended
    run.complete("B")
    assert run.ended
    assert run.count("gate") == 2


def test_a_complex_gateway_keeps_tokens_of_the_next_round_until_the_late_one_has_come(world):
    """Scenario 27."""
    world.deploy(discriminator())
    run = world.start("p", {"more": True}).complete("A").complete("B").complete("after")
    run.complete("A").complete("B")
    assert run.count("gate") == 1
    assert run.active == ["C", "C"]
    run.complete("C")
    assert run.count("gate") == 2
    assert run.active == ["C", "after"]


def test_a_complex_gateway_is_ready_again_when_its_late_tokens_can_no_longer_come(world):
    """Scenario 27."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .exclusive("again")
        .service("A")
        .complex("gate", activation="=activationCount >= 1")
        .service("after")
        .exclusive("x")
        .when("=more")
        .to("again")
        .at("x")
        .otherwise()
        .end()
        .at("fork")
        .service("B")
        .to("gate")
        .boundary("failed", on="B", error="broken")
        .end("gone")
    )
    run = world.start("p", {"more": True}).complete("A").complete("after").complete("A")
    assert run.active == ["B"], "it waits for its reset"
    run.throw("B", "broken")
    assert run.active == ["after"]
    assert run.count("gate") == 2
    assert run.complete("after", {"more": False}).ended
