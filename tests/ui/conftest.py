"""The web page in a real browser, on servers with the order example and a process that fails.

Servers and the browser live as long as the run, in one loop with the tests. A test that changes something starts
instances of its own. `page_world` is a server on SQLite and one on PostgreSQL in turn; `world` is that on SQLite.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from procession.ui import is_built
from tests.support.page import ARGUMENTS, MISSING, Walk, chromium, keep, open_walk
from tests.ui.world import World, open_world

NOT_BUILT = "the web page is not built: make ui"
OpenWalk = Callable[..., Awaitable[Walk]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One loop for all: a browser belongs to the loop that it was started in."""
    for item in items:
        if item.path.parent.name == "ui" and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Tells fixtures whether their test has failed."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call":
        item.stash[_FAILED] = report.failed


_FAILED = pytest.StashKey[bool]()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A Chromium without a window."""
    program = chromium()
    if program is None:
        pytest.skip(MISSING)
    if not is_built():
        pytest.skip(NOT_BUILT)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A server on SQLite."""
    async with open_world(f"sqlite:///{tmp_path_factory.mktemp('page') / 'page.db'}") as world:
        yield world


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def postgres_world(browser: Browser, postgres_databases) -> AsyncIterator[World]:
    """A server on PostgreSQL."""
    url = postgres_databases.create()
    async with open_world(url) as world:
        yield world
    postgres_databases.drop(url)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def page_world(request: pytest.FixtureRequest) -> World:
    """Each of the two in turn."""
    return request.getfixturevalue("world" if request.param == "sqlite" else "postgres_world")


@pytest_asyncio.fixture(loop_scope="session")
async def walk_on(browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[OpenWalk]:
    """Opens tabs of a world, with options of Playwright; each must have been quiet when the test ends."""
    walks: list[Walk] = []

    async def open_one(world: World, **options: Any) -> Walk:
        walks.append(await open_walk(browser, world.url, **options))
        return walks[-1]

    yield open_one
    has_failed = request.node.stash.get(_FAILED, False)
    for number, walk in enumerate(walks):
        if has_failed:
            shot = await walk.page.screenshot()
            name = f"{request.node.name}-{number}".replace("/", "-")
            print(f"The page, when it failed: {keep(name, shot)}")  # noqa: T201
        await walk.page.context.close()
    if not has_failed:
        for walk in walks:
            walk.check_quiet()
