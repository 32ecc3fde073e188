"""The world that the stories of the core are told in: instances in memory, one virtual clock, checked at every step."""

from __future__ import annotations

import pytest

from procession.testing.world import CoreWorld


@pytest.fixture
def world() -> CoreWorld:
    """A world without definitions at the first instant of 2026."""
    return CoreWorld()
