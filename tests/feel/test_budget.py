"""What an evaluation may cost: turns of loops, and what functions look at, what is written, what a body holds.

Each of these took minutes, or gigabytes, when only turns were counted.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import IntEnum, StrEnum

import pytest

from procession import feel
from procession.feel import limits
from procession.feel.regex import compile_pattern
from procession.feel.run import Budget
from tests.feel.evaluation import evaluate, evaluate_with_warnings, refusal

TEXT = "a" * 900_000
ITEMS = list(range(900_000))
LAUGHS = "for i in 1..50 return if i = 1 then [1, 1] else [partial[-1], partial[-1]]"  # 2 ** 50 ones


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ('for i in 1..400000 return long + "x"', {"long": TEXT}),
        ("for i in 1..400000 return upper case(long)", {"long": TEXT}),
        ('for i in 1..400000 return contains(long, "b")', {"long": TEXT}),
        ("for i in 1..400000 return sum(many)", {"many": ITEMS}),
        ("for i in 1..400000 return append(many, i)", {"many": ITEMS}),
        ("for i in 1..400000 return many = other", {"many": ITEMS, "other": [*ITEMS]}),
        ("for i in 1..400000 return -1 in many", {"many": ITEMS}),
        ("for i in 1..400000 return sort(many)", {"many": ITEMS[:1000]}),
        ('for i in 1..400000 return context put(wide, "x", 1)', {"wide": {str(i): i for i in range(10_000)}}),
        ("string(for i in 1..400000 return long)", {"long": TEXT}),
        ("to json(for i in 1..400000 return long)", {"long": TEXT}),
        ("string join(for i in 1..400000 return long)", {"long": TEXT}),
        ('replace(long, ".", long)', {"long": TEXT}),
        (f"string({LAUGHS})", {}),
        (f"to json({LAUGHS})", {}),
        (f"count(flatten({LAUGHS}))", {}),
        (f"{{a: {LAUGHS}, b: {LAUGHS}, r: a = b}}.r", {}),
        (f"distinct values({LAUGHS})", {}),
        (f"for i in 1..400000 return [{', '.join(['1'] * 20_000)}]", {}),
        (f"many[{' and '.join(['true'] * 6_000)}]", {"many": ITEMS}),
        (f"{{f: function(n) [{', '.join(['1'] * 20_000)}], r: for i in 1..400000 return f(i)}}.r", {}),
        (f"for i in 1..400000, j in [{', '.join(['1'] * 20_000)}][1] return 1", {}),
        ('for i in 1..400000 return matches(text, "a.*a.*a.*x")', {"text": "a" * 200}),
    ],
)
def test_work_inside_of_turns_is_paid_for(text, context):
    value, warnings = evaluate_with_warnings(text, context)
    assert value is None
    assert warnings[-1].code == "limit"
    assert "_MAX" in warnings[-1].message


def test_usual_amounts_of_data_are_far_from_the_limit():
    people = [{"name": f"p{i}", "age": i % 90, "mail": f"p{i}@example.com"} for i in range(10_000)]
    context = {"people": people}
    assert evaluate("count(people[age >= 18])", context) == sum(one["age"] >= 18 for one in people)
    assert evaluate('count(people[matches(mail, "^[^@]+@[^@]+[.]com$")])', context) == 10_000
    assert evaluate("count(distinct values(people.age))", context) == 90
    assert evaluate("count(distinct values(people))", context) == 10_000
    assert evaluate("string length(string(people)) > 100000", context) is True
    assert evaluate("(for i in 1..10000 return if i = 1 then 1 else partial[-1] + 1)[-1]") == 10_000


def test_a_result_that_is_small_in_memory_and_endless_on_paper_is_refused():
    value = feel.compile(LAUGHS).evaluate({})
    for convert in (feel.to_json, feel.to_python):
        with pytest.raises(ValueError, match="VALUE_PARTS_MAX"):
            convert(value)


def test_partial_is_the_results_so_far_and_not_the_list_that_grows():
    assert evaluate("for i in 1..3 return partial") == [[], [[]], [[], [[]]]]
    assert evaluate("for i in 1..4 return count(partial)") == [0, 1, 2, 3]
    assert evaluate("for i in 1..5 return count(partial[item > 1]) + i") == [1, 2, 4, 6, 8]


def test_a_filter_of_an_empty_list_says_nothing_of_items_that_are_not_there():
    assert evaluate("[][item > 1]") == []
    assert evaluate("orders[total > 100].id", {"orders": []}) == []
    assert refusal("list[i]", {"list": [], "i": 1}) == "The list has 0 items, none at position 1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('distinct values([{a: 1}, {a: 1.0}, {a: 2}, [1], [1.0], 1, 1.0, true, "1"])', "6"),
        ('distinct values([@"10:00:00Z", @"11:00:00+01:00", @"10:00:00", @"2024-01-01", date("2024-01-01")])', "3"),
        ("distinct values([null, null, [null], {a: null}, {a: null}])", "3"),
        ("distinct values([[1..2], [1..2], [1..2), (< 3), (< 3)])", "3"),
        ("distinct values([{a: 1, b: 2}, {b: 2, a: 1}])", "1"),
        ("duplicate values([{a: 1}, 1, {a: 1.0}, 1, 2])", "2"),
    ],
)
def test_what_is_equal_is_found_without_comparing_each_with_each(text, expected):
    assert evaluate(f"count({text})") == int(expected)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a" * 30, "(a?){30}a{30}"),
        ("a" * 60, "a*a*a*a*a*a*a*a*a*a*b"),
        ("a" * 60, "(a|a)" * 40 + "b"),
        ("a" * 64, "(?:a|ab|b|ba){50}c"),
    ],
)
def test_a_short_text_does_not_excuse_an_explosive_pattern(text, pattern):
    with pytest.raises(Exception, match="PATTERN_STEPS_MAX"):
        compile_pattern(pattern, "").search(text, Budget())


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2][10 ** 6000]",
        'substring("abc", 10 ** 6000)',
        "date(10 ** 6000, 1, 1)",
        "decimal(1, 10 ** 6000)",
        "sublist([1], 10 ** 6000)",
        "huge ** 2",
        "string(huge)",
        "huge + 1",
        "[1][huge]",
        'duration("P1D") * 10 ** 6000',
        'string(duration("P1M") * 10 ** 6000)',
        'date("2024-01-01") + duration("P1D") * 10 ** 6000',
        'duration("P999999999999999999999999999999D") * 10',
        "time(10 ** 6000, 0, 0)",
        "time(12, 0, 10 ** 6000)",
        "for i in 10 ** 40..10 ** 41 return i",
        'time(0, 0, 0, duration("P9999999D"))',
        "partition([1], 0)",
    ],
)
def test_numbers_and_durations_far_out_of_range_are_refused_in_words(text):
    assert len(refusal(text, {"huge": 10**7000})) < 200


def test_growing_durations_end_at_their_limit():
    text = 'for i in 1..100000 return if i = 1 then duration("P1D") else partial[-1] * 10 ** 33'
    _, warnings = evaluate_with_warnings(text)
    assert "DURATION_MAX" in warnings[0].message


def test_a_number_that_no_decimal_holds_is_a_syntax_error_at_its_place():
    with pytest.raises(feel.FeelSyntaxError, match="too large") as refused:
        feel.compile("1 + 1e999999999")
    assert refused.value.column == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("modulo(10 ** 6000, 7)", 10**6000 % 7),
        ("modulo(10 ** 32 + 0.5, 3)", Decimal("1.5")),
        ("modulo(-1e-6000, 3)", 3),
        ("0 ** 0", 1),
        ("2.5 ** 0", 1),
        ("exp(-(10 ** 6))", 0),
        ("10 ** -7000", 0),
    ],
)
def test_arithmetic_at_the_ends_of_the_numbers(text, expected):
    assert evaluate(text) == expected


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Float(float):
    """As numpy's: its repr is no number."""

    def __repr__(self) -> str:
        return f"Float({float(self)})"


class Money(Decimal):
    pass


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        (Colour.RED, 'x = "red"', True),
        (Level.HIGH, "x + 1", 4),
        (Float(1.5), "x + 1", Decimal("2.5")),
        (Money("1.5"), "x + 1", Decimal("2.5")),
        (Decimal("1E+999999"), "x", None),
        (Decimal("1." + "3" * 60), "x", Decimal("1." + "3" * 33)),
        ("\ud800", 'x = "a"', False),
    ],
)
def test_relatives_of_python_s_types_count_as_what_they_extend(value, text, expected):
    assert evaluate_with_warnings(text, {"x": value})[0] == expected


def test_the_ends_of_a_range_come_in_as_any_value_does():
    days = feel.Range(date(2024, 1, 1), date(2024, 1, 31), True, True)
    assert evaluate('date("2024-01-15") in days', {"days": days}) is True
    assert evaluate("days.start.month", {"days": days}) == 1


def test_an_int_of_any_size_becomes_a_number_of_json_or_a_text():
    assert feel.to_json(10**34 - 1) == 10**34 - 1
    assert feel.to_json(10**40 + 1) == 1e40
    assert feel.to_json([10**5000]) == ["1.000000000000000000000000000000000E+5000"]


def test_half_a_character_from_json_is_none():
    assert evaluate('from json("{\\"a\\": [\\"x\\\\ud800y\\", \\"\\\\ud83d\\\\ude00\\"]}").a') == [
        "x\ufffdy",
        "\U0001f600",
    ]


def test_warnings_quote_no_more_than_a_line():
    assert all(
        len(one.message) <= limits.WARNING_LENGTH_MAX
        for one in evaluate_with_warnings("get value({}, x)", {"x": TEXT})[1]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[{a-b: 1}, a-b]", [{"a-b": 1}, 2]),
        ("{x: {a-b: 1}.a-b, y: a-b}", {"x": 1, "y": 2}),
        ("[{a-b: 1}][a-b = 1]", [{"a-b": 1}]),
        ("[for a-b in [9] return a-b, a-b]", [[9], 2]),
        ("[some a-b in [9] satisfies a-b = 9, a-b]", [True, 2]),
        ("[(function(a-b) a-b)(9), a-b]", [9, 2]),
    ],
)
def test_a_name_with_operators_inside_is_known_only_where_it_is_declared(text, expected):
    assert evaluate(text, {"a": 5, "b": 3}) == expected


def test_a_parameter_stands_once():
    with pytest.raises(feel.FeelSyntaxError, match="'a' stands twice"):
        feel.compile("function(a, b, a) a")


def test_a_comparison_may_follow_a_type():
    assert feel.compile("x instance of number = true").evaluate({"x": 1}) is True
    assert feel.compile("(x instance of list<number>) != (x instance of number)").evaluate({"x": 1}) is True
