"""FEEL at the prompt: value, type, warnings, the place of an error; once, or line by line."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        ("1 + 2", "3", "number"),
        ("0.1 + 0.2", "0.3", "number"),
        ('"a" + "b"', '"ab"', "string"),
        ("1 < 2", "true", "boolean"),
        ("[1, 2][item > 1]", "[2]", "list"),
        ("{a: 1}", '{"a":1}', "context"),
        ('date("2024-01-31")', "2024-01-31", "date"),
        ('duration("PT2H")', "PT2H", "days and time duration"),
        ("null", "null", "null"),
    ],
)
def test_a_value_is_shown_with_its_type(command, expression, value, kind):
    answer = command("feel", expression)
    assert answer.code == 0
    assert answer.out == f"{value}   {kind}\n"


def test_names_come_from_an_object_a_file_and_single_variables(shop, command):
    shop.write("order.json", '{"total": 1200, "customer": {"tier": "gold"}}')
    for context in ("order.json", "@order.json", '{"total": 1200, "customer": {"tier": "gold"}}'):
        assert command("feel", 'total > 1000 and customer.tier = "gold"', "-c", context).out.startswith("true")
    assert command("feel", "a + total", "--context", "order.json", "--var", "a=1").out.startswith("1201")


def test_what_is_null_says_why(command):
    answer = command("feel", "order.total + 1", "--context", '{"order": {}}')
    assert answer.code == 0
    assert answer.out == "null   null\n"
    assert "has no member 'total'" in answer.err


def test_a_syntax_error_shows_its_place(command):
    answer = command("feel", "1 + * 2")
    assert answer.code == 1
    assert "  1 + * 2\n      ^" in answer.err
    assert command("feel", "1 + * 2", "--json").error["column"] == 5


def test_as_json_value_type_and_warnings_are_told(command):
    shown = command("feel", "missing", "--json").json
    assert (shown["value"], shown["type"], shown["warnings"][0]["code"]) == (None, "null", "no-variable")
    assert command("feel", "now()", "--json").json["type"] == "date and time"


def test_lines_are_evaluated_one_by_one_with_names_that_were_set(shop, command):
    shop.write("order.json", '{"total": 5}')
    lines = ":set rate 0.5\n:context order.json\ntotal * rate\n1 +\n:names\n:what\n:quit\nnot reached\n"
    answer = command("feel", stdin=lines)
    assert answer.code == 0
    assert "2.5   number" in answer.out
    assert "rate" in answer.out
    assert ":quit" in answer.err
    assert "not reached" not in answer.out + answer.err
