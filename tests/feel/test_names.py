"""Names with spaces and operators inside, and what an expression says it reads."""

from __future__ import annotations

import pytest

from procession import feel
from tests.feel.evaluation import evaluate, refusal


@pytest.mark.parametrize(
    ("text", "context", "expected"),
    [
        ("first name", {"first name": "Ada"}, "Ada"),
        ("first  name", {"first name": "Ada"}, "Ada"),
        ("days in weekend[1]", {"days in weekend": ["saturday"]}, "saturday"),
        ("a-b + 1", {"a-b": 1, "a": 10, "b": 5}, 2),
        ("a - b", {"a-b": 1, "a": 10, "b": 5}, 5),
        ("profit +/- ", {"profit +/-": 3}, 3),
        ("date and time > 1", {"date and time": 2}, True),
        ("if x and y then 1 else 2", {"x and y": True}, 1),
        ("person.first name", {"person": {"first name": "Ada"}}, "Ada"),
        ("`odd % name` + 1", {"odd % name": 1}, 2),
        ("line 2", {"line 2": 5}, 5),
        ("Größe + 1", {"Größe": 1}, 2),
        ("🐎 + 1", {"🐎": 1}, 2),
    ],
)
def test_a_name_in_scope_is_read_as_one_name(text, context, expected):
    assert evaluate(text, context, frozenset(context)) == expected


def test_adjacent_words_are_one_name_even_if_nobody_knows_it():
    assert refusal("order total + 1") == "There is no variable 'order total'"


def test_a_member_with_an_operator_inside_is_known_by_the_names_of_members():
    expression = feel.compile("person.last-name", members={"last-name"})
    assert expression.evaluate({"person": {"last-name": "Lovelace"}}) == "Lovelace"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a + b.c[d > 1]", {"a", "b", "d"}),
        ("for x in xs return x + y", {"xs", "y"}),
        ("{a: 1, b: a + c}", {"c"}),
        ("count(list) > abs(n)", {"list", "n"}),
        ("(function(p) p + q)(1)", {"q"}),
        ("f(1)", {"f"}),
        ("some x in 1..n satisfies partial", {"n", "partial"}),
        ("for x in 1..n return partial[-1]", {"n"}),
        ('@"2024-01-01"', set()),
    ],
)
def test_an_expression_knows_which_variables_it_reads(text, names):
    assert feel.compile(text).names == names


def test_tests_know_which_variables_they_read_and_the_input_is_none_of_them():
    assert feel.compile_unary_tests("> limit, contains(?, prefix)").names == {"limit", "prefix"}


def test_an_expression_keeps_its_text():
    assert feel.compile(" 1 + 1 ").text == " 1 + 1 "
