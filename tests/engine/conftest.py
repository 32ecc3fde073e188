"""Fixtures of the engine's stories."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.engine.stage import Stage


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Stage]:
    """A stage whose books are checked when the story is over."""
    made = Stage()
    yield made
    await made.stop()
    await made.check_books()
