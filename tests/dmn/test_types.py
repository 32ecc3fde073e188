"""Item definitions: what values fit, how they are converted, and what `instance of` says about them."""

from __future__ import annotations

import pytest

from procession.feel import Date, DateTime, Time
from tests.dmn.models import compiled, component, decision, input_data, item, knowledge, literal, messages

TYPES = (
    item("tSize", "string", allowed='"S","M","L"'),
    item("tSizes", "tSize", many=True),
    item("tFew", "number", constraint="count(?) <= 2", many=True),
    item("tPerson", parts=component("full name", "string") + component("age", "number", "[0..150]")),
    item("tPeople", "tPerson", many=True),
    item("tTree", parts=component("value", "number") + component("children", "tTrees")),
    item("tTrees", "tTree", many=True),
    item("tScore", parts='<functionItem outputTypeRef="number"><parameters name="x" typeRef="number"/></functionItem>'),
)


TREE = {"value": 1, "children": [{"value": 2, "children": []}]}


def typed(value, kind):
    model = compiled(*TYPES, decision("it", literal("value"), kind=kind))
    return model.evaluate("it", {"value": value})


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("number", [5], 5),
        ("number", "x", None),
        ("string", ["x"], "x"),
        ("string", ["x", "y"], None),
        ("list&lt;number&gt;", 5, [5]),
        ("tSize", "M", "M"),
        ("tSize", "XL", None),
        ("tSizes", ["S", "L"], ["S", "L"]),
        ("tSizes", "S", ["S"]),
        ("tSizes", ["S", "XL"], None),
        ("tFew", [1, 2], [1, 2]),
        ("tFew", [1, 2, 3], None),
        ("tPerson", {"full name": "A", "age": 1, "more": 2}, {"full name": "A", "age": 1, "more": 2}),
        ("tPerson", {"full name": "A"}, None),
        ("tPerson", {"full name": "A", "age": 200}, None),
        ("tPerson", {"full name": None, "age": None}, {"full name": None, "age": None}),
        ("tPeople", {"full name": "A", "age": 1}, [{"full name": "A", "age": 1}]),
        ("tTree", TREE, TREE),
        ("tTree", {"value": 1, "children": [{"value": "x", "children": []}]}, None),
        ("Any", "x", "x"),
        ("integer", 3, 3),
        ("feel:number", 3, 3),
    ],
)  # fmt: skip
def test_a_result_fits_the_declared_type_or_is_null(kind, value, expected):
    model = compiled(
        *TYPES,
        decision("it", literal("value")).replace('<variable name="it"/>', f'<variable name="it" typeRef="{kind}"/>'),
    )
    evaluation = model.evaluate("it", {"value": value})
    assert evaluation.result == expected
    assert bool(evaluation.warnings) is (expected is None)


def test_null_fits_every_type_without_a_warning():
    for kind in ("number", "tSize", "tPerson", "tFew"):
        evaluation = typed(None, kind)
        assert (evaluation.result, evaluation.warnings) == (None, ()), kind


def test_a_date_becomes_its_midnight_in_utc_where_a_date_and_time_is_wanted():
    expected = DateTime(Date(2024, 5, 1), Time(0, 0, 0, offset=0))
    assert typed(Date(2024, 5, 1), "date and time").result == expected


def test_a_warning_says_what_did_not_fit_and_where():
    evaluation = typed({"full name": "A"}, "tPerson")
    assert messages(evaluation) == [
        "The result of the decision 'it' is a context that does not fit the type tPerson: the member 'age' is missing"
    ]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"full name": "A", "age": "9"}, "the member 'age' is a string that does not fit the type number"),
        ({"full name": 1, "age": 9}, "the member 'full name' is a number that does not fit the type string"),
        ("XXL", 'it is none of the allowed values "S","M","L"'),
        ([{"full name": "A", "age": 1}, {}], "item 2 is a context that does not fit the type tPerson: the member"),
    ],
)
def test_a_warning_says_which_part_does_not_fit(value, why):
    kind = "tSize" if isinstance(value, str) else "tPerson" if isinstance(value, dict) else "tPeople"
    model = compiled(*TYPES, input_data("value", kind), decision("it", literal("value"), needs=["?value"]))
    assert why in messages(model.evaluate("it", {"value": value}))[0]


def test_instance_of_knows_item_definitions_but_not_their_allowed_values():
    text = '["XL" instance of tSize, 1 instance of tSize, {"full name": "A", age: 900} instance of tPerson]'
    assert compiled(*TYPES, decision("it", literal(text))).evaluate("it", {}).result == [True, False, True]


def test_a_function_is_not_evaluated_with_arguments_that_do_not_fit():
    model = compiled(
        *TYPES,
        knowledge("shirt", {"size": "tSize"}, literal('"shirt " + size')),
        decision("it", literal('[shirt("M"), shirt(["L"]), shirt("XL")]'), knows=["shirt"]),
    )
    evaluation = model.evaluate("it", {})
    assert evaluation.result == ["shirt M", "shirt L", None]
    assert any("size" in message and "tSize" in message for message in messages(evaluation))


def test_the_result_of_a_function_has_its_type():
    for kind in ("number", "tScore"):
        model = compiled(
            *TYPES,
            knowledge("f", {"x": ""}, literal("x"), kind=kind),
            decision("it", literal('[f(1), f([2]), f("x")]'), knows=["f"]),
        )
        assert model.evaluate("it", {}).result == [1, 2, None], kind


def test_input_data_is_checked_against_its_allowed_values():
    model = compiled(*TYPES, input_data("size", "tSize"), decision("it", literal("size"), needs=["?size"]))
    assert model.evaluate("it", {"size": "M"}).result == "M"
    evaluation = model.evaluate("it", {"size": "XXL"})
    assert evaluation.result is None
    assert "The value of the input data 'size'" in messages(evaluation)[0]
