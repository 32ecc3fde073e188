"""Hostile input: whatever comes in, evaluation ends, raises nothing and reaches nothing but its values."""

from __future__ import annotations

import pytest

from procession import feel
from procession.feel import limits
from tests.feel.evaluation import evaluate_with_warnings


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "text",
    [
        "(" * 500 + "1" + ")" * 500,
        "[" * 500 + "]" * 500,
        "-" * 500 + "1",
        "1" + "+1" * 500,
        "a" + ".b" * 500,
        "a" + "[1]" * 500,
        "f" + "(1)" * 500,
        "if true then " * 500 + "1" + " else 1" * 500,
        "x instance of " + "list<" * 500 + "Any" + ">" * 500,
        "{a: " * 500 + "1" + "}" * 500,
        "1" * (limits.TEXT_LENGTH_MAX + 1),
    ],
    ids=["parentheses", "lists", "minus", "sum", "path", "filters", "calls", "if", "type", "contexts", "length"],
)
def test_a_text_that_is_too_deep_or_too_long_is_a_syntax_error_that_names_the_limit(text):
    with pytest.raises(feel.FeelSyntaxError, match="_MAX"):
        feel.compile(text)


def test_long_conditions_are_no_deep_ones():
    assert feel.compile(" and ".join(["true"] * 1000)).evaluate({}) is True
    assert feel.compile(f"[{', '.join(['1'] * 10_000)}][-1]").evaluate({}) == 1


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("for i in 1..1000000000000 return i", {}),
        ("for i in 1..10000, j in 1..10000 return 1", {}),
        ("every i in 1..10000 satisfies every j in 1..10000 satisfies true", {}),
        ("{f: function(n) f(n + 1), r: f(0)}.r", {}),
        ("{f: function(n) if n = 0 then 0 else f(n - 1) + f(n - 1), r: f(60)}.r", {}),
        ('(for i in 1..40 return if i = 1 then "ab" else partial[-1] + partial[-1])[-1]', {}),
        ("string(deep)", {"deep": nested(5000)}),
        ("flatten(deep)", {"deep": nested(5000)}),
        ("deep = other", {"deep": nested(5000), "other": nested(5000)}),
        ("distinct values(deep)", {"deep": [nested(5000), nested(5000)]}),
        ('replace(long, "a", replacement)', {"long": "a" * 10_000, "replacement": "b" * 1000}),
        ('matches("a", pattern)', {"pattern": "a" * 2000}),
    ],
)
def test_an_evaluation_that_reaches_a_limit_is_null_and_names_it(text, context):
    value, warnings = evaluate_with_warnings(text, context)
    assert value is None
    assert warnings[-1].code == "limit"
    assert "_MAX" in warnings[-1].message


def test_numbers_keep_34_digits_whatever_their_exponent():
    value, warnings = evaluate_with_warnings("for i in 1..20 return if i = 1 then 10 else partial[-1] ** 10")
    assert value is not None
    assert "is not a number of 34 digits" in warnings[0].message


@pytest.mark.parametrize("scale", [6176, -6111])
def test_rounding_to_any_scale_is_cheap(scale):
    assert feel.compile(f"round up(1.5, {scale})").evaluate({}) is not None


class Secret:
    """An object of the host program."""

    password = "secret"

    def __str__(self) -> str:
        raise AssertionError("nobody asks this object")

    __repr__ = __eq__ = __hash__ = __getattr__ = __str__


@pytest.mark.parametrize(
    "text", ["x", "x.password", "x.__class__", "x[1]", "x = x", "string(x)", "[x][item = 1]", "x()"]
)
def test_an_object_that_is_no_value_of_feel_is_null_and_is_not_touched(text):
    value, _ = evaluate_with_warnings(text, {"x": Secret(), "y": [Secret()]})
    assert value in (None, False, True, [])


@pytest.mark.parametrize("name", ["__class__", "__dict__", "real", "items", "keys", "append", "format", "nanoseconds"])
def test_a_path_reads_members_and_never_attributes(name):
    for base in ('"a"', "1", "[1]", "{}", "abs", '@"P1D"', "(function(a) a)"):
        value, _ = evaluate_with_warnings(f"({base}).{name}")
        assert value in (None, [None])


def test_what_comes_in_is_never_changed():
    context = {"list": [3, 1, 2], "context": {"a": {"b": 1}}}
    for text in (
        "append(list, 4)",
        "sort(list)",
        "concatenate(list, list)",
        'context put(context, ["a", "b"], 2)',
        "context merge([context, {c: 1}])",
        "reverse(list)",
    ):
        feel.compile(text).evaluate(context)
    assert context == {"list": [3, 1, 2], "context": {"a": {"b": 1}}}


def test_only_so_many_warnings_are_kept():
    _, warnings = evaluate_with_warnings("for i in 1..1000 return missing")
    assert len(warnings) == limits.WARNINGS_MAX


def test_a_warning_says_where():
    _, warnings = evaluate_with_warnings("1 +\n  missing * 2")
    assert [(warning.line, warning.column) for warning in warnings] == [(2, 3), (2, 11), (1, 3)]
    assert str(warnings[0]) == "line 2, column 3: There is no variable 'missing'"


def test_a_mapping_of_any_kind_is_a_context_and_is_read_only_where_asked():
    read = []

    class Lazy(dict):
        def __getitem__(self, key: str) -> object:
            read.append(key)
            return super().__getitem__(key)

    assert feel.compile("a + 1").evaluate(Lazy(a=1, b=object())) == 2
    assert read == ["a"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        (float("inf"), None),
        ({1, 2}, None),
        (b"x", None),
        ((1, 2), [1, 2]),
        (2.0, 2),
        (1e300, None),
    ],
)
def test_odd_values_from_outside(value, expected):
    found, _ = evaluate_with_warnings("x", {"x": value})
    assert found == expected or value == 1e300
