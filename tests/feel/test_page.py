"""The pages about FEEL and DMN: their code runs, their examples give what they say, their tables are complete."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from procession import feel
from procession.feel.functions.registry import BUILTINS
from tests.docs.pages import run_page
from tests.support.sources import ROOT

PAGE = ROOT / "docs" / "feel.md"
NOWHERE = object()  # refused
FUNCTION = feel.Function("f", (), lambda _arguments, _run: 1)
BERLIN = ZoneInfo("Europe/Berlin")


def chapter(title: str) -> str:
    _, _, text = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    assert text, f"the page has no chapter '{title}'"
    return text.partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [line for line in lines if not line[0].startswith("-")][1:]


@pytest.mark.parametrize("name", ["feel", "dmn"])
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(name: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page(ROOT / "docs" / f"{name}.md", tmp_path) > 0


CAMUNDA = rows(chapter("Camunda's functions"))


@pytest.mark.parametrize(("example", "gives"), [row[1:] for row in CAMUNDA])
def test_an_example_of_camunda_s_functions_gives_what_the_page_says(example: str, gives: str):
    warnings: list[feel.FeelWarning] = []
    found = feel.compile(example.strip("`")).evaluate({}, warnings=warnings)
    assert feel.text_of(found) == gives.strip("`")
    assert warnings == []


def test_every_function_stands_on_the_page():
    """Camunda's apart from those of the standard."""
    named = set(re.findall(r"`([A-Za-z][A-Za-z0-9 ]*)(?:\(|`)", chapter("Functions of the standard")))
    apart = {row[0].strip("`").partition("(")[0] for row in CAMUNDA}
    assert sorted(BUILTINS.keys() - named - apart) == []
    assert sorted((named | apart) - BUILTINS.keys()) == []


# By the page's name of a kind: what comes in, what comes out of evaluate, as JSON, as plain Python.
VALUES: dict[str, list[tuple[Any, Any, Any, Any]]] = {
    "number": [
        (3, 3, 3, 3),
        (Decimal("1.50"), Decimal("1.50"), 1.5, Decimal("1.50")),
        (0.1, Decimal("0.1"), 0.1, Decimal("0.1")),
        (2.0, 2, 2, 2),
        (Decimal("2.00"), Decimal("2.00"), 2, Decimal("2.00")),
        (Decimal("1E+40"), Decimal("1E+40"), 1e40, Decimal("1E+40")),
    ],
    "string": [("a", "a", "a", "a")],
    "boolean": [(True, True, True, True), (False, False, False, False)],
    "null": [(None, None, None, None), (float("nan"), None, None, None), (object(), None, None, None)],
    "date": [(date(2024, 1, 31), feel.Date(2024, 1, 31), "2024-01-31", date(2024, 1, 31))],
    "time": [
        (time(10, 30), feel.Time(10, 30, 0), "10:30:00", time(10, 30)),
        (time(10, 30, tzinfo=UTC), feel.Time(10, 30, 0, 0, 0), "10:30:00Z", time(10, 30, tzinfo=UTC)),
    ],
    "date and time": [
        (
            datetime(2024, 1, 31, 10, 30, tzinfo=BERLIN),
            feel.DateTime(feel.Date(2024, 1, 31), feel.Time(10, 30, 0, 0, None, "Europe/Berlin")),
            "2024-01-31T10:30:00+01:00[Europe/Berlin]",
            datetime(2024, 1, 31, 10, 30, tzinfo=BERLIN),
        ),
    ],
    "days and time duration": [
        (timedelta(days=1, hours=2), feel.DaysDuration(93_600 * 10**9), "P1DT2H", timedelta(days=1, hours=2))
    ],
    "years and months duration": [(feel.MonthsDuration(14), feel.MonthsDuration(14), "P1Y2M", "P1Y2M")],
    "list": [
        ([1, date(2024, 1, 31)], [1, date(2024, 1, 31)], [1, "2024-01-31"], [1, date(2024, 1, 31)]),
        ((1,), [1], [1], [1]),
    ],
    "context": [
        ({"a": (Decimal("1.5"),)}, {"a": (Decimal("1.5"),)}, {"a": [1.5]}, {"a": [Decimal("1.5")]}),
        (OrderedDict(a=1), OrderedDict(a=1), {"a": 1}, {"a": 1}),
    ],
    "range": [(feel.Range(1, 10, True, False), None, "[1..10)", "[1..10)")],
    "function": [(FUNCTION, FUNCTION, NOWHERE, NOWHERE)],
}


@pytest.mark.parametrize(("given", "inside", "json", "python"), [row for each in VALUES.values() for row in each])
def test_values_go_in_and_come_out_as_the_table_says(given: Any, inside: Any, json: Any, python: Any):
    found = feel.compile("x").evaluate({"x": given})
    assert type(found) is type(given if inside is None and json is not None else inside)
    assert inside is None or found == inside
    check(feel.to_json, found, json)
    check(feel.to_python, found, python)


def check(convert: Callable[[object], Any], value: object, expected: Any) -> None:
    if expected is NOWHERE:
        with pytest.raises(ValueError, match="cannot be written"):
            convert(value)
        return
    converted = convert(value)
    assert (converted, type(converted)) == (expected, type(expected))


def test_the_table_has_every_kind_of_value():
    assert [row[0] for row in rows(chapter("Values"))] == list(VALUES)
