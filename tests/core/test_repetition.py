"""Stories of multi-instance activities, standard loops and ad-hoc sub-processes."""

from __future__ import annotations

import pytest

from procession.core.commands import Activate, CompleteJob
from procession.core.state import IncidentKind
from procession.errors import InvalidValue
from procession.testing.bpmn import multi_instance, process, standard_loop


def over(collection: str = "=items", **options):
    loop = multi_instance(collection, element="item", output="results", result="=r", **options)
    return process("p").start().service("a", loop=loop).service("after").end()


def complete_inner(run, position: int, result):
    """Complete the inner instance at a position."""
    node = next(node for node in run.now_state.nodes.values() if node.loop_index == position)
    return run.send(CompleteJob(node.job, {"r": result}))


def test_results_are_collected_by_index(world):
    """Scenario 74: each result is local, so that branches do not see each other's."""
    loop = multi_instance("=items", element="item", output="results", result="=r")
    world.deploy(process("p").start().service("a", loop=loop, inputs={"r": "=null"}).service("after").end())
    run = world.start("p", {"items": [1, 2, 3]})
    for position in (3, 1, 2):
        complete_inner(run, position, f"r{position}")
    assert run.variables == {"items": [1, 2, 3], "results": ["r1", "r2", "r3"]}
    assert run.active == ["after"]


def test_an_empty_list_completes_at_once(world):
    """Scenario 75."""
    world.deploy(over())
    run = world.start("p", {"items": []})
    assert run.active == ["after"]
    assert run.variables["results"] == []


@pytest.mark.parametrize("items", [None, "text", {"a": 1}, 7])
def test_what_is_no_list_is_an_incident(world, items):
    """Scenario 75."""
    world.deploy(over())
    run = world.start("p", {"items": items})
    assert run.incidents[0].kind == IncidentKind.EXTRACT_VALUE_ERROR
    run.set(items=[1]).resolve()
    assert run.working == ["a"]


def test_a_completion_condition_ends_the_rest(world):
    """Scenario 76."""
    loop = multi_instance(
        "=[1, 2, 3, 4, 5]", element="item", output="results", result="=r", until="=numberOfCompletedInstances >= 2"
    )
    world.deploy(process("p").start().service("a", loop=loop, inputs={"r": "=null"}).service("after").end())
    run = world.start("p")
    complete_inner(run, 2, "two")
    complete_inner(run, 4, "four")
    assert run.active == ["after"]
    assert run.variables["results"] == [None, "two", None, "four", None]
    assert run.removed == ["a", "a", "a"]


def test_item_and_counter_are_local(world):
    """Scenario 77."""
    world.deploy(over())
    run = world.start("p", {"items": ["x"]})
    inner = next(node for node in run.now_state.nodes.values() if node.loop_index)
    assert inner.variables == {"item": "x", "loopCounter": 1}
    complete_inner(run, 1, 1)
    assert "item" not in run.variables
    assert "loopCounter" not in run.variables


def test_camunda_7_counts_from_zero_and_shows_its_counters(world):
    """Scenario 77, and the attributes of Camunda 7."""
    raw = (
        '<bpmn:multiInstanceLoopCharacteristics camunda:collection="items" camunda:elementVariable="item">'
        "<bpmn:completionCondition>${nrOfCompletedInstances == 2}</bpmn:completionCondition>"
        "</bpmn:multiInstanceLoopCharacteristics>"
    )
    content = process("p").start().user("a", raw=raw).user("after").end().text().replace("<zeebe:userTask />", "")
    world.deploy(content.encode())
    run = world.start("p", {"items": ["x", "y", "z"]})
    first = next(node for node in run.now_state.nodes.values() if node.loop_index == 1)
    assert first.variables == {"item": "x", "loopCounter": 0}
    body = run.node("a")
    assert body.variables is not None
    assert body.variables["nrOfInstances"] == 3
    run.complete("a")
    assert run.local("a")["nrOfCompletedInstances"] == 1
    assert run.local("a")["nrOfActiveInstances"] == 2
    run.complete("a")
    assert run.active == ["after"]


def test_a_change_of_the_collection_does_not_change_the_iteration(world):
    """Scenario 78."""
    world.deploy(over(sequential=True))
    run = world.start("p", {"items": [1, 2]})
    run.set(items=[1, 2, 3, 4])
    run.complete("a").complete("a")
    assert run.active == ["after"]


def test_a_sequential_one_waits_for_each_and_stops_at_a_failing_one(world):
    """Scenario 79."""
    world.deploy(over(sequential=True))
    run = world.start("p", {"items": [1, 2, 3]})
    assert run.working == ["a"]
    run.complete("a").fail("a")
    assert len(run.incidents) == 1
    assert run.working == ["a"]
    run.resolve().complete("a")
    assert run.working == ["a"]
    run.complete("a")
    assert run.active == ["after"]


def test_a_boundary_event_belongs_to_the_body(world):
    """Scenario 81."""
    world.deploy(
        process("p")
        .start()
        .sub_process("s", loop=multi_instance("=[1, 2, 3]", element="item"))
        .start("s1")
        .service("a")
        .end("e1")
        .done()
        .end()
        .boundary("note", on="s", message="note", key="=1", interrupting=False)
        .service("write")
        .end("e2")
    )
    run = world.start("p")
    assert run.waiting_for() == ["note"]
    world.publish("note", "1")
    assert run.active == ["a", "a", "a", "s", "s", "s", "s", "write"]


def behaving(behavior: str, events: str, interrupting: bool = False):
    raw = f'<bpmn:multiInstanceLoopCharacteristics behavior="{behavior}" {events}'
    content = (
        process("p")
        .start()
        .service("a", raw=raw)
        .service("after")
        .end()
        .boundary("heard", on="a", signal="done", interrupting=interrupting)
        .service("note")
        .end("e2")
        .text()
    )
    return content.replace(
        "<bpmn:process", '<bpmn:signalEventDefinition id="thrown" signalRef="signal_done" /><bpmn:process'
    ).encode()


SIMPLE = "><bpmn:loopCardinality>3</bpmn:loopCardinality></bpmn:multiInstanceLoopCharacteristics>"


@pytest.mark.parametrize(
    ("behavior", "reference", "times"),
    [("None", 'noneBehaviorEventRef="thrown"', 3), ("One", 'oneBehaviorEventRef="thrown"', 1), ("All", "", 0)],
)
def test_behaviour_events_tell_of_completions(world, behavior, reference, times):
    """Scenario 82."""
    world.deploy(behaving(behavior, reference + SIMPLE))
    run = world.start("p").complete("a").complete("a").complete("a")
    assert run.active == sorted(["after", *["note"] * times])


def test_a_complex_behaviour_throws_where_its_condition_holds(world):
    """Scenario 82."""
    rule = (
        "><bpmn:loopCardinality>3</bpmn:loopCardinality><bpmn:complexBehaviorDefinition>"
        "<bpmn:condition>=numberOfCompletedInstances = 2</bpmn:condition>"
        '<bpmn:event id="thrower"><bpmn:signalEventDefinition signalRef="signal_done" /></bpmn:event>'
        "</bpmn:complexBehaviorDefinition></bpmn:multiInstanceLoopCharacteristics>"
    )
    world.deploy(behaving("Complex", rule))
    run = world.start("p").complete("a")
    assert "note" not in run.active
    run.complete("a")
    assert run.active.count("note") == 1
    run.complete("a")
    assert run.active == ["after", "note"]


def looping(**options):
    return process("p").start().service("a", loop=standard_loop("=n < 3", **options)).service("after").end()


def test_a_loop_that_tests_before_may_not_run_at_all(world):
    """Scenario 83."""
    world.deploy(looping(test_before=True))
    assert world.start("p", {"n": 3}).active == ["after"]


def test_a_loop_that_tests_after_runs_once_at_least(world):
    """Scenario 83."""
    world.deploy(looping())
    run = world.start("p", {"n": 3})
    assert run.working == ["a"]
    assert run.complete("a").active == ["after"]


def test_a_loop_repeats_while_its_condition_holds_up_to_its_maximum(world):
    """Scenario 83."""
    world.deploy(looping(maximum=5))
    run = world.start("p", {"n": 0})
    run.complete("a", {"n": 1}).complete("a", {"n": 3})
    assert run.active == ["after"]
    run = world.start("p", {"n": 0})
    for _ in range(5):
        run.complete("a")
    assert run.active == ["after"]


def ad_hoc(**options):
    builder = process("p").start().ad_hoc("hoc", **options)
    for name in "abc":
        builder = builder.service(name)
        builder._cursor = ""  # no flow between them
    return builder.done().service("after").end()


def test_activities_of_an_ad_hoc_sub_process_all_start_and_all_are_waited_for(world):
    """Scenario 84."""
    world.deploy(ad_hoc())
    run = world.start("p")
    assert run.working == ["a", "b", "c"]
    run.complete("b").complete("a")
    assert run.working == ["c"]
    assert run.complete("c").active == ["after"]


def test_an_ad_hoc_sub_process_ends_by_its_condition(world):
    """Scenario 84."""
    world.deploy(ad_hoc(completion="=enough"))
    run = world.start("p", {"enough": False}).complete("a")
    assert run.working == ["b", "c"]
    run.complete("b", {"enough": True})
    assert run.active == ["after"]
    assert run.removed == ["c"]


def test_an_ad_hoc_sub_process_may_wait_for_what_still_runs(world):
    """Scenario 84."""
    world.deploy(ad_hoc(completion="=enough", cancel_remaining=False))
    run = world.start("p", {"enough": False}).complete("a", {"enough": True})
    assert run.working == ["b", "c"]
    run.complete("b").complete("c")
    assert run.active == ["after"]


def test_a_sequential_ad_hoc_sub_process_has_one_active_at_a_time(world):
    """Scenario 85."""
    world.deploy(ad_hoc(sequential=True))
    run = world.start("p")
    for name in "abc":
        assert run.working == [name]
        run.complete(name)
    assert run.active == ["after"]


def test_an_ad_hoc_sub_process_starts_what_its_collection_names(world):
    """Scenario 86."""
    world.deploy(ad_hoc(active="=which"))
    run = world.start("p", {"which": ["c", "a"]})
    assert run.working == ["a", "c"]


def test_an_unknown_activity_in_the_collection_is_an_incident(world):
    """Scenario 86."""
    world.deploy(ad_hoc(active="=which"))
    run = world.start("p", {"which": ["a", "z"]})
    assert run.incidents[0].kind == IncidentKind.AD_HOC_ERROR
    assert "'z'" in run.incidents[0].message
    run.set(which=["b"]).resolve()
    assert run.working == ["b"]


def test_a_faulty_completion_condition_asks_and_does_not_start_anew(world):
    """Scenario 84."""
    world.deploy(ad_hoc(completion="=enough"))
    run = world.start("p").complete("a")
    assert run.incidents[0].kind == IncidentKind.AD_HOC_ERROR
    run.set(enough=False).resolve()
    assert run.working == ["b", "c"]
    assert run.count("a") == 1


def test_a_parallel_join_works_within_an_ad_hoc_sub_process(world):
    """Scenario 86."""
    world.deploy(
        process("p")
        .start()
        .ad_hoc("hoc")
        .service("a")
        .parallel("fork")
        .service("b")
        .parallel("join")
        .service("d")
        .at("fork")
        .service("c")
        .to("join")
        .done()
        .service("after")
        .end()
    )
    run = world.start("p").complete("a").complete("b").complete("c")
    assert run.working == ["d"]
    assert run.complete("d").active == ["after"]


def test_an_ad_hoc_sub_process_collects_results(world):
    """``outputCollection`` of ``zeebe:adHoc``: a result per activity, in the order in which they complete."""
    world.deploy(ad_hoc(extensions='<zeebe:adHoc outputCollection="results" outputElement="=r" />'))
    run = world.start("p").complete("b", {"r": "B"}).complete("a", {"r": "A"}).complete("c", {"r": "C"})
    assert run.variables["results"] == ["B", "A", "C"]
    assert run.active == ["after"]


DECIDED = '<zeebe:taskDefinition type="decide" />'


def test_a_worker_may_decide_what_an_ad_hoc_sub_process_does(world):
    """A job of its own says which activities start, and when it is enough."""
    world.deploy(ad_hoc(extensions=DECIDED))
    run = world.start("p")
    assert run.working == ["hoc"]
    with pytest.raises(InvalidValue, match="'z' is not an activity of 'hoc'"):
        run.send(CompleteJob(run.node("hoc").job, activate=[Activate("z")]))
    run.send(CompleteJob(run.node("hoc").job, activate=[Activate("a", variables={"x": 1}), Activate("b")]))
    assert run.working == ["a", "b"]
    assert (run.local("a"), run.local("hoc"), run.local("b")) == ({"x": 1}, {}, {})
    run.complete("a")
    assert run.working == ["b", "hoc"]
    run.send(CompleteJob(run.node("hoc").job, is_completion_condition_fulfilled=True))
    assert run.working == ["b"]
    run.complete("b")
    assert run.active == ["after"]


def test_a_worker_may_start_an_activity_twice_at_once_with_variables_of_its_own(world):
    """As a model calls a tool twice: each has its own variables, and each result is collected."""
    collects = '<zeebe:adHoc outputCollection="results" outputElement="=call * 10" />'
    world.deploy(ad_hoc(extensions=DECIDED + collects))
    run = world.start("p")
    twice = [Activate("a", variables={"call": 1}), Activate("a", variables={"call": 2})]
    run.send(CompleteJob(run.node("hoc").job, activate=twice))
    assert run.working == ["a", "a"]
    run.complete("a").complete("a")
    run.send(CompleteJob(run.node("hoc").job, is_completion_condition_fulfilled=True))
    assert run.active == ["after"]
    assert run.variables == {"results": [10, 20]}


def test_a_worker_that_starts_nothing_and_ends_nothing_is_asked_again_by_a_person(world):
    """Nothing would ever happen there."""
    world.deploy(ad_hoc(extensions=DECIDED))
    run = world.start("p")
    run.send(CompleteJob(run.node("hoc").job, {"seen": True}))
    assert [incident.kind for incident in run.incidents] == [IncidentKind.AD_HOC_ERROR]
    run.resolve()
    assert run.working == ["hoc"]
    run.send(CompleteJob(run.node("hoc").job, is_completion_condition_fulfilled=True))
    assert run.active == ["after"]
    assert run.variables == {"seen": True}


def test_a_worker_may_end_an_ad_hoc_sub_process_at_once(world):
    """What still runs is removed."""
    world.deploy(ad_hoc(extensions=DECIDED))
    run = world.start("p")
    run.send(CompleteJob(run.node("hoc").job, activate=[Activate("a"), Activate("b")]))
    run.complete("a")
    done = {"is_completion_condition_fulfilled": True, "is_cancel_remaining_instances": True}
    run.send(CompleteJob(run.node("hoc").job, **done))
    assert run.active == ["after"]
    assert run.removed == ["b"]
