"""The cells of decision tables."""

from __future__ import annotations

import pytest

from procession.feel import compile_unary_tests
from tests.feel.evaluation import NOW


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("-", None, True),
        ("5", 5, True),
        ('"a", "b"', "b", True),
        ('not("a", "b")', "c", True),
        ('not("a", "b")', "a", False),
        ("< 5", 4, True),
        ("[1..3], > 10", 11, True),
        ("(1..3)", 1, False),
        ("-5", -5, True),
        ("? > 5 and ? < 7", 6, True),
        ('contains(?, "x")', "axb", True),
        ("not(contains(?, x))", "axb", False),
        ("not(true) or ? = 1", 1, True),
        ("limit", 10, True),
        ("> limit", 11, True),
        ("[5..limit]", 7, True),
        ("list", 2, True),
        ("null", None, True),
        ("< 5", None, None),
        ("not(< 5)", None, None),
        ("true", True, True),
        ("false", True, False),
        ("limit > 5", 1, True),
        ('@"2024-01-01", @"2024-01-02"', "2024-01-01", False),
        ('< date("2024-02-01")', None, None),
        ("1, 2, null", None, True),
        ("today()", NOW.date(), True),
    ],
)
def test_a_cell_accepts_or_refuses_a_value(text, value, expected):
    tests = compile_unary_tests(text)
    assert tests.evaluate({"limit": 10, "list": [1, 2], "x": "x"}, value, now=NOW) is expected


def test_a_null_input_is_no_reason_for_a_warning():
    warnings = []
    assert compile_unary_tests("< 5").evaluate({}, None, warnings=warnings) is None
    assert warnings == []


def test_an_input_of_the_wrong_type_is():
    warnings = []
    assert compile_unary_tests("< 5").evaluate({}, "4", warnings=warnings) is None
    assert [warning.message for warning in warnings] == ["Cannot compare string with number"]
