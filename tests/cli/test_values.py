"""Values on the command line: JSON if it parses, else text; whole objects from a text, a file, stdin."""

from __future__ import annotations

import pytest

from procession.cli.values import variables
from procession.errors import InvalidValue
from procession.testing.bpmn import process


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n=12", 12),
        ("n=12.5", 12.5),
        ("n=true", True),
        ("n=null", None),
        ('n=["a", 1]', ["a", 1]),
        ('n={"a": 1}', {"a": 1}),
        ("n=Ada Lovelace", "Ada Lovelace"),
        ("n=2026-01-31", "2026-01-31"),
        ('n="01067"', "01067"),
        ("n=01067", "01067"),
        ("n=a=b", "a=b"),
        ("n=", ""),
        ("n=[1", "[1"),
    ],
)
def test_a_value_is_json_if_it_parses_and_else_a_text(text, value):
    assert variables([text]) == {"n": value}


def test_single_variables_win_over_those_given_together():
    assert variables(["a=2"], '{"a": 1, "b": 1}') == {"a": 2, "b": 1}


def test_variables_come_from_a_file_or_from_stdin(shop, command):
    shop.write("p.bpmn", process("p").start().user("wait").end())
    command("deploy", "p.bpmn")
    shop.write("vars.json", '{"a": {"b": [1, 2]}}')
    for arguments, stdin in ((("--vars", "@vars.json"), None), (("--vars", "-"), '{"a": {"b": [1, 2]}}')):
        key = command("start", "p", "--json", *arguments, stdin=stdin).json["processInstanceKey"]
        assert command("instance", key, "--json").json["variables"] == {"a": {"b": [1, 2]}}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("[1]", "Expected --vars to be a JSON object"),
        ("{", "Expected --vars to be a JSON object"),
        ("vars.json", "named with @"),
        ("@missing.json", "found none at 'missing.json'"),
    ],
)
def test_what_is_no_object_is_refused_with_what_to_do(shop, source, message):
    with pytest.raises(InvalidValue, match=message):
        variables((), source)
