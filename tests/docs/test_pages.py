"""Every Python block of the guides and of the README runs and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import GUIDES, blocks_of, run_page
from tests.support.sources import ROOT

PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in GUIDES)]
WITHOUT_PYTHON = {"command-line.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page: Path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page(page, tmp_path) > 0 or page.name in WITHOUT_PYTHON


def test_every_guide_is_linked_from_the_first_page():
    first = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert [name for name in GUIDES if f"({name}.md)" not in first] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_uses_known_languages_only(page: Path):
    assert {block.language for block in blocks_of(page)} <= {
        "python",
        "text",
        "sh",
        "console",
        "json",
        "xml",
        "sql",
        "mermaid",
    }


def test_a_block_that_prints_something_else_is_noticed(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("```python\nimport asyncio\nawait asyncio.sleep(0)\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="it prints\n2"):
        run_page(page, tmp_path)


def test_a_block_that_fails_is_noticed_with_the_line_of_the_page(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```python\nx = 1\nassert x == 2\n```\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError) as failure:
        run_page(page, tmp_path)
    assert failure.traceback[-1].lineno + 1 == 5
