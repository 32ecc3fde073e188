"""What can never have a value is found when it is deployed; what may have one is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given

from procession.feel import FeelSyntaxError, flaws
from procession.feel.printer import print_node
from tests.feel.expressions import EXPRESSIONS


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ('x > date("2024-02-30")', 5, "The day must lie between 1 and 29"),
        ('x + @"P1Q"', 5, "Expected a duration"),
        ("x + 1 / 0", 7, "Division by zero"),
        ('{a: x, b: duration("soon")}.b', 11, "Expected a duration"),
        ('if x then "a" - 1 else 2', 15, "- has no meaning for string and number"),
        ("upperCase(name)", 1, "There is no function 'upperCase'"),
        ("count(x[f(item)])", 0, ""),
        ("substring(x)", 1, "No form of it takes these arguments: substring(string, start position, length)"),
        ("substring(string: x, beginning: 2)", 1, "No form of it takes these arguments"),
        ('matches(x, "(a+")', 12, "an open parenthesis"),
        ('replace(x, "(a+)+", "b")', 12, "repeats something"),
        ('matches(input: x, pattern: "[")', 28, "an open bracket"),
        ('for i in [1, 2] return i + number("one")', 28, "'one' is not a number"),
        ('some i in x satisfies i > time("25:00:00")', 27, "The hour must lie between 0 and 23"),
        ('x in [date("2024-01-01")..date("2024-13-01")]', 27, "The month must lie between 1 and 12"),
        ("uuid()", 1, "There is no function 'uuid'"),
    ],
)
def test_what_can_never_have_a_value_is_found_at_its_place(text, column, message):
    found = flaws(text)
    assert [(one.column, message in one.message) for one in found] == ([(column, True)] if column else [])


@pytest.mark.parametrize(
    "text",
    [
        "x > y + 1",
        'date(x) > date("2024-02-29")',
        "f(1)",
        "{f: function(a) a + 1, r: f(2)}.r",
        "(function(g) g(1))(function(a) a)",
        "for f in functions return f(1)",
        "items[f(1) > 2]",
        'is defined(date("nonsense"))',
        'get or else(number("x"), 1)',
        "if null then 1 else 2",
        "null",
        'now() - duration("P1D")',
        'today() > @"2024-01-01"',
        "matches(x, y)",
        'matches(x, "a(", "q")',
        "sort(list, function(a, b) a < b)",
        "a.b(1)",
    ],
)
def test_what_may_have_a_value_is_left_alone(text):
    assert flaws(text, {"f"}) == ()


def test_the_tests_of_a_cell_are_looked_at_too():
    (flaw,) = flaws('< 10, date("2024-02-30")', tests=True)
    assert flaw.column == 7
    with pytest.raises(FeelSyntaxError):
        flaws("1 +")


@given(EXPRESSIONS)
def test_any_expression_can_be_looked_at(node):
    text = print_node(node)
    assert all(one.code != "internal" and one.line >= 1 for one in flaws(text))
