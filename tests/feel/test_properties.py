"""Properties that hold for every expression and every value, tried on random ones."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from zoneinfo import ZoneInfo

import isodate
from hypothesis import given, settings
from hypothesis import strategies as st

from procession import feel
from procession.feel.functions.registry import BUILTINS
from procession.feel.parser import parse, parse_unary_tests
from procession.feel.printer import print_node, print_unary_tests
from procession.feel.run import Budget
from procession.feel.syntax import UnaryTests
from procession.feel.values import equal, order
from procession.feel.values import feel as feel_value
from tests.feel.evaluation import NOW
from tests.feel.expressions import EXPRESSIONS, TOKENS, VALUES

DECIMAL128 = Context(prec=34, Emin=-6143, Emax=6144)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15, places=6)
# Wall clock times: the zone or offset is put on them in the test.
WALLS = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1))  # noqa: DTZ001
# What functions are made for, and what they are not.
ARGUMENTS = st.one_of(
    VALUES,
    st.sampled_from(
        [-1, 0, 1, 2, 3.5, 10**40, "", "a", "2024-02-29", "PT1H", "a+", "(a|b)*", "Europe/Berlin", "1,000.5"]
    ),
    st.builds(feel.Date, st.integers(-5000, 50_000), st.integers(1, 12), st.integers(1, 28)),
    st.builds(feel.MonthsDuration, st.integers(-(10**12), 10**12)),
    st.builds(feel.DaysDuration, st.integers(-(10**30), 10**30)),
    st.builds(feel.Range, VALUES, VALUES, st.booleans(), st.booleans()),
    st.just(feel.Function("f", ("x", "y"), lambda arguments, _run: arguments[0])),
)
ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Etc/UTC"])


@given(EXPRESSIONS)
def test_a_printed_expression_is_read_back_as_the_same(node):
    assert parse(print_node(node)) == node


@given(st.lists(EXPRESSIONS, min_size=1, max_size=3), st.booleans())
def test_printed_tests_are_read_back_as_the_same(nodes, negated):
    tests = UnaryTests(tuple(nodes), negated=negated)
    assert parse_unary_tests(print_unary_tests(tests)) == tests


@given(EXPRESSIONS, st.fixed_dictionaries({"a": VALUES, "b": VALUES, "x": VALUES}))
@settings(max_examples=300)
def test_any_expression_over_any_values_evaluates_without_a_bug(node, context):
    warnings: list[feel.FeelWarning] = []
    value = feel.compile(print_node(node)).evaluate(context, now=NOW, warnings=warnings)
    assert [str(warning) for warning in warnings if warning.code == "internal"] == []
    if value is None and not warnings:
        assert value is None  # null by rule, such as the member of a context that is null


@given(st.sampled_from(sorted(BUILTINS)), st.lists(ARGUMENTS, max_size=4))
@settings(max_examples=1000)
def test_any_function_takes_any_values_without_a_bug(name, values):
    names = "abcd"[: len(values)]
    warnings: list[feel.FeelWarning] = []
    expression = feel.compile(f"{name}({', '.join(names)})")
    found = expression.evaluate(dict(zip(names, values, strict=True)), now=NOW, warnings=warnings)
    assert [str(warning) for warning in warnings if warning.code == "internal"] == []
    assert feel.text_of(found)


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_any_text_compiles_or_is_a_syntax_error(text):
    compile_and_evaluate(text)


@given(st.lists(TOKENS, max_size=25).map(" ".join))
@settings(max_examples=1000)
def test_any_soup_of_tokens_compiles_or_is_a_syntax_error(text):
    compile_and_evaluate(text)


def compile_and_evaluate(text: str) -> None:
    warnings: list[feel.FeelWarning] = []
    for compile_it, arguments in ((feel.compile, ()), (feel.compile_unary_tests, (1,))):
        try:
            compiled = compile_it(text, {"first name", "a-b", "date and time"})
        except feel.FeelSyntaxError:
            continue
        compiled.evaluate({"a": [1, {"b": 2}], "b": "x"}, *arguments, now=NOW, warnings=warnings)
    assert [str(warning) for warning in warnings if warning.code == "internal"] == []


BOUNDS = st.integers(-3, 3)
CELLS = [("[1..3]", "[low..high]"), ("(1..3)", "(low..high)"), ('"a", "b"', "strings"), ("1", "low")]


@given(st.sampled_from(CELLS), st.one_of(BOUNDS, st.sampled_from(["a", "c", True, False, None, 1.5, Decimal(1)])))
def test_a_cell_of_constants_accepts_what_the_same_cell_of_variables_accepts(cell, value):
    context = {"low": 1, "high": 3, "strings": ["a", "b"]}
    short, long = (feel.compile_unary_tests(text).evaluate(context, value) for text in cell)
    assert (short is True) is (long is True)


@given(DECIMALS, DECIMALS, st.sampled_from(["+", "-", "*", "/"]))
@settings(max_examples=300)
def test_arithmetic_is_that_of_decimals_with_34_digits(left, right, operator):
    found = feel.compile(f"a {operator} b").evaluate({"a": left, "b": right})
    operation = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}[operator]
    try:
        expected = getattr(DECIMAL128, operation)(left, right)
    except (DivisionByZero, InvalidOperation, Overflow):
        expected = None
    assert found == expected


@given(st.integers(), st.integers(), st.sampled_from(["+", "-", "*"]))
def test_arithmetic_of_ints_is_exact_up_to_34_digits_and_rounded_above(left, right, operator):
    found = feel.compile(f"a {operator} b").evaluate({"a": left, "b": right})
    exact = {"+": left + right, "-": left - right, "*": left * right}[operator]
    assert found == DECIMAL128.create_decimal(exact)
    assert (type(found) is int) is (abs(exact) < 10**34)


@given(VALUES, VALUES)
def test_equality_is_symmetric_and_order_is_antisymmetric(left, right):
    a, b = feel_value(left), feel_value(right)
    assert equal(a, b, Budget()) is equal(b, a, Budget())
    assert equal(a, a, Budget()) is True
    sign, other = order(a, b), order(b, a)
    assert (sign is None) is (other is None)
    if sign is not None and other is not None:
        assert sign == -other
        assert (sign == 0) is (equal(a, b, Budget()) is True)


@given(st.dates(), st.integers(min_value=-(10**5), max_value=10**5))
def test_days_are_added_to_dates_as_python_adds_them(day, days):
    try:
        expected = day + timedelta(days=days)
    except OverflowError:
        return
    found = feel.compile("day + duration").evaluate({"day": day, "duration": timedelta(days=days)})
    assert feel.to_python(found) == expected


@given(WALLS, ZONES, st.timedeltas(min_value=timedelta(days=-10_000), max_value=timedelta(days=10_000)))
def test_a_duration_moves_a_zoned_date_and_time_along_the_line_of_instants(wall, zone, duration):
    start = wall.replace(tzinfo=ZoneInfo(zone))
    found = feel.compile("start + duration").evaluate({"start": start, "duration": duration})
    expected = (start.astimezone(UTC) + duration).astimezone(ZoneInfo(zone))
    assert feel.to_python(found).replace(tzinfo=None) == expected.replace(tzinfo=None)


@given(WALLS, WALLS, st.integers(-18, 18), st.integers(-18, 18))
def test_the_difference_of_two_instants_is_what_python_says(first, second, offset, other):
    a = first.replace(tzinfo=timezone(timedelta(hours=offset)))
    b = second.replace(tzinfo=timezone(timedelta(hours=other)))
    assert feel.to_python(feel.compile("a - b").evaluate({"a": a, "b": b})) == a - b


@given(st.dates(date(1000, 1, 1), date(9000, 1, 1)), st.integers(min_value=-5000, max_value=5000))
def test_months_are_added_to_dates_as_isodate_adds_them(day, months):
    found = feel.compile("day + m").evaluate({"day": day, "m": feel.MonthsDuration(months)})
    assert feel.to_python(found) == day + isodate.Duration(months=months)


@given(WALLS, ZONES, st.integers(min_value=-500, max_value=500))
def test_months_keep_the_wall_clock_as_isodate_keeps_it(wall, zone, months):
    found = feel.compile("start + m").evaluate(
        {"start": wall.replace(tzinfo=ZoneInfo(zone)), "m": feel.MonthsDuration(months)}
    )
    assert feel.to_python(found).replace(tzinfo=None) == wall + isodate.Duration(months=months)


@given(
    st.integers(0, 99),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 59),
    st.integers(0, 999_999),
    st.booleans(),
)
def test_days_durations_are_read_as_isodate_reads_them(days, hours, minutes, seconds, micro, negative):
    text = f"{'-' if negative else ''}P{days}DT{hours}H{minutes}M{seconds}.{micro:06d}S"
    assert feel.to_python(feel.compile("duration(text)").evaluate({"text": text})) == isodate.parse_duration(text)


@given(st.integers(0, 300), st.integers(0, 30), st.booleans())
def test_months_durations_are_read_as_isodate_reads_them(years, months, negative):
    text = f"{'-' if negative else ''}P{years}Y{months}M"
    expected = isodate.parse_duration(text)
    sign = -1 if negative else 1
    found = feel.compile("duration(text)").evaluate({"text": text})
    assert found.months == sign * (years * 12 + months)
    if found.months:  # isodate makes an empty timedelta of none
        assert int(expected.years * 12 + expected.months) == found.months


@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 1, 1)), st.integers(-839, 839))  # noqa: DTZ001
def test_dates_and_times_are_written_so_that_isodate_reads_the_same(wall, offset):
    value = wall.replace(tzinfo=timezone(timedelta(minutes=offset)))
    text = feel.compile("string(x)").evaluate({"x": value})
    assert isodate.parse_datetime(text) == value
    assert feel.to_python(feel.compile("date and time(text)").evaluate({"text": text})) == value


@given(st.dates())
def test_weeks_and_weekdays_are_those_of_iso_8601(day):
    found = feel.compile("[week of year(d), d.weekday, day of year(d)]").evaluate({"d": day})
    _, week, weekday = day.isocalendar()
    assert found == [week, weekday, day.timetuple().tm_yday]


@given(st.dates(), st.integers(min_value=-5000, max_value=5000))
def test_months_forth_and_back_end_in_the_month_they_came_from(day, months):
    found = feel.compile("(day + m) - m").evaluate({"day": day, "m": feel.MonthsDuration(months)})
    assert (found.year, found.month) == (day.year, day.month)
    assert found.day <= day.day


@given(st.integers(-(10**9) + 1, 10**9 - 1), st.integers(1, 12), st.integers(1, 28))
def test_the_calendar_counts_the_same_days_forth_and_back(year, month, day):
    start = feel.Date(year, month, day)
    assert feel.compile('day + duration("P1D") - duration("P1D")').evaluate({"day": start}) == start


@given(VALUES)
def test_what_is_written_as_json_is_json(value):
    once = through_json(feel_value(value))
    again = through_json(feel.from_json(once))
    assert through_json(feel.from_json(again)) == again


def through_json(value):
    return json.loads(json.dumps(feel.to_json(value), allow_nan=False))


@given(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.text(max_size=5), st.dates(), st.timedeltas()
    )
)
def test_plain_values_come_out_as_they_went_in(value):
    found = feel.compile("x").evaluate({"x": value})
    assert feel.to_python(found) == value


def test_a_decimal_becomes_an_int_in_json_where_it_is_whole():
    assert feel.to_json(Decimal("1.50")) == 1.5
    assert feel.to_json([Decimal("2.00"), {"a": date(2024, 1, 31)}]) == [2, {"a": "2024-01-31"}]
    assert type(feel.to_json(Decimal("2.00"))) is int
