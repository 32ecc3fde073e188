"""The acceptance scenarios by number: which test shows which, on what it runs, and what is chosen or not shown.

    python -m tests.support.scenarios         writes docs/scenarios.md

A test says in its docstring what it shows ("Scenario 12.", "Scenarios 2 and 3."). Nothing is run: sources are read.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.sources import ROOT

PAGE = ROOT / "docs" / "scenarios.md"
NUMBERS = range(1, 127)
EVERYWHERE = "core, memory, SQLite, PostgreSQL, MariaDB"
STORES = "memory, SQLite, PostgreSQL, MariaDB"
DATABASES = "SQLite, PostgreSQL, MariaDB"

CHOICES = {
    16: "An inclusive join is looked at again whenever a token of its scope moves or goes, not only on arrival.",
    64: "Once per inner instance, with its own variables: BPMN's recommendation and Camunda 7. Camunda 8: once.",
    77: "`zeebe:` counts from 1, `camunda:` from 0 and shows `nrOfInstances` and its siblings.",
    80: "100,000 inner instances on the core; the stores are told with 3,000, and every row is compared.",
    90: "An endless interval makes up nothing and keeps its rhythm; a bounded one fires each repetition it promised.",
    98: "Camunda 8: one active instance per process and key; the message waits within its time to live.",
    101: "Nothing is buffered; no match is an error.",
    103: "Camunda 8: a non-interrupting condition fires at every matching change of what it reads.",
    104: "A filter of names and events (`zeebe:conditionalFilter`) limits what counts as a change.",
    112: "Attempts are counted apart from retries. A lease of a worker elsewhere ends by itself, that of a process of "
    "ours when it is declared dead; a job that its processes die of is an incident when `crash_budget` is used up.",
    113: "As in Camunda 8 a completion that names no lease counts while the job is there; one that names a lease only "
    "while nobody else was given the job.",
    117: "Stops between any two commands in the random processes; processes are killed by `make chaos`.",
    118: "A message that comes meanwhile is offered again within five minutes of resuming, not at once.",
    120: "What is being taken away in several steps is migrated when that has come to its end.",
}

PARTLY: dict[int, str] = {}

MISSING: dict[int, str] = {}

_CLAIM = re.compile(r"Scenarios? ((?:\d+(?:, | and )?)+)")


class Shown(NamedTuple):
    """One test that shows a scenario."""

    number: int
    name: str
    path: Path
    told_on: str


def shown() -> dict[int, list[Shown]]:
    """The tests of each scenario, by number."""
    found: dict[int, list[Shown]] = defaultdict(list)
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "src/procession/testing/conformance").glob("*.py")]
    for path in sorted(files):
        for test in _tests_of(path):
            found[test.number].append(test)
    return found


def page() -> str:
    """The page of the documentation."""
    tests = shown()
    lines = [
        "# Acceptance scenarios",
        "",
        "What a process engine must do with BPMN, by the number of the scenario, and the tests that show it. A story",
        "of `tests/core` is told on the pure core and on the engine over every store. After each of its commands the",
        "stored state is compared with the fold of the history, and every row with the state. This page is written by",
        "`python -m tests.support.scenarios`.",
        "",
        "| | What is shown | Told on |",
        "|---|---|---|",
    ]
    lines += [_row(test) for number in NUMBERS for test in tests.get(number, ())]
    lines += ["", "## Where engines differ", "", *_list(CHOICES)]
    for title, notes in (("Shown in part", PARTLY), ("Not shown", MISSING)):
        lines += ["", f"## {title}", "", *_list(notes)] if notes else []
    return "\n".join([*lines, ""])


def _row(test: Shown) -> str:
    sentence = test.name.removeprefix("test_").replace("_", " ")
    link = test.path.relative_to(ROOT).as_posix()
    return f"| {test.number} | {sentence[0].upper()}{sentence[1:]} (`{link}`) | {test.told_on} |"


def _list(notes: dict[int, str]) -> list[str]:
    return [f"- {number}: {note}" for number, note in sorted(notes.items())]


def _tests_of(path: Path) -> Iterator[Shown]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
            continue
        for claim in _CLAIM.findall(ast.get_docstring(node) or ""):
            for number in re.findall(r"\d+", claim):
                yield Shown(int(number), node.name, path, _told_on(path, tree, node))


def _told_on(path: Path, tree: ast.Module, test: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The runners of a test: by its folder, and in the core's by what it takes and how it is marked."""
    room = path.parent.name
    if room in {"conformance", "store"}:
        return STORES
    if room == "engine":
        return "memory"
    if room in {"operations", "app"}:
        return STORES
    if room == "chaos":
        return DATABASES
    if room != "core":
        return "rules" if room == "jobs" else room
    if path.stem.endswith("_on_stores"):
        return "SQLite" if test.name.endswith("_sqlite") else "memory"
    marks = [ast.unparse(mark) for mark in test.decorator_list]
    marks += [ast.unparse(node.value) for node in tree.body if isinstance(node, ast.Assign)]
    if any("mark.stored" in mark for mark in marks):
        return STORES
    told = any(argument.arg == "world" for argument in test.args.args)
    return EVERYWHERE if told and not any("mark.pure" in mark for mark in marks) else "core"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
