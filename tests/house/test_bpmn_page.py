"""The page about BPMN says what the code says."""

from __future__ import annotations

from tests.support.bpmn_page import PAGE, page


def test_what_the_page_about_bpmn_draws_is_drawn_from_the_code():
    assert PAGE.read_text(encoding="utf-8") == page(), "draw it again: python -m tests.support.bpmn_page"
