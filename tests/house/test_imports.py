"""What import-linter cannot say: which packages a pure room may use, and that no room escapes its contracts."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sources import PACKAGE, ROOT, python_files

PURE_ROOMS = ("explorer", "core", "jobs", "dmn", "model", "feel", "errors", "ids", "limits")
# Packages that only compute: values in, values out.
ALLOWED_EVERYWHERE = {"procession", "msgspec"}
ALLOWED_IN = {"model": {"lxml"}, "jobs": {"cronsim", "isodate"}}
CONCRETE_STORES = ("memory", "sqlite", "postgres", "mysql")


def test_a_pure_room_uses_no_package_that_was_not_let_in():
    strangers = [
        f"{path.relative_to(ROOT)}:{line} {package}"
        for room in PURE_ROOMS
        for path in files_of(room)
        for line, package in third_party_imports(path)
        if package not in ALLOWED_EVERYWHERE | ALLOWED_IN.get(room, set())
    ]
    assert not strangers


def test_every_pure_room_is_under_the_contract_of_purity():
    held = set(contract("A pure room has no clock, no chance, no input, no output")["source_modules"])
    assert held == {f"procession.{room}" for room in PURE_ROOMS if files_of(room)}


def test_every_store_is_under_the_contract_of_siblings():
    siblings = contract("A store knows the port and no other store")["layers"][0]
    assert [store for store in stores() if f"({store})" not in siblings] == []


def test_every_store_is_named_by_the_wiring_alone():
    if not (PACKAGE / "app" / "wiring.py").exists():
        pytest.skip("there is no wiring yet")  # import-linter refuses contracts about modules that do not exist
    held = contract("Only the wiring names a concrete store")
    assert held["type"] == "protected"
    assert held["protected_modules"] == [f"procession.store.{store}" for store in stores()]
    assert held["allowed_importers"] == ["procession.app.wiring"]


def stores() -> list[str]:
    return [store for store in CONCRETE_STORES if any((PACKAGE / "store" / store).glob("*.py"))]


def contract(name: str) -> dict:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["name"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}
    assert name in contracts, f"pyproject.toml needs a contract of import-linter named {name!r}"
    return contracts[name]


def files_of(room: str) -> list[Path]:
    return [path for path in python_files() if path == PACKAGE / f"{room}.py" or PACKAGE / room in path.parents]


def third_party_imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        for name in names:
            package = name.split(".")[0]
            if package not in sys.stdlib_module_names:
                yield node.lineno, package
