"""What no committed text may hold: a path of somebody's machine, an address of a package registry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sources import ROOT, tracked_files

# Written in pieces, so that this file does not hold what it looks for.
ROOTS = "|".join(["wo" + "rk", "ro" + "ot", "ho" + "me/[a-z]", "t" + "mp", "Us" + "ers/[a-z]", "opt/py" + "pi"])
MACHINE_PATH = re.compile(rf"(?<![\w.~$}}*<-])/(?:{ROOTS})(?:/|\b(?![\w-]))")
REGISTRY = re.compile(
    "|".join(["py" + r"pi\.org", "python" + r"hosted\.org", r"registry\.npm" + "js", r"deb\.deb" + r"ian\.org"])
)
PIN = re.compile(r"[a-z0-9][a-z0-9.-]*==[^ ;]+(?: ; [^\\]+)? \\")
HASH = re.compile(r" {4}--hash=sha256:[0-9a-f]{64}(?: \\)?")


def test_no_file_names_a_path_of_one_machine():
    assert hits(MACHINE_PATH) == []


def test_no_file_names_a_package_registry():
    assert hits(REGISTRY) == []


@pytest.mark.parametrize("lock", sorted(ROOT.glob("requirements*.lock")), ids=lambda path: path.name)
def test_a_lock_holds_names_versions_and_hashes_and_nothing_else(lock):
    lines = lock.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not PIN.fullmatch(line) and not HASH.fullmatch(line)] == []
    assert sum(1 for line in lines if PIN.fullmatch(line)) > 10


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cd /" + "work/main", True),
        ("sqlite:////" + "tmp/x.db", True),
        ("see /" + "root for more", True),
        ("POST /" + "working-hours", False),
        ("a/" + "work/b", False),
        ("https://example.com/" + "work/", False),
    ],
    ids=["folder", "url of a file", "bare", "longer word", "relative", "web address"],
)
def test_a_path_of_a_machine_is_told_from_other_paths(text, found):
    assert bool(MACHINE_PATH.search(text)) is found


def hits(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in tracked_files()
        for number, line in enumerate(text_of(path).splitlines(), start=1)
        if (match := pattern.search(line))
    ]


def text_of(path: Path) -> str:
    """The file's text; nothing for a file that is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
