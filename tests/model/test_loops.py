"""Multi-instance, standard loops, quantities, ad-hoc sub-processes and complex gateways, in every notation."""

from __future__ import annotations

import pytest

from procession.model.definition import Trigger
from procession.testing.bpmn import multi_instance, standard_loop
from procession.testing.bpmn import process as build
from tests.model.models import around, codes, compiled
from tests.model.test_tasks import element

THREE = "<loopCardinality>3</loopCardinality>"


def repeated(inner: str, attributes: str = "", tag: str = "task") -> str:
    """A task ``x`` with multi-instance characteristics."""
    return (
        f'<{tag} id="x"><multiInstanceLoopCharacteristics {attributes}>{inner}'
        f"</multiInstanceLoopCharacteristics></{tag}>"
    )


def in_zeebe(attributes: str) -> str:
    """The extension that Camunda 8 reads."""
    return f"<extensionElements><zeebe:loopCharacteristics {attributes}/></extensionElements>"


def test_multi_instance_of_camunda_8():
    loop = multi_instance("=items", element="item", output="results", result="=r", sequential=True, until="=done")
    found = compiled(build("p").start().service("x", loop=loop).end()).element("x").loop
    assert found.collection.evaluate({"items": [1]}) == [1]
    assert (found.element_variable, found.output_collection, found.sequential) == ("item", "results", True)
    assert found.output_element.evaluate({"r": 2}) == 2
    assert found.completion_condition.names == {"done"}
    assert (found.counter_from, found.count_variables, found.multi_instance) == (1, False, True)


@pytest.mark.parametrize("collection", ["people", "${people}"])
def test_multi_instance_of_camunda_7(collection: str):
    half = "<completionCondition>${nrOfCompletedInstances/nrOfInstances &gt;= 0.5}</completionCondition>"
    attributes = f'camunda:collection="{collection}" camunda:elementVariable="p"'
    found = element(repeated(half, attributes, "userTask")).loop
    assert found.collection.evaluate({"people": ["a"]}) == ["a"]
    assert (found.element_variable, found.counter_from, found.count_variables) == ("p", 0, True)
    assert found.completion_condition.evaluate({"nrOfCompletedInstances": 1, "nrOfInstances": 2}) is True


def test_multi_instance_of_plain_bpmn():
    found = element(repeated(THREE)).loop
    assert (found.cardinality.evaluate({}), found.sequential, found.counter_from) == (3, False, 1)
    data = element(
        repeated(
            "<loopDataInputRef>order-lines</loopDataInputRef><loopDataOutputRef>results</loopDataOutputRef>"
            '<inputDataItem id="i" name="line"/><outputDataItem id="o" name="r"/>'
        )
    ).loop
    assert data.collection.evaluate({"order-lines": [1]}) == [1]
    assert (data.element_variable, data.output_collection, data.output_element.text) == ("line", "results", "r")


def test_behaviours_of_multi_instance_throw_events():
    one = repeated(THREE, 'behavior="One" oneBehaviorEventRef="sd"')
    roots = '<signal id="s" name="first"/><signalEventDefinition id="sd" signalRef="s"/>'
    found = element(one, roots).loop
    ((condition, event),) = found.behavior_events
    assert (found.behavior, condition, event.trigger, event.name.text) == ("One", None, Trigger.SIGNAL, "first")
    rule = "<condition>=a</condition><event><signalEventDefinition signalRef='s'/></event>"
    complicated = repeated(
        f"{THREE}<complexBehaviorDefinition>{rule}</complexBehaviorDefinition>", 'behavior="Complex"'
    )
    ((condition, event),) = element(complicated, roots).loop.behavior_events
    assert condition.names == {"a"}
    assert codes(around(one)) == ["MISSING_BEHAVIOR_EVENT"]


def test_a_standard_loop():
    loop = standard_loop("=again", test_before=True, maximum=3)
    found = compiled(build("p").start().task("x", loop=loop).end()).element("x").loop
    assert (found.multi_instance, found.test_before, found.loop_maximum) == (False, True, 3)
    assert found.loop_condition.evaluate({"again": True}) is True


def test_a_negative_maximum_is_refused_and_kept_apart_from_none_where_gaps_are_tolerated():
    content = around('<task id="x"><standardLoopCharacteristics loopMaximum="-1"/></task>')
    assert codes(content) == ["NEGATIVE_LOOP_MAXIMUM"]
    assert compiled(content, lenient=True).element("x").loop.loop_maximum < -1
    none = build("p").start().task("x", loop=standard_loop("=a")).end()
    assert compiled(none).element("x").loop.loop_maximum == -1


@pytest.mark.parametrize(
    ("task", "code"),
    [
        (repeated(""), "MISSING_COLLECTION"),
        ('<task id="x"><standardLoopCharacteristics/></task>', "MISSING_LOOP_CONDITION"),
        ('<task id="x"><standardLoopCharacteristics loopMaximum="few"/></task>', "INVALID_ATTRIBUTE"),
        (repeated(THREE).replace("</task>", "<standardLoopCharacteristics/></task>"), "SEVERAL_LOOPS"),
        (repeated(in_zeebe('inputCollection="items"')), "INVALID_COLLECTION"),
        (repeated(in_zeebe('inputCollection="=items" outputCollection="r"')), "OUTPUT_COLLECTION"),
        (repeated(in_zeebe('inputCollection="=items" outputElement="=r"')), "OUTPUT_COLLECTION"),
        (repeated(THREE, 'behavior="Few"'), "INVALID_ATTRIBUTE"),
        (repeated(THREE, 'isSequential="maybe"'), "INVALID_ATTRIBUTE"),
    ],
)
def test_a_loop_without_what_it_needs_is_refused(task: str, code: str):
    assert code in codes(around(task))


def test_a_continuation_of_every_single_instance_is_remarked_on():
    assert codes(around(repeated(THREE, 'camunda:asyncBefore="true"')), "warning") == ["IGNORED_EXTENSION"]


def test_quantities_are_read():
    found = element('<task id="x" startQuantity="2" completionQuantity="3"/>')
    assert (found.start_quantity, found.completion_quantity) == (2, 3)


def test_a_quantity_below_one_is_refused_and_kept_where_gaps_are_tolerated():
    content = around('<task id="x" completionQuantity="0"/>')
    assert codes(content) == ["INVALID_QUANTITY"]
    assert compiled(content, lenient=True).element("x").completion_quantity == 0


def test_an_ad_hoc_sub_process_names_what_is_active_and_when_it_is_done():
    model = build("p").start().ad_hoc("a", active='=["one"]', completion="=done").task("one").done().end()
    spec = compiled(model).element("a").ad_hoc
    assert spec.active_elements.evaluate({}) == ["one"]
    assert spec.completion_condition.names == {"done"}


def test_a_complex_gateway_has_an_activation_condition():
    found = compiled(build("p").start().complex("x", activation="=activationCount >= 2").end()).element("x")
    assert found.activation_condition.evaluate({"activationCount": 2}) is True
