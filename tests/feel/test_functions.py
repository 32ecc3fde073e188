"""Built-in functions: each with its usual case, its edges and its refusals."""

from __future__ import annotations

from decimal import Decimal

import pytest

from procession.feel.functions.registry import BUILTINS
from tests.feel.evaluation import evaluate, evaluate_with_warnings, refusal, text_of
from tests.support.sources import ROOT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # numbers
        ("decimal(1/3, 2)", "0.33"),
        ("decimal(2.5, 0)", "2"),
        ("decimal(1234.5, -2)", "1200"),
        ("floor(-1.5)", "-2"),
        ("floor(-1.56, 1)", "-1.6"),
        ("ceiling(1.01)", "2"),
        ("ceiling(-0.3333)", "0"),
        ("round up(-5.5, 0)", "-6"),
        ("round up(0.0001, 2)", "0.01"),
        ("round down(-5.5, 0)", "-5"),
        ("round half up(2.5, 0)", "3"),
        ("round half down(2.5, 0)", "2"),
        ("round half down(5.5, 6176)", "5.5"),
        ("abs(-3.5)", "3.5"),
        ('abs(@"-P1D")', "P1D"),
        ("modulo(-12, 5)", "3"),
        ("modulo(10.1, -4.5)", "-3.4"),
        ("sqrt(16)", "4"),
        ("log(1)", "0"),
        ("exp(0)", "1"),
        ("odd(-3)", "true"),
        ("even(2.5)", "false"),
        # strings
        ('substring("foobar", 3)', '"obar"'),
        ('substring("foobar", -2, 1)', '"a"'),
        ('substring("\\U01F40Eab", 2)', '"ab"'),
        ('string length("\\uD83D\\uDC0E")', "1"),
        ('upper case("aBc4")', '"ABC4"'),
        ('lower case("aBc4")', '"abc4"'),
        ('substring before("foobar", "bar")', '"foo"'),
        ('substring before("foobar", "x")', '""'),
        ('substring after("foobar", "ob")', '"ar"'),
        ('substring after("foobar", "")', '"foobar"'),
        ('contains("foobar", "of")', "false"),
        ('starts with("foobar", "fo")', "true"),
        ('ends with("foobar", "r")', "true"),
        ('matches("foobar", "^fo*b")', "true"),
        ('replace("abcd", "(ab)|(a)", "[1=$1][2=$2]")', '"[1=ab][2=]cd"'),
        ('split("a;b;c;;", ";")', '["a", "b", "c", "", ""]'),
        ('string join(["a", null, "c"], "-")', '"a-c"'),
        ('string join(["a", "b"], ", ", "[", "]")', '"[a, b]"'),
        # lists
        ("list contains([1, 2, null], null)", "true"),
        ("count([1, null])", "2"),
        ("min(3, 1, 2)", "1"),
        ('max(["a", "b"])', '"b"'),
        ("min([])", "null"),
        ('sum([@"P1D", @"PT1H"])', "P1DT1H"),
        ("sum([])", "null"),
        ("sum([1.5, 2])", "3.5"),
        ("mean([1, 2])", "1.5"),
        ("product(2, 3, 4)", "24"),
        ("median([6, 1, 2, 3])", "2.5"),
        ("median([])", "null"),
        ("stddev(2, 4, 7, 5)", "2.081665999466132735282297706979931"),
        ("mode([3, 6, 1, 9, 6, 1, 3])", "[1, 3, 6]"),
        ("mode([])", "[]"),
        ("all([true, null])", "null"),
        ("all([])", "true"),
        ("any([false, null, true])", "true"),
        ("any([])", "false"),
        ("sublist([1, 2, 3], -2)", "[2, 3]"),
        ("sublist([1, 2, 3], 1, 2)", "[1, 2]"),
        ("append([1], 2, [3])", "[1, 2, [3]]"),
        ("concatenate([1], [2], [3])", "[1, 2, 3]"),
        ("insert before([1, 3], 1, 2)", "[2, 1, 3]"),
        ("remove([1, 2, 3], -1)", "[1, 2]"),
        ("reverse([1, 2, 3])", "[3, 2, 1]"),
        ("index of([1, 2, 3, 2], 2)", "[2, 4]"),
        ("union([1, 2], [2, 3])", "[1, 2, 3]"),
        ("distinct values([1, 1.0, true, [1], [1], null, null])", "[1, true, [1], null]"),
        ("flatten([[1, 2], [[3]], 4])", "[1, 2, 3, 4]"),
        ("sort([3, 1, 2])", "[1, 2, 3]"),
        ("list replace([1, 2, 3], 2, 4)", "[1, 4, 3]"),
        ("list replace([2, 4, 7], function(item, newItem) item < newItem, 5)", "[5, 5, 7]"),
        # contexts
        ('get value({a: 1}, "a")', "1"),
        ("get entries({a: 1})", '[{key: "a", value: 1}]'),
        ('context([{key: "a", value: 1}])', "{a: 1}"),
        ('context put({x: 1}, "y", 2)', "{x: 1, y: 2}"),
        ('context put({x: 1, y: {z: 0}}, ["y", "z"], 2)', "{x: 1, y: {z: 2}}"),
        ("context merge([{x: 1, y: 0}, {y: 2}])", "{x: 1, y: 2}"),
        # conversions
        ('number("1 000.5", " ", ".")', "1000.5"),
        ('number(from: "1.000,5", decimal separator: ",", grouping separator: ".")', "1000.5"),
        ('number("-1.5e2")', "-150"),
        ("string(1.10)", '"1.1"'),
        ("string(null)", "null"),
        ('string(["a", {b: @"P1D"}])', '"[\\"a\\", {b: @\\"P1D\\"}]"'),
        ("is(1, 1.0)", "true"),
        ('is(@"23:00:50Z", @"23:00:50+00:00")', "true"),
        ('is(@"P0Y", @"P0D")', "false"),
        ('range("[18..21)") = [18..21)', "true"),
        ('2 in range("[1..3]")', "true"),
    ],
)
def test_a_builtin_function_gives(text, expected):
    assert text_of(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("abs()", "no form takes 0 arguments"),
        ("abs(1, 2)", "abs(n)"),
        ("abs(number: -1)", "abs has no parameters number"),
        ('abs("1")', "the parameter 'n' must be a number"),
        ("sqrt(-1)", "no square root"),
        ("log(0)", "only positive"),
        ("exp(100000)", "too large"),
        ("modulo(1, 0)", "modulo by zero"),
        ("round up(5.5)", "no form takes 1 arguments"),
        ("round down(5.5, -6112)", "between -6111 and 6176"),
        ('substring("foobar", 0)', "start position"),
        ('substring("foobar", 1, 0)', "length must be at least 1"),
        ('matches("a", "a", "p")', "flags"),
        ('string join(["a", 1])', "all items must be strings"),
        ('min([1, "a"])', "cannot compare"),
        ("min([{}])", "has no order"),
        ('sum([1, "a"])', "no meaning"),
        ("sum([null])", "must be numbers or durations"),
        ("product([])", "empty"),
        ("stddev([47])", "at least two"),
        ("all([true, 123])", "all items must be booleans"),
        ("all(null)", "must be a list"),
        ("sublist([1, 2], 3)", "position must lie in the list of 2 items"),
        ("sublist([1, 2], 1, 3)", "length must lie between 1 and 2"),
        ("insert before([1], 3, 2)", "position"),
        ("list replace([1, 2], function(item) true, 5)", "takes 1 arguments, found 2"),
        ("list replace([1, 2], function(item, newItem) item, 5)", "must answer with a boolean"),
        ('get value({a: 1}, "b")', "no member 'b'"),
        ('context([{key: "a", value: 1}, {key: "a", value: 2}])', "stands twice"),
        ("context merge([1])", "must be contexts"),
        ('context put({x: 1}, ["x", "y"], 2)', "'x' must be a context"),
        ('number("1,000.00", ",", ",")', "must differ"),
        ('number("abc")', "not a number"),
        ('number("1e999999")', "too large"),
        ('range("[date(now())..null]")', "must be literals"),
        ('range("[3..1]")', "lower to a higher"),
        ('range("1 + 1")', "is not a range"),
        ('date("2024-02-30")', "day must lie between 1 and 29"),
        ('date("2024-2-3")', "Expected a date"),
        ("date(2024, 13, 1)", "month"),
        ('time("25:00:00")', "hour"),
        ('duration("P1Y2D")', "Expected a duration"),
        ("day of week(1)", "must be a date or date and time"),
        ('before([1..2], "a")', "cannot compare"),
        ('sort([1, "a"])', "cannot compare"),
    ],
)
def test_a_builtin_function_refuses(text, reason):
    assert reason in refusal(text)


def test_every_builtin_function_stands_in_the_documentation():
    page = (ROOT / "docs" / "feel.md").read_text(encoding="utf-8")
    assert [name for name in BUILTINS if f"`{name}(" not in page and f"`{name}`" not in page] == []


def test_a_list_of_one_item_fits_where_its_item_does_and_a_value_where_a_list_is_wanted():
    assert evaluate('upper case(["a"])') == "A"
    assert evaluate("count(5)") == 1


def test_results_of_roots_and_logarithms_have_34_digits():
    assert evaluate("sqrt(2)") == Decimal("1.414213562373095048801688724209698")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("before(1, 10)", True),
        ("before([1..5), 5)", True),
        ("before([1..5], 5)", False),
        ("before([1..5), [5..10])", True),
        ("after(10, [1..5])", True),
        ("after([5..10], [1..5))", True),
        ("meets([1..5], [5..10])", True),
        ("meets([1..5), [5..10])", False),
        ("met by([5..10], [1..5])", True),
        ("overlaps([5..10], [1..6])", True),
        ("overlaps([1..5), [5..6])", False),
        ("overlaps before([1..5], [3..8])", True),
        ("overlaps before([1..5], [1..5])", False),
        ("overlaps after([3..8], [1..5])", True),
        ("overlaps after((1..5], [1..5])", True),
        ("overlaps after([1..5], [1..5))", False),
        ("finishes(10, [1..10])", True),
        ("finishes([5..10), [1..10])", False),
        ("finished by([1..10], [5..10])", True),
        ("includes([1..10], 5)", True),
        ("includes((1..5], [1..5])", False),
        ("during([4..6], [1..10))", True),
        ("starts(1, [1..10])", True),
        ("starts((1..5), [1..5])", False),
        ("started by([1..10], [1..5])", True),
        ("coincides([1..5], [1..5])", True),
        ("coincides(3, 4)", False),
        ('includes([@"2024-01-01"..@"2024-12-31"], @"2024-05-17")', True),
        ("includes((> 5), 6)", True),
    ],
)
def test_a_relation_of_ranges_and_points(text, expected):
    assert evaluate(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is defined(x)", "false"),
        ("is defined(x.y.z)", "false"),
        ("is defined(value: known)", "true"),
        ('get or else(x, "default")', '"default"'),
        ("get or else(default: 2, value: x)", "2"),
        ("assert(known, known > 0)", "1"),
        ('get value({x: {y: {z: 0}}}, ["x", "y"])', "{z: 0}"),
        ('put({a: 1}, "b", 2)', "{a: 1, b: 2}"),
        ("put all({a: 1}, {a: 2})", "{a: 2}"),
        ('context put({x: 1}, ["y", "z"], 2)', "{x: 1, y: {z: 2}}"),
        ('number("1,500", ",")', "1500"),
        ('is blank(" ")', "true"),
        ('trim(" hello  world ")', '"hello  world"'),
        ('extract("references are 1234, 1256, 1378", "12[0-9]*")', '["1234", "1256"]'),
        ('to base64("FEEL")', '"RkVFTA=="'),
        ('to json({a: 1, b: [1.5, null, @"P3Y"]})', '"{\\"a\\":1,\\"b\\":[1.5,null,\\"P3Y\\"]}"'),
        ('to json(@"2025-11-24T10:00:00@Europe/Berlin")', '"\\"2025-11-24T10:00:00+01:00[Europe/Berlin]\\""'),
        ('from json("{\\"a\\": [1, 2.50, true, null]}")', "{a: [1, 2.5, true, null]}"),
        ("is empty([])", "true"),
        ("duplicate values([1, 2, 3, 2, 1])", "[1, 2]"),
        ("partition([1, 2, 3, 4, 5], 2)", "[[1, 2], [3, 4], [5]]"),
        ('last day of month(@"2024-02-05")', "2024-02-29"),
        (
            'date and time(@"2020-07-31T14:27:30@Europe/Berlin", "America/Los_Angeles")',
            "2020-07-31T05:27:30-07:00[America/Los_Angeles]",
        ),
        ('date and time(@"2020-07-31T14:27:30+02:00", "Z")', "2020-07-31T12:27:30Z"),
        ('fromAi(value: known, description: null, type: "number")', "1"),
    ],
)
def test_a_function_of_camunda_gives(text, expected):
    assert text_of(text, {"known": 1}) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('assert(1, 1 > 2, "too small")', "too small"),
        ("partition([1, 2], 0)", "size must be at least 1"),
        ('from json("{")', "not a JSON text"),
        ('from json("NaN")', "not a JSON text"),
        ("to json(abs)", "cannot be written as JSON"),
        ('get value({a: 1}, ["b"])', "no member 'b'"),
        ('date and time(@"2020-07-31T14:27:30", "Europe/Berlin")', "local"),
        ("uuid()", "There is no function 'uuid'"),
        ("random number()", "There is no function 'random number'"),
    ],
)
def test_a_function_of_camunda_refuses(text, reason):
    assert reason in refusal(text)


def test_every_builtin_function_refuses_any_wrong_number_of_nulls_without_a_bug():
    for name in BUILTINS:
        for count in range(6):
            evaluate_with_warnings(f"{name}({', '.join(['null'] * count)})")
