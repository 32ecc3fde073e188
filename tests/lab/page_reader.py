"""Reads a page as a browser without network would: its text, its marks, and everything that it would have to fetch."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "br", "hr", "img", "input", "link"}
FETCHING = ("src", "href", "xlink:href", "srcset", "action", "data", "poster")


class Page(HTMLParser):
    """What is in a page. `fetches` is what it would load; `open_tags` is empty at the end of a sound page."""

    def __init__(self) -> None:
        super().__init__()
        self.open_tags: list[str] = []
        self.fetches: list[str] = []
        self.tips: list[str] = []
        self.cells: list[str] = []
        self.title = ""
        self.text = ""

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.fetches += [found[name] for name in FETCHING if found.get(name)]
        if tag in VOID:
            return
        if "data-tip" in found:
            self.tips.append(found["data-tip"])
        if tag == "td":
            self.cells.append("")
        self.open_tags.append(tag)

    def handle_startendtag(self, tag, attrs):
        found = dict(attrs)
        self.fetches += [found[name] for name in FETCHING if found.get(name)]

    def handle_endtag(self, tag):
        assert self.open_tags, f"</{tag}> without a beginning"
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        inside = self.open_tags[-1] if self.open_tags else ""
        if inside in {"style", "script"}:
            self.fetches += re.findall(r"url\([^)]*\)|@import[^;]*|fetch\(|import\(|XMLHttpRequest|https?://\S+", data)
            return
        if inside == "title" and not self.title:
            self.title = data
        if "td" in self.open_tags:
            self.cells[-1] += data
        self.text += data


def read_page(file: Path) -> Page:
    """A page that is sound and fetches nothing."""
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    page.close()
    assert page.open_tags == []
    assert page.fetches == []
    return page
