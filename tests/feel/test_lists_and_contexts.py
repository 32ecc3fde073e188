"""Lists, contexts, filters, paths, loops, conditions, quantifiers and functions."""

from __future__ import annotations

import pytest

from procession import feel
from tests.feel.evaluation import evaluate, evaluate_with_warnings, refusal, text_of

PEOPLE = [
    {"name": "Ada", "age": 36, "tags": ["a", "b"]},
    {"name": "Bo", "age": 17},
    {"name": "Cy", "age": None},
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2, 3][1]", "1"),
        ("[1, 2, 3][-1]", "3"),
        ("[1, 2, 3][item >= 2]", "[2, 3]"),
        ("[1, 2, 3][i]", "2"),
        ("[1, 2, 3][count([1, 2])]", "2"),
        ("[][i > 1]", "[]"),
        ("100[1]", "100"),
        ("100[item > 100]", "[]"),
        ("[{item: 1}, {item: 2}][item >= 2]", "[{item: 2}]"),
        ("people[age != null][age > 20].name", '["Ada"]'),
        ("people[item.age = 17].name[1]", '"Bo"'),
        ("people[name = name][1].name", '"Ada"'),
        ("people[1].tags[2]", '"b"'),
        ("people.name", '["Ada", "Bo", "Cy"]'),
        ("[[1, 2], [3]][count(item) = 1]", "[[3]]"),
    ],
)
def test_filters_and_paths(text, expected):
    assert evaluate(f"string({text})", {"people": PEOPLE, "i": 2}) == (
        expected.strip('"') if expected.startswith('"') else expected
    )


def test_an_item_without_the_member_falls_back_to_the_variable_outside():
    assert evaluate("[{a: 1}, {b: 2}][a = 1]", {"a": 1}) == [{"a": 1}, {"b": 2}]


def test_a_comparison_with_null_keeps_no_item_and_says_so():
    value, warnings = evaluate_with_warnings("people[age > 20].name", {"people": PEOPLE[2:]})
    assert value == []
    assert [warning.message for warning in warnings] == ["Cannot compare null with number"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1, 2][3]", "The list has 2 items, none at position 3"),
        ("[1, 2][0]", "none at position 0"),
        ("null[1]", "An index was applied to null"),
        ("{a: 1}.b", "The context has no member 'b'"),
        ("nobody.name", "There is no variable 'nobody'"),
        ("(1).name", "A value of type number has no member 'name'"),
    ],
)
def test_what_is_not_there_is_null_and_says_so(text, reason):
    assert reason in refusal(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for i in [1, 2, 3] return i * i", "[1, 4, 9]"),
        ("for i in 1..3, j in i..3 return i * 10 + j", "[11, 12, 13, 22, 23, 33]"),
        ("for i in 3..1 return i", "[3, 2, 1]"),
        ("for i in [1..3) return i", "[1, 2]"),
        ("for i in 0..4 return if i = 0 then 1 else i * partial[-1]", "[1, 1, 2, 6, 24]"),
        ('for d in @"2024-02-28"..@"2024-03-01" return d.day', "[28, 29, 1]"),
        ("for i in [] return i", "[]"),
        ("for i in 5 return i", "[5]"),
        ("some i in [1, 2] satisfies i > 1", "true"),
        ("every i in [1, 2] satisfies i > 1", "false"),
        ("every i in [] satisfies false", "true"),
        ("some a in [1, 2], b in [2, 3] satisfies a = b", "true"),
        ("if 1 > 2 then 1 else if true then 2 else 3", "2"),
        ("{a: 1, b: a + 1}.b", "2"),
        ('{"a b": 1, c: a b + 1}.c', "2"),
        ("{f: function(n) if n < 2 then 1 else n * f(n - 1), r: f(10)}.r", "3628800"),
        ("(function(a, b) a - b)(5, 3)", "2"),
        ("(function(a, b) a - b)(b: 5, a: 3)", "-2"),
        ("{add: function(n) function(m) n + m, r: add(1)(2)}.r", "3"),
        ("sort([3, 1, 2], function(x, y) x > y)", "[3, 2, 1]"),
        ("{f: abs, r: f(-1)}.r", "1"),
    ],
)
def test_loops_conditions_and_functions(text, expected):
    assert text_of(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('for i in "a".."c" return i', "Cannot iterate from a string to a string"),
        ("for i in [2..1] return i", "from a lower to a higher"),
        ("for i in null return i", "the source is null"),
        ("(function(a) a)(1, 2)", "takes 1 arguments, found 2"),
        ("(function(a: string) a)(1)", "does not have the type of its parameter"),
        ("(function(a) a)(b: 1)", "has the parameters a; found b"),
        ("nothing(1)", "There is no function 'nothing'"),
        ('"abs"(1)', "A string cannot be called"),
        ('function(a) external {java: {class: "java.lang.Math"}}', "cannot be called here"),
    ],
)
def test_loops_and_calls_without_a_meaning_are_null_and_say_why(text, reason):
    assert reason in refusal(text)


def test_a_parameter_of_a_type_takes_the_only_item_of_a_list_and_makes_a_list_of_one():
    assert evaluate("(function(a: number) a + 1)([1])") == 2
    assert evaluate("(function(a: list<number>) count(a))(1)") == 1


def test_some_and_every_are_three_valued():
    assert evaluate("some i in [null, true] satisfies i") is True
    assert evaluate("some i in [null, false] satisfies i") is None
    assert evaluate("every i in [null, false] satisfies i") is False
    assert evaluate("every i in [null, true] satisfies i") is None


def test_a_variable_named_like_a_function_does_not_hide_it():
    context = {"date": "2024-01-31", "count": 3}
    assert evaluate("date(date).day + count([1, 2]) + count", context, frozenset(context)) == 36


def test_a_function_handed_in_can_be_called_by_position_and_by_name():
    double = feel.Function("double", ("n",), lambda arguments, run: arguments[0] * 2)
    assert feel.compile("double(21)").evaluate({}, functions={"double": double}) == 42
    assert feel.compile("double(n: 21)").evaluate({"double": double}) == 42
