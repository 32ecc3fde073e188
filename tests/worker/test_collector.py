"""The collector of cycles looks less often in a process that is ours, and never more often than it was told."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from procession.worker.collector import MADE_MAX, calm_collector


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("told", "then"),
    [(700, MADE_MAX), (2_000, MADE_MAX), (MADE_MAX + 1, MADE_MAX + 1), (0, 0)],
    ids=["Python 3.11", "Python 3.13", "less often already", "not at all"],
)
def test_it_looks_less_often_unless_it_was_told_so_already(told: int, then: int):
    gc.set_threshold(told, 7, 9)
    calm_collector()
    assert gc.get_threshold() == (then, 7, 9)
