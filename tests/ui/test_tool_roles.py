"""Who may draw, deploy, evaluate and ask: what the modeler, decisions and the playground ask, with each role."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from procession.api import tokens
from tests.ui.world import World, open_world


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A server that wants to know who comes."""
    async with open_world(f"sqlite:///{tmp_path_factory.mktemp('tools') / 'page.db'}", identity=True) as world:
        yield world


async def test_a_reader_may_draw_and_download_but_not_deploy_or_start(guarded, walk_on):
    _, token = await tokens.create_token(guarded.app, "eyes", ["reader"])
    walk = await walk_on(guarded)
    page = await walk.go("/modeler")
    await page.get_by_role("button", name="Use a token").click()
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Log in").click()
    await page.get_by_role("link").filter(has_text="order.bpmn").click()
    await page.locator('.modeler-main[data-ready="true"]').wait_for()
    for name in ("Deploy", "Start"):
        button = page.get_by_role("button", name=name, exact=True)
        await expect(button).to_be_disabled()
        await expect(button).to_have_attribute(
            "title", f"Needs the role '{'deployer' if name == 'Deploy' else 'operator'}'"
        )
    await expect(page.get_by_role("button", name="Download")).to_be_enabled()
