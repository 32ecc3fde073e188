"""What is no FEEL is refused at compile time, with line and column."""

from __future__ import annotations

import pytest

from procession import feel


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "Expected an expression, found nothing", 1, 1),
        ("1 +", "found the end of the expression", 1, 4),
        ("1 + * 2", "found '*'", 1, 5),
        ("(1 + 2", "Expected ')' to close the parenthesis", 1, 7),
        ("[1, 2", "Expected ']' to close the list", 1, 6),
        ("{a: 1", "Expected '}' to close the context", 1, 6),
        ("{a 1}", "Expected ':' after the key", 1, 5),
        ("{a: 1, a: 2}", "The key 'a' stands twice", 1, 8),
        ('"abc', 'has no closing "', 1, 1),
        ("/* abc", "has no closing */", 1, 1),
        ("a\n  and # b", "Unexpected character '#'", 2, 7),
        ("if a then b", "Expected 'else'", 1, 12),
        ("if a else b", "Expected 'then'", 1, 6),
        ("for x of xs return x", "Expected 'in'", 1, 21),
        ("for x in xs x", "Expected 'return'", 1, 14),
        ("some x in xs", "Expected 'satisfies'", 1, 13),
        ("x between 1", "Expected 'and' between", 1, 12),
        ("x instance of", "Expected a type", 1, 14),
        ("x instance of set<number>", "Expected list, range, context or function", 1, 15),
        ("f(a: 1, 2)", "Expected", 1, 9),
        ("f(1", "Expected ')' to close the arguments", 1, 4),
        ("a.", "Expected a member's name", 1, 3),
        ("a b: 1", "found ':'", 1, 4),
        ("@date", "in quotes after @", 1, 2),
        ("1 2", "Expected an operator", 1, 3),
        ("[1..2", "to close the range", 1, 6),
        ("function(a b", "Expected ')'", 1, 13),
        ("a == b", "found '='", 1, 4),
        ("a && b", "Unexpected character '&'", 1, 3),
        ("a?.b ? c : d", "found ':'", 1, 10),
    ],
)
def test_an_expression_that_is_no_feel_is_refused(text, message, line, column):
    with pytest.raises(feel.FeelSyntaxError) as caught:
        feel.compile(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.text == text


@pytest.mark.parametrize("text", ["", "1,", "not(1", "< ", ", 1", "- 1 -"])
def test_tests_that_are_no_feel_are_refused(text):
    with pytest.raises(feel.FeelSyntaxError):
        feel.compile_unary_tests(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 // a comment",
        "/* a */ 1 /* b **/",
        "1\r\n+\t2",
        "\ufeff1",
        "[1..10[",
        "]1..x[1]]",
        "a.b .c",
        "{}",
        "[]",
        "f()",
    ],
)
def test_odd_but_valid_texts_compile(text):
    assert feel.compile(text).text == text
