"""The playground: FEEL with its results and errors, and why a message does not arrive."""

from __future__ import annotations

import re
from urllib.parse import quote

from playwright.async_api import Page, expect

from tests.support.page import PHONE


async def write(page: Page, text: str) -> None:
    """Write an expression in place of the one that is there."""
    await page.locator(".feel-field .cm-content").click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(text)


async def test_an_expression_is_evaluated_as_one_types_and_says_where_it_is_wrong(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go("/playground")
    await expect(page.locator(".feel-value")).to_have_text("340.5")
    await write(page, "count(items) + ")
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("Expected an expression")
    await expect(alert).to_contain_text("line 1, column 16")
    await expect(page.locator(".cm-lintRange-error, .cm-lintPoint-error")).to_be_visible()
    await write(page, 'date(ordered) + duration("P1M")')
    await expect(page.locator(".feel-value")).to_have_text('"2026-04-14"')
    await expect(page.locator(".bench-result .badge")).to_have_text("date")
    await write(page, "customer.nickname")
    await expect(page.locator(".feel-warning")).to_contain_text("no member 'nickname'")
    await walk.check_accessible()


async def test_tests_of_a_cell_are_tried_on_a_value_and_the_address_can_be_shared(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go(f"/playground?expression={quote('[10..20), > 100')}&values={{}}&value=20")
    await expect(page.locator(".feel-value")).to_have_text("false")
    await page.get_by_label("Value that is tested").fill("101")
    await expect(page.locator(".feel-value")).to_have_text("true")
    await walk.check_picture("playground-desktop-light", hide=(".cm-cursorLayer",))
    await page.get_by_role("button", name="Copy a link").click()
    await expect(page).to_have_url(re.compile("value=101"))


async def test_the_inspector_says_why_a_message_did_not_match(page_world, walk_on):
    key = await page_world.order("MSG-1")
    await page_world.until_waits(key, "wait-for-stock")
    (waiting,) = [row for row in await page_world.app.subscriptions(process_instance_key=key) if row.name]
    walk = await walk_on(page_world)
    page = await walk.go("/playground?tab=messages")
    await page.get_by_label("Name of the message").fill(waiting.name)
    await page.get_by_label("Correlation key").fill(waiting.correlation_key.lower())
    await page.get_by_role("button", name="Why?").click()
    await expect(page.locator(".verdict.warn")).to_contain_text("but for another key")
    row = page.get_by_role("listitem").filter(has_text=str(key))
    await expect(row).to_contain_text("Upper and lower case differ.")
    await walk.check_accessible()
    await row.get_by_role("button", name="Take this key").click()
    await expect(page.locator(".verdict.good")).to_contain_text(f"reaches instance {key}")
    await page.get_by_label("Name of the message").fill(waiting.name[:-1])
    await page.get_by_role("button", name="Why?").click()
    await expect(page.locator(".verdict.warn")).to_contain_text(f"Did you mean '{waiting.name}'?")


async def test_the_playground_in_russian_fits_a_phone(world, walk_on):
    walk = await walk_on(world, viewport=PHONE, locale="ru-RU", color_scheme="dark")
    page = await walk.go("/playground?tab=messages&name=nobody-waits")
    await expect(page.locator(".verdict")).to_contain_text("никто не ждёт")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("tab", name="FEEL").click()
    await expect(page.locator(".feel-value")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await walk.check_accessible()
