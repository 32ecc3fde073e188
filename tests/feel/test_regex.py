"""Regular expressions: XPath's syntax and meaning, and that none of them can hang an evaluation."""

from __future__ import annotations

import pytest

from procession.feel.problems import Invalid, LimitReached
from procession.feel.regex import compile_pattern
from procession.feel.run import Budget


def found(text: str, pattern: str, flags: str = "") -> bool:
    return compile_pattern(pattern, flags).search(text, Budget()) is not None


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "expected"),
    [
        ("abracadabra", "^a.*a$", "", True),
        ("Mary\rJones", "Mary.Jones", "", False),
        ("Mary\rJones", "Mary.Jones", "s", True),
        ("a\nb", "^b$", "", False),
        ("a\nb", "^b$", "m", True),
        ("b\n", "^b$", "", False),
        ("hello world", r"hello\ sworld", "x", True),
        ("hello world", r"\p{ IsBasicLatin}+", "x", True),
        ("X", "[A-Z-[OI]]", "i", True),
        ("O", "[A-Z-[OI]]", "i", False),
        ("q", "[^Q]", "i", False),
        ("\u212a", "k", "i", True),
        ("aA", r"(a)\1", "i", True),
        ("٣", r"^\d$", "", True),
        ("_", r"^\w$", "", False),
        ("é1", r"^\p{Ll}\p{Nd}$", "", True),
        ("é", r"^\P{L}$", "", False),
        ("a:b-c", r"^\i\c*$", "", True),
        ("a-b", r"^[a\-b]+$", "", True),
        ("-", "^[a-]$", "", True),
        ("", "^$", "", True),
        ("a.b", "a.b", "q", True),
        ("axb", "a.b", "q", False),
        ("aaa", "^a{2,}$", "", True),
        ("ab", "^(?:a|b)+$", "", True),
    ],
)
def test_a_pattern_means_what_xpath_says(text, pattern, flags, expected):
    assert found(text, pattern, flags) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)",
        "(?<name>a)",
        "a**",
        "a++",
        "*a",
        "a{2,1}",
        "a{1001}",
        "(a",
        "a)",
        "[a",
        "[]",
        "[b-a]",
        "[[a]]",
        r"\q",
        r"\p{Xx}",
        r"\p{IsKlingon}",
        r"(a)\2",
        r"\1(a)",
        r"[\1]",
        "\\",
        "^*",
        "(" * 200 + ")" * 200,
    ],
)
def test_what_xpath_does_not_have_is_refused(pattern):
    with pytest.raises(Invalid, match="not a regular expression"):
        compile_pattern(pattern, "")


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a*)*b", "(a|a)*b", "(a|ab)*c", "([a-z]*\\s*)*x", "(.*,)+;", "(a?a?)*b", "((a|b)+)+c", "(\\w+\\d+)+x"],
)
def test_a_pattern_that_may_never_come_to_an_end_is_refused(pattern):
    with pytest.raises(Invalid, match="may never come to an end"):
        compile_pattern(pattern, "")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^([a-z0-9]+\.)+[a-z]{2,}$", "a." * 4000 + "!"),
        (r"^[\w.+-]+@([\w-]+\.)+[\w-]{2,}$", "a" * 5000 + "@"),
        (r"(\d{1,3}\.){3}\d{1,3}", "1.1.1-" * 2000),
        ('"([^"\\\\]|\\\\.)*"', '"' + "\\a" * 2000),
        (".*foo.*", "x" * 100_000),
        ("^(\\s*[a-z]+\\s*=\\s*[0-9]+;)*$", "a = 1;" * 1000 + "!"),
    ],
)
def test_a_usual_pattern_is_run_even_on_a_text_that_almost_matches(pattern, text):
    assert not found(text, pattern)


def test_an_ambiguous_pattern_is_run_on_short_texts_only():
    pattern = compile_pattern("a.*b.*c.*d", "")
    assert pattern.search("a-b-c-d", Budget()) is not None
    with pytest.raises(Invalid, match="PATTERN_STEPS_MAX"):
        pattern.search("ab" * 10_000, Budget())


def test_many_optional_parts_count_as_what_they_cost():
    pattern = compile_pattern("a?" * 40 + "a" * 40, "")
    with pytest.raises(Invalid, match="PATTERN_STEPS_MAX"):
        pattern.search("a" * 100, Budget())


def test_a_pattern_and_a_text_have_a_greatest_length():
    with pytest.raises(LimitReached, match="PATTERN_LENGTH_MAX"):
        compile_pattern("a" * 1001, "")
    with pytest.raises(LimitReached, match="PATTERN_INPUT_LENGTH_MAX"):
        compile_pattern("a", "").search("a" * 1_000_001, Budget())


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "expected"),
    [
        ("0123456789", r"(\d{3})(\d{3})(\d{4})", "($1) $2-$3", "(012) 345-6789"),
        ("abc", "b", r"\$\\", r"a$\c"),
        ("abc", "(b)", "$12", "ab2c"),
        ("abc", "(b)", "[$2]", "a[]c"),
        ("facetiously", "[iouy]", "[$0]", "facet[i][o][u]sl[y]"),
        ("abracadabra", "a.*?a", "*", "*c*bra"),
    ],
)
def test_replacements_name_groups(text, pattern, replacement, expected):
    assert compile_pattern(pattern, "").replace(text, replacement, Budget()) == expected


@pytest.mark.parametrize("replacement", ["$", "$x", "\\x", "a\\"])
def test_a_malformed_replacement_is_refused(replacement):
    with pytest.raises(Invalid, match="in the replacement"):
        compile_pattern("a", "").replace("a", replacement, Budget())


def test_a_pattern_that_matches_nothing_at_all_replaces_and_splits_nothing():
    for use in (lambda pattern: pattern.replace("abc", "-", Budget()), lambda pattern: pattern.split("abc", Budget())):
        with pytest.raises(Invalid, match="must not match the empty string"):
            use(compile_pattern("x*", ""))
