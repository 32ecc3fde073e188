"""Every story runs on each database; the clock stands still until a story turns it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from procession import Procession
from tests.store.pooler.conftest import pooler
from tests.support.servers import SERVERS

__all__ = ["pooler"]

# `make pooled` tells the same stories behind PgBouncer in transaction mode, where nothing is heard and all is polled.
DATABASES = ("pgbouncer",) if os.environ.get("STORIES_POOLED") else ("memory", "sqlite", *SERVERS)
START = 1_767_225_600_000  # 2026-01-01T00:00:00Z


class Clock:
    """An instant that is moved by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def turn(self, ms: int) -> None:
        self.now += ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of the story's own."""
    if request.param == "pgbouncer":
        through = request.getfixturevalue("pooler").through
        return f"{through(request.getfixturevalue('postgres_url'))}?pgbouncer=1"
    if request.param in ("postgres", "mariadb"):
        return request.getfixturevalue(f"{request.param}_url")
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'a b' / 'shop ünï.db'}"


@pytest.fixture
async def make(url: str, clock: Clock, tmp_path: Path) -> AsyncIterator[Callable[..., Procession]]:
    """Applications on the story's database; those that are open at the end are closed."""
    (tmp_path / "a b").mkdir()
    made: list[Procession] = []

    def application(**options) -> Procession:
        made.append(Procession(url, history="full", clock=clock, **options))
        return made[-1]

    yield application
    for app in made:
        await app.close()


@pytest.fixture
async def app(make: Callable[..., Procession]) -> Procession:
    """An open application without workers: what is due is done by ``run_until_idle``."""
    return await make().open(run_workers=False, migrate=True)
