"""Stories of messages, signals and conditions."""

from __future__ import annotations

import pytest

from procession.core.state import IncidentKind
from procession.errors import Conflict, NotFound
from procession.testing.bpmn import process

SECOND = 1_000


def waiting(process_id: str = "p"):
    return (
        process(process_id).start().service("first").catch("paid", message="paid", key="=order").service("after").end()
    )


def test_a_message_waits_for_a_subscription_within_its_time_to_live(world):
    """Scenario 94."""
    world.deploy(waiting())
    run = world.start("p", {"order": "A"})
    world.publish("paid", "A", {"n": 1}, ttl_ms=60 * SECOND)
    world.publish("paid", "A", {"n": 2}, ttl_ms=60 * SECOND)
    world.advance(30 * SECOND)
    run.complete("first")
    assert run.active == ["after"]
    assert run.variables["n"] == 1


def test_a_message_without_time_to_live_is_dropped(world):
    """Scenario 95."""
    world.deploy(waiting())
    run = world.start("p", {"order": "A"})
    world.publish("paid", "A")
    world.publish("paid", "A", ttl_ms=10 * SECOND)
    world.advance(10 * SECOND)
    run.complete("first")
    assert run.active == ["paid"]
    assert not world.buffered()


def test_a_message_id_is_refused_a_second_time(world):
    """Scenario 96."""
    world.deploy(waiting())
    run = world.start("p", {"order": "A"}).complete("first")
    world.publish("paid", "A", {"n": 1}, ttl_ms=60 * SECOND, message_id="m1")
    with pytest.raises(Conflict, match="m1"):
        world.publish("paid", "A", {"n": 2}, ttl_ms=60 * SECOND, message_id="m1")
    assert run.variables["n"] == 1
    world.advance(60 * SECOND)
    world.publish("paid", "A", ttl_ms=60 * SECOND, message_id="m1")


def test_a_message_goes_to_one_instance_of_each_process(world):
    """Scenario 97."""
    world.deploy(waiting("p"), waiting("q"))
    runs = [world.start(name, {"order": "A"}).complete("first") for name in ("p", "p", "q")]
    world.publish("paid", "A")
    assert sorted(run.active for run in runs) == [["after"], ["after"], ["paid"]]
    assert runs[2].active == ["after"]


def started_by_message():
    return process("p").start("by message", message="order").service("work").end()


def test_a_message_with_the_key_of_an_active_instance_waits_for_its_end(world):
    """Scenario 98."""
    world.deploy(started_by_message())
    world.publish("order", "K", {"n": 1})
    world.publish("order", "K", {"n": 2}, ttl_ms=60 * SECOND)
    (first,) = world.runs("p")
    world.deploy(process("p").start("by message", message="order").service("newer work").end())
    first.complete("work")
    assert first.ended
    _, second = world.runs("p")
    assert second.active == ["newer work"]
    assert second.variables == {"n": 2}


def test_a_message_with_an_empty_key_always_starts_an_instance(world):
    """Scenario 98."""
    world.deploy(started_by_message())
    world.publish("order")
    world.publish("order")
    assert len(world.runs("p")) == 2


def test_a_message_start_with_mappings_keeps_only_what_they_name(world):
    """The message's variables belong to the start event."""
    world.deploy(process("p").start("by message", message="order", outputs={"id": "=order.id"}).service("work").end())
    world.publish("order", variables={"order": {"id": 7}, "more": True})
    assert world.runs("p")[0].variables == {"id": 7}


def test_a_receive_task_may_start_a_process(world):
    """``instantiate``; the message is not waited for again."""
    world.deploy(process("p").receive("take", message="order", instantiate=True).service("work").end())
    world.publish("order", variables={"n": 1})
    (run,) = world.runs("p")
    assert run.active == ["work"]
    assert run.variables == {"n": 1}


def test_a_parallel_multiple_start_needs_all_its_events(world):
    """The first makes the instance, which waits for the others."""
    world.deploy(
        process("p")
        .start("both", message="order", key="=id", signal="go", parallel_multiple=True)
        .service("work")
        .end()
    )
    world.broadcast("go", {"id": "7"})
    (run,) = world.runs("p")
    assert run.active == ["both"]
    world.publish("order", "7", {"n": 1})
    assert run.active == ["work"]


def test_a_correlation_value_is_frozen_when_the_subscription_opens(world):
    """Scenario 99."""
    world.deploy(waiting())
    run = world.start("p", {"order": "A"}).complete("first")
    run.set(order="B")
    world.publish("paid", "B")
    assert run.active == ["paid"]
    world.publish("paid", "A")
    assert run.active == ["after"]


def test_a_subscription_without_a_key_is_an_incident(world):
    """Scenario 99, and section 4 of the contract."""
    world.deploy(waiting())
    run = world.start("p").complete("first")
    assert run.incidents[0].kind == IncidentKind.EXTRACT_VALUE_ERROR
    run.set(order=12).resolve()
    world.publish("paid", "12")
    assert run.active == ["after"]


def test_a_non_interrupting_message_boundary_gives_a_token_per_message(world):
    """Scenario 100."""
    world.deploy(
        process("p")
        .start()
        .service("work")
        .end()
        .boundary("note", on="work", message="note", key="=1", interrupting=False)
        .service("write")
        .end("e2")
    )
    run = world.start("p")
    for number in range(3):
        world.publish("note", "1", {"n": number})
    assert run.active == ["work", "write", "write", "write"]


def test_correlate_finds_or_says_so(world):
    """Scenario 101."""
    world.deploy(waiting())
    run = world.start("p", {"order": "A"})
    with pytest.raises(NotFound):
        world.correlate("paid", "A")
    run.complete("first")
    assert run.active == ["paid"], "nothing was buffered"
    assert world.correlate("paid", "A") == run.instance


def test_a_signal_reaches_everything_that_waits_and_starts_latest_versions(world):
    """Scenario 102."""
    world.deploy(
        process("p").start().catch("heard", signal="go").service("after").end(),
        process("s").start(signal="go").service("old").end(),
    )
    world.deploy(process("s").start(signal="go").service("new").end())
    runs = [world.start("p"), world.start("p")]
    world.broadcast("go", {"n": 1})
    assert [run.active for run in runs] == [["after"], ["after"]]
    assert [run.active for run in world.runs("s")] == [["new"]]
    late = world.start("p")
    assert late.active == ["heard"], "it is not buffered"


def test_a_signal_thrown_within_an_instance_reaches_it_once(world):
    """Scenario 102."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .service("a")
        .throw("tell", signal="go")
        .service("b")
        .end("e1")
        .done()
        .end()
        .boundary("heard", on="s", signal="go", interrupting=False)
        .service("note")
        .end("e2"),
    )
    run = world.start("p").complete("a")
    assert run.active == ["b", "note", "s"]
    world.broadcast("go")
    assert run.active == ["b", "note", "note", "s"]


def test_a_signal_ends_the_sub_process_that_throws_it_at_its_end(world):
    """The boundary event hears it before the sub-process is over."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s")
        .start("s1")
        .service("a")
        .end("tell", signal="go")
        .done()
        .service("never")
        .end()
        .boundary("heard", on="s", signal="go")
        .service("note")
        .end("e2")
    )
    assert world.start("p").complete("a").active == ["note"]


def test_a_signal_is_not_heard_by_what_comes_after_it(world):
    """Scenario 102: a catch event behind the throwing one waits for the next signal."""
    world.deploy(process("p").start().throw("tell", signal="go").catch("hear", signal="go").service("after").end())
    run = world.start("p")
    assert run.active == ["hear"]
    world.broadcast("go")
    assert run.active == ["after"]


def test_a_signal_is_heard_by_a_parallel_branch_whichever_comes_first(world):
    """Scenario 102."""
    world.deploy(
        process("p")
        .start()
        .parallel("fork")
        .throw("tell", signal="go")
        .end()
        .at("fork")
        .catch("hear", signal="go")
        .service("after")
        .end("e2")
    )
    assert world.start("p").active == ["after"]


def test_a_condition_that_is_true_already_goes_on_at_once(world):
    """Scenario 103."""
    world.deploy(process("p").start().catch("enough", condition="=n > 2").service("after").end())
    assert world.start("p", {"n": 3}).active == ["after"]
    run = world.start("p", {"n": 1})
    assert run.active == ["enough"]
    run.set(n=2)
    assert run.active == ["enough"]
    run.set(m=9)
    assert run.active == ["enough"]
    run.set(n=3)
    assert run.active == ["after"]


def test_a_non_interrupting_condition_fires_at_every_matching_change(world):
    """Scenario 103: Camunda 8's rule."""
    world.deploy(
        process("p")
        .start()
        .service("work")
        .end()
        .boundary("high", on="work", condition="=n > 2", interrupting=False)
        .service("note")
        .end("e2")
    )
    run = world.start("p", {"n": 0})
    run.set(n=3)
    run.set(n=4)
    run.set(other=1)
    run.set(n=1)
    assert run.active == ["note", "note", "work"]


def test_a_condition_is_looked_at_when_a_job_changes_its_variable(world):
    """Scenario 103."""
    world.deploy(
        process("p")
        .start()
        .service("a")
        .service("b")
        .end()
        .event_sub_process("s")
        .start("high", condition="=n > 2")
        .service("stop")
        .end("e2")
        .done()
    )
    run = world.start("p", {"n": 0}).complete("a", {"n": 5})
    assert run.active == ["s", "stop"]


def test_a_condition_sees_the_local_variable_that_hides_another(world):
    """Scenario 104."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s", inputs={"n": "=0"})
        .start("s1")
        .service("a")
        .end("e1")
        .event_sub_process("h")
        .start("high", condition="=n > 2", interrupting=False)
        .service("note")
        .end("e2")
        .done()
        .done()
        .end()
    )
    run = world.start("p", {"n": 0})
    run.set(n=5)
    assert run.active == ["a", "s"]
    run.complete("a", {"n": 1})
    assert run.variables["n"] == 5
    assert run.ended


def test_a_filter_of_names_limits_what_a_condition_listens_to(world):
    """``zeebe:conditionalFilter``."""
    content = (
        process("p")
        .start()
        .service("work")
        .end()
        .boundary("high", on="work", condition="=n > 2", interrupting=False)
        .service("note")
        .end("e2")
        .text()
        .replace(
            "<bpmn:conditionalEventDefinition",
            '<bpmn:extensionElements><zeebe:conditionalFilter variableNames="m" /></bpmn:extensionElements>'
            "<bpmn:conditionalEventDefinition",
        )
    )
    world.deploy(content.encode())
    run = world.start("p", {"n": 0})
    run.set(n=3)
    assert run.active == ["work"]
    run.set(m=1)
    assert run.active == ["note", "work"]


def test_a_message_is_thrown_with_the_variables_that_its_event_sees(world):
    """A send task or throw event that names a message publishes it."""
    world.deploy(
        process("p").start().send("tell", message="hello", inputs={"a": "=1"}).throw("again", message="hello").end(),
        process("q").start(message="hello").service("x").end(),
    )
    world.start("p", {"b": 2})
    assert [run.variables for run in world.runs("q")] == [{"a": 1, "b": 2}, {"b": 2}]


def test_a_filter_of_events_limits_which_changes_a_condition_listens_to(world):
    """``variableEvents``: created, not updated."""
    content = (
        process("p")
        .start()
        .service("work")
        .end()
        .boundary("new", on="work", condition="=n > 2", interrupting=False)
        .service("note")
        .end("e2")
        .text()
        .replace(
            "<bpmn:conditionalEventDefinition",
            '<bpmn:extensionElements><zeebe:conditionalFilter variableNames="n" variableEvents="create" />'
            "</bpmn:extensionElements><bpmn:conditionalEventDefinition",
        )
    )
    world.deploy(content.encode())
    run = world.start("p")
    run.set(n=3)
    assert run.active == ["note", "work"]
    run.set(n=4)
    assert run.active == ["note", "work"]


def test_expressions_of_a_boundary_event_see_the_local_variables_of_its_activity(world):
    """The correlation key is evaluated in the scope of the attached element."""
    world.deploy(
        process("p")
        .start()
        .service("work", inputs={"id": "=order.id"})
        .end()
        .boundary("stop", on="work", message="stop", key="=id")
        .service("stopped")
        .end("e2")
    )
    run = world.start("p", {"order": {"id": "A"}})
    world.publish("stop", "A")
    assert run.active == ["stopped"]
