"""Who may draw, deploy, evaluate and ask: what the modeler, decisions and the playground ask, with each role."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import expect

from procession.api import tokens
from tests.ui.world import ORDER, World, open_world

READING = {"reader", "operator", "deployer", "admin"}
DEPLOYING = {"deployer", "admin"}
OPERATING = {"operator", "admin"}
QUESTIONS = (
    ("POST", "/api/lint", {"content": "<a/>", "name": "a.bpmn"}, READING),
    ("POST", "/api/feel", {"expression": "1 + 1"}, READING),
    ("POST", "/api/decisions/evaluate", {"decisionDefinitionKey": "7"}, READING),
    ("GET", "/api/decisions/7/evaluations", None, READING),
    ("GET", "/api/messages/explain?name=x", None, READING),
    ("POST", "/v2/resources/search", {}, READING),
    ("POST", "/v2/decision-definitions/search", {}, READING),
    ("POST", "/v2/process-instances", {"processDefinitionId": "nothing"}, OPERATING),
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A server that wants to know who comes."""
    async with open_world(f"sqlite:///{tmp_path_factory.mktemp('tools') / 'page.db'}", identity=True) as world:
        yield world


@pytest.mark.parametrize("role", ["reader", "worker", "operator", "deployer", "admin"])
async def test_each_question_of_these_pages_is_answered_to_those_who_may_ask_it(guarded, role):
    _, token = await tokens.create_token(guarded.app, f"{role} of tools", [role])
    async with httpx.AsyncClient(base_url=guarded.url, headers={"authorization": f"Bearer {token}"}) as client:
        for method, path, body, allowed in QUESTIONS:
            answer = await client.request(method, path, json=body)
            assert (answer.status_code == 403) is (role not in allowed), (path, answer.text)
        answer = await client.post("/v2/deployments", files={"resources": ("order.bpmn", ORDER.read_bytes())})
        assert answer.status_code == (200 if role in DEPLOYING else 403)


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
