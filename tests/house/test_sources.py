"""The measures of the house style that no linter of ours knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.sources import ROOT, python_files

FILE_LINES_MAX = 499
FUNCTION_LINES_MAX = 59
NESTING_MAX = 3

Function = ast.FunctionDef | ast.AsyncFunctionDef
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


def test_a_file_has_fewer_than_500_lines():
    too_long = {where(path): lines for path in python_files() if (lines := line_count(path)) > FILE_LINES_MAX}
    assert not too_long, f"split by what the parts know (file: lines): {too_long}"


def test_a_function_has_fewer_than_60_lines():
    too_long = {place: lines for place, (lines, _) in measures().items() if lines > FUNCTION_LINES_MAX}
    assert not too_long, f"branch in the parent, compute in the children (function: lines): {too_long}"


def test_blocks_nest_at_most_three_deep():
    too_deep = {place: depth for place, (_, depth) in measures().items() if depth > NESTING_MAX}
    assert not too_deep, f"name the inner block as a function, or return early (function: depth): {too_deep}"


def test_every_module_says_what_it_is_for():
    silent = [where(path) for path, tree in trees().items() if not ast.get_docstring(tree)]
    assert not silent, f"begin with a docstring that says what the module does and what it never does: {silent}"


@pytest.mark.parametrize(
    ("source", "depth"),
    [
        ("x = 1", 0),
        ("if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3", 1),
        ("for a in b:\n    if a:\n        x = 1", 2),
        ("try:\n    x = 1\nexcept E:\n    if a:\n        x = 2", 2),
        ("match a:\n    case 1:\n        with b:\n            x = 1", 2),
        ("if a:\n    def inner():\n        if b:\n            x = 1", 1),
    ],
    ids=["flat", "elif", "for if", "except", "match", "inner function"],
)
def test_nesting_is_counted_as_a_reader_counts_it(source, depth):
    assert nesting(ast.parse(source).body) == depth


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file, read once for all tests."""
    return {path: ast.parse(path.read_text(encoding="utf-8"), filename=str(path)) for path in python_files()}


@cache
def measures() -> dict[str, tuple[int, int]]:
    """Of every function its lines and the depth of its blocks, by where it stands."""
    return {
        f"{where(path)}:{function.lineno} {function.name}": (
            (function.end_lineno or 0) - function.lineno + 1,
            nesting(function.body),
        )
        for path, function in functions()
    }


def functions() -> Iterator[tuple[Path, Function]]:
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield path, node


def nesting(body: list[ast.stmt]) -> int:
    """The depth of blocks; a function inside counts for itself, an `elif` stands beside its `if`."""
    return max((depth_of(statement) for statement in body), default=0)


def depth_of(statement: ast.stmt) -> int:
    if not isinstance(statement, BLOCKS):
        return 0
    inner = [statement.body] if not isinstance(statement, ast.Match) else [case.body for case in statement.cases]
    if isinstance(statement, ast.Try | ast.TryStar):
        inner += [handler.body for handler in statement.handlers] + [statement.finalbody]
    alternative = getattr(statement, "orelse", [])
    if isinstance(statement, ast.If) and len(alternative) == 1 and isinstance(alternative[0], ast.If):
        return max(1 + max(map(nesting, inner)), depth_of(alternative[0]))
    return 1 + max(map(nesting, [*inner, alternative]))


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def where(path: Path) -> str:
    return str(path.relative_to(ROOT))
