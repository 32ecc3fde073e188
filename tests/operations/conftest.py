"""Fixtures of the operators' stories: an application on each store, on a clock turned by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.operations.stage import Stage
from tests.support.servers import SERVERS


@pytest.fixture(params=["memory", "sqlite", *SERVERS])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param in ("postgres", "mariadb"):
        return request.getfixturevalue(f"{request.param}_url")
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'test.db'}"


@pytest_asyncio.fixture
async def stage(url: str) -> AsyncIterator[Stage]:
    """An open application that works only when the story says so."""
    made = Stage(url)
    yield made
    await made.app.close()
