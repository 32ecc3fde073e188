"""Arithmetic, comparison and logic, operator by operator."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import pytest

from tests.feel.evaluation import evaluate, evaluate_with_warnings, refusal, text_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 4 - 3", "3"),
        ("2 ** 3 ** 2", "64"),
        ("-3 ** 2", "9"),
        ("5 ** -2", "0.04"),
        ("--10", "10"),
        ("1 / 3", "0.3333333333333333333333333333333333"),
        ("6 / 3", "2"),
        ("0.1 + 0.2", "0.3"),
        ("1.23e4 - 0.5E1", "12295"),
        (".5 + 1", "1.5"),
        ("9999999999999999999999999999999999 + 1", "1" + 34 * "0"),
        ('"foo" + "bar"', '"foobar"'),
        ('@"P1D" + @"PT2H"', "P1DT2H"),
        ('@"P1Y" - @"P2M"', "P10M"),
        ('@"P1Y11M" * -2.5', "-P4Y9M"),
        ('@"P10DT23H" / 2.5', "P4DT9H12M"),
        ('@"P10D" / @"P5D"', "2"),
        ('-@"P1Y"', "-P1Y"),
    ],
)
def test_arithmetic(text, expected):
    assert text_of(text) == expected


def test_whole_numbers_stay_ints_and_fractions_become_decimals():
    assert type(evaluate("6 / 2")) is int
    assert type(evaluate("7 / 2")) is Decimal
    assert type(evaluate("x * 2", {"x": 1.1})) is Decimal


def test_a_float_counts_as_the_decimal_that_it_shows():
    assert evaluate("a + b", {"a": 0.1, "b": 0.2}) == Decimal("0.3")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 / 0", "Division by zero"),
        ("1 + null", "+ has no meaning for number and null"),
        ('1 + "1"', "+ has no meaning for number and string"),
        ("[1] * 2", "* has no meaning for list and number"),
        ("true - true", "- has no meaning for boolean and boolean"),
        ('-"1"', "A minus sign has no meaning for string"),
        ("10 ** 7000", "is not a number of 34 digits"),
        ("0 ** -1", "is not a number of 34 digits"),
        ("(-8) ** (1/3)", "is not a number of 34 digits"),
        ("9.9e6144 * 10", "too large"),
        ('@"2024-01-01" * 2', "* has no meaning for date and number"),
    ],
)
def test_arithmetic_without_a_meaning_is_null_and_says_why(text, reason):
    assert reason in refusal(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 < 2", True),
        ("2 <= 1", False),
        ('"a" < "b"', True),
        ("1 = 1.00", True),
        ("null = null", True),
        ("null != 1", True),
        ("[] = null", False),
        ("[1, [2]] = [1, [2.0]]", True),
        ("{a: 1, b: 2} = {b: 2, a: 1}", True),
        ("{a: 1} = {a: 1, b: 2}", False),
        ('@"2024-02-01" > @"2024-01-31"', True),
        ('@"2018-10-08T00:00:00+02:00" = @"2018-10-08T00:00:00@Europe/Paris"', True),
        ('@"PT24H" = @"P1D"', True),
        ("[1..2] = [1..2]", True),
        ("(< 10) = (null..10)", False),
        ("1 between 1 and 3", True),
        ("x between 1 and 3 and true", False),
        ('"b" between "a" and "c"', True),
    ],
)
def test_comparison(text, expected):
    assert evaluate(text, {"x": 4}) is expected


@pytest.mark.parametrize(
    "text", ['1 = "1"', "1 < null", "true < false", "[] = {}", '@"10:00:00" < @"10:00:00Z"', "null between 1 and 2"]
)
def test_what_cannot_be_compared_is_null_with_a_warning(text):
    value, warnings = evaluate_with_warnings(text)
    assert value is None
    assert warnings[0].code == "invalid-type"


TRUTH = {"true": True, "false": False, "null": None, "1": None}


@pytest.mark.parametrize(("left", "right"), list(product(TRUTH, TRUTH)))
def test_and_follows_the_three_valued_table(left, right):
    values = {TRUTH[left], TRUTH[right]}
    expected = False if False in values else None if None in values else True
    assert evaluate_with_warnings(f"{left} and {right}")[0] is expected


@pytest.mark.parametrize(("left", "right"), list(product(TRUTH, TRUTH)))
def test_or_follows_the_three_valued_table(left, right):
    values = {TRUTH[left], TRUTH[right]}
    expected = True if True in values else None if None in values else False
    assert evaluate_with_warnings(f"{left} or {right}")[0] is expected


@pytest.mark.parametrize(("operand", "expected"), [("true", False), ("false", True), ("null", None)])
def test_not_follows_the_three_valued_table(operand, expected):
    assert evaluate(f"not({operand})") is expected


@pytest.mark.parametrize(("first", "second", "third"), list(product(TRUTH, TRUTH, TRUTH)))
def test_three_operands_give_what_two_times_two_give(first, second, third):
    for word in ("and", "or"):
        flat = evaluate_with_warnings(f"{first} {word} {second} {word} {third}")[0]
        nested = evaluate_with_warnings(f"({first} {word} {second}) {word} {third}")[0]
        assert flat is nested


def test_a_condition_that_is_decided_does_not_read_the_rest():
    assert evaluate("false and missing.member > 1") is False
    assert evaluate("true or missing > 1") is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 in [2, 3, 1]", True),
        ('x in ["gold", "platinum"]', True),
        ('y in ["gold", "platinum"]', False),
        ("5 in (< 3, > 4)", True),
        ("1 in <= 10", True),
        ("2 in (2..4)", False),
        ("2 in ]1..4[", True),
        ("4 in [2..4[", False),
        ("1 in [[2..4], [1..3]]", True),
        ("[1, 2] in [[1, 2, 3], [1, 2]]", True),
        ("10 in (=10)", True),
        ("10 in !=10", False),
        ("1 in 1", True),
        ("{a: 1} in ({a: 2}, {a: 1})", True),
        ("1 in list[item > 0]", True),
    ],
)
def test_in(text, expected):
    assert evaluate(text, {"x": "gold", "y": 1, "list": [1, -1]}) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 instance of number", True),
        ("null instance of Any", False),
        ("1 instance of Any", True),
        ('@"2024-01-01" instance of date', True),
        ('@"2024-01-01T00:00:00" instance of date and time', True),
        ('@"P1Y" instance of years and months duration', True),
        ('@"P1D" instance of years and months duration', False),
        ('[1, "a"] instance of list<number>', False),
        ("[1, null] instance of list<number>", True),
        ("{a: {b: 1}} instance of context<a: context<b: number>>", True),
        ("{a: 1} instance of context<a: string>", False),
        ("[1..2] instance of range<number>", True),
        ("(function(a) a) instance of function<Any> -> Any", True),
        ("{} instance of context", True),
        ("1 + 1 instance of number and true", None),
    ],
)
def test_instance_of(text, expected):
    if expected is None:  # `instance of` binds more strongly than `+`
        assert "+ has no meaning for number and boolean" in refusal(text.replace(" and true", ""))
    else:
        assert evaluate(text) is expected
