"""The overview: figures of now, lines of the last minutes, incidents that are alike, who works."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.support.page import PHONE


async def test_figures_and_alike_incidents_are_shown_and_lead_on(page_world, walk_on):
    await page_world.until_waits(await page_world.order("NOW-1"), "wait-for-stock")
    await page_world.fail("broken-alike-1.csv")
    key = await page_world.fail("broken-alike-2.csv")
    walk = await walk_on(page_world)
    page = await walk.go("/")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    await expect(page.get_by_role("link", name="Running instances").locator("strong")).to_have_text(
        re.compile(r"^\d+$")
    )
    alike = (
        page.get_by_role("table", name="Incidents that are alike").get_by_role("row").filter(has_text="broken-alike")
    )
    await expect(alike).to_have_count(1)  # of both files, since only their numbers differ
    await expect(alike.locator(".badge")).to_have_text(re.compile(r"^([2-9]|\d\d+)$"))
    await expect(page.get_by_role("table", name="Processes at work").get_by_text("this server")).to_be_visible()
    await walk.check_accessible()
    await alike.get_by_role("link").first.click()
    await expect(page).to_have_url(re.compile(rf"/instances/{key}$"))
    await page.go_back()
    count = int(await alike.locator(".badge").inner_text())
    await alike.get_by_role("link", name=str(count), exact=True).click()
    await expect(page).to_have_url(re.compile("incident=[0-9a-f]+"))
    await expect(page.get_by_role("table", name="Instances").get_by_role("row")).to_have_count(count + 1)


async def test_lines_of_the_last_minutes_are_drawn_and_said_in_words(page_world, walk_on):
    walk = await walk_on(page_world)
    page = await walk.go("/overview?minutes=2")
    chart = page.get_by_role("img", name=re.compile(r"Started: [\d.]+ per second now"))
    await expect(chart.locator("canvas")).to_be_visible()
    await expect(page.get_by_role("button", name="2 min")).to_have_attribute("aria-pressed", "true")
    await page.get_by_role("button", name="15 min").click()
    await expect(page).to_have_url(re.compile("minutes=15"))


async def test_what_happens_shows_without_loading_the_page_again(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go("/overview")
    before = int(
        (await page.get_by_role("link", name="Open incidents").locator("strong").inner_text()).replace(",", "")
    )
    await world.fail("broken-live.csv")
    figure = page.get_by_role("link", name="Open incidents").locator("strong")
    await expect(figure).to_have_text(str(before + 1))


async def test_on_a_phone_in_russian_and_dark_everything_is_there(world, walk_on):
    await world.fail()
    walk = await walk_on(world, viewport=PHONE, locale="ru-RU", color_scheme="dark")
    page = await walk.go("/overview")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Обзор")
    await expect(page.get_by_text("Похожие инциденты")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    await walk.check_accessible()
    changing = (".chart-box", ".tile-value", ".tile small", ".chart-legend b")
    await walk.check_picture("overview-phone-dark", hide=changing)
