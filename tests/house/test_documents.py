"""The documents lead where they say they lead, and the settings say why they are as they are."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.support.sources import ROOT, tracked_files

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = ("http://", "https://", "mailto:")
EXCEPTION = re.compile(r'^ {4}"([A-Z]+[0-9]*)",(.*)$', re.MULTILINE)


def test_every_link_between_documents_leads_to_something():
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages()
        for target in links_of(page)
        if not leads_somewhere(page, target)
    ]
    assert broken == []


def test_every_target_of_make_is_explained():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    explained = re.findall(r"^([a-z]+):.*##", makefile, re.MULTILINE)
    assert sorted(explained) == sorted(phony.group(1).split())


def test_every_exception_from_a_lint_rule_has_its_reason_beside_it():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    silent = [rule for rule, reason in EXCEPTION.findall(settings) if not re.fullmatch(r"\s+# .{8,}", reason)]
    assert silent == []


def test_a_news_fragment_is_of_a_known_kind():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    kinds = {kind["directory"] for kind in settings["type"]}
    folder = ROOT / settings["directory"]
    strange = [p.name for p in folder.iterdir() if p.name != "README.md" and p.suffixes[-2:] not in kinds_of(kinds)]
    assert strange == [], f"name a fragment <subject>.<kind>.md with a kind of {sorted(kinds)}"


def kinds_of(kinds: set[str]) -> list[list[str]]:
    return [[f".{kind}", ".md"] for kind in kinds]


def pages() -> list[Path]:
    return [path for path in tracked_files() if path.suffix == ".md"]


def links_of(page: Path) -> Iterator[str]:
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if not target.startswith(ELSEWHERE):
            yield target


def leads_somewhere(page: Path, target: str) -> bool:
    name, _, heading = target.partition("#")
    destination = (page.parent / name).resolve() if name else page
    if not destination.exists():
        return False
    return not heading or destination.suffix != ".md" or heading in headings_of(destination)


def headings_of(page: Path) -> set[str]:
    """The anchors of a page's headings: lower case, without punctuation, hyphens for spaces."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}
