"""Nobody without the right can see or do a thing: logging in, and what is offered to whom."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from procession.api import tokens
from tests.support.page import Walk
from tests.ui.world import World, open_world


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A server that wants to know who comes."""
    url = f"sqlite:///{tmp_path_factory.mktemp('roles') / 'page.db'}"
    async with open_world(url, identity=True) as world:
        yield world


async def log_in(walk: Walk, world: World, *roles: str, name: str, tenants: list[str] | None = None) -> None:
    """With a token, by the form."""
    _, token = await tokens.create_token(world.app, name, list(roles), tenants=tenants)
    await walk.page.get_by_role("button", name="Use a token").click()
    await walk.page.get_by_label("Token").fill(token)
    await walk.page.get_by_role("button", name="Log in").click()
    await walk.page.get_by_role("navigation", name="Main").wait_for()


async def test_who_is_not_known_sees_a_form_and_nothing_else(guarded, walk_on):
    walk = await walk_on(guarded)
    page = await walk.go("/processes")
    await expect(page.get_by_label("Password")).to_be_visible()
    await expect(page.get_by_role("navigation")).to_have_count(0)
    await page.get_by_label("Name").fill("ada")
    await page.get_by_label("Password").fill("wrong")
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("alert")).to_contain_text("does not know these credentials")
    await walk.check_accessible()


async def test_a_user_comes_in_with_a_password_goes_to_the_page_that_was_asked_for_and_leaves(guarded, walk_on):
    await tokens.create_user(guarded.app, "ada", "a good password", ["operator"])
    walk = await walk_on(guarded)
    page = await walk.go("/processes/import")
    await page.get_by_label("Name").fill("ada")
    await page.get_by_label("Password").fill("a good password")
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Import of a file")
    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Import of a file")
    kept = {"id": "1", "at": 1, "owner": "ada", "file": {"kind": "bpmn", "name": "adas.bpmn", "content": "<a/>"}}
    await page.evaluate("(kept) => localStorage.setItem('procession.modeler-draft.1', kept)", json.dumps(kept))
    await page.goto(guarded.url + "/modeler")
    await expect(page.get_by_role("button", name="Continue adas.bpmn")).to_be_visible()
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_label("Password")).to_be_visible()
    await log_in(walk, guarded, "deployer", name="bob")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Modeler")
    await expect(page.get_by_role("button", name="Continue")).to_have_count(0)


async def test_a_reader_looks_and_every_action_says_which_role_it_needs(guarded, walk_on):
    key = await guarded.order("ROLE-1")
    await guarded.until_waits(key, "wait-for-stock")
    walk = await walk_on(guarded)
    page = await walk.go(f"/instances/{key}")
    await log_in(walk, guarded, "reader", name="looks")
    await expect(page.locator(".why")).to_contain_text("stock-confirmed")
    for name in ("Suspend", "Publish the message", "Move"):
        button = page.get_by_role("button", name=name)
        await expect(button).to_be_disabled()
        await expect(button).to_have_attribute("title", "Needs the role 'operator'")
    await page.get_by_role("button", name="More actions").click()
    await expect(page.get_by_role("button", name="Cancel the instance")).to_be_disabled()
    await expect(page.locator(".element-badge.draggable")).to_have_count(0)
    await page.goto(guarded.url + "/processes/order")
    await expect(page.get_by_role("button", name="Start an instance")).to_be_disabled()


async def test_an_operator_may_act(guarded, walk_on):
    key = await guarded.order("ROLE-2")
    await guarded.until_waits(key, "wait-for-stock")
    walk = await walk_on(guarded)
    page = await walk.go(f"/instances/{key}")
    await log_in(walk, guarded, "operator", name="acts")
    await page.get_by_role("button", name="Suspend").click()
    await expect(page.get_by_role("button", name="Resume")).to_be_enabled()


async def test_who_may_only_work_is_told_so_instead_of_being_shown_anything(guarded, walk_on):
    walk = await walk_on(guarded)
    page = await walk.go("/processes")
    await log_in(walk, guarded, "worker", name="works")
    await expect(page.get_by_role("heading", level=1)).to_have_text("These credentials are for workers")
    await expect(page.get_by_text("'works' may take jobs and end them, and see nothing of the page")).to_be_visible()
    await walk.check_accessible()
    await page.get_by_role("button", name="Log in as somebody else").click()
    await expect(page.get_by_label("Password")).to_be_visible()


async def test_what_belongs_to_another_tenant_is_not_there(guarded, walk_on):
    key = await guarded.order("ROLE-3")
    walk = await walk_on(guarded)
    page = await walk.go(f"/instances/{key}")
    await log_in(walk, guarded, "admin", name="elsewhere", tenants=["acme"])
    await expect(page.get_by_role("alert")).to_contain_text(f"Expected a process instance with key {key}, found none")
    await page.goto(guarded.url + "/processes")
    await expect(page.get_by_text("No process is deployed yet")).to_be_visible()


async def test_who_is_not_known_any_more_is_asked_again(guarded, walk_on, monkeypatch):
    monkeypatch.setattr(tokens, "REMEMBERED_S", 0.0)
    walk = await walk_on(guarded)
    page = await walk.go("/processes")
    await log_in(walk, guarded, "reader", name="ends")
    await tokens.revoke(guarded.app, "token", "ends")
    await page.evaluate("history.pushState(null, '', '/instances'); dispatchEvent(new Event('procession:route'))")
    await expect(page.get_by_role("alert")).to_contain_text("does not know these credentials")
