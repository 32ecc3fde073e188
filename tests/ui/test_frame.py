"""The frame of the page: in both languages, dark and light, on a narrow screen, by keyboard, asking nobody else."""

from __future__ import annotations

import json
import re

import httpx
from playwright.async_api import expect
from starlette.applications import Starlette

from procession import Limit, Recurring
from procession.testing.bpmn import process
from procession.ui import routes
from tests.support.page import ALIKE, PHONE
from tests.support.pictures import differing_share, shrunk
from tests.support.sources import ROOT


async def test_every_address_of_the_page_can_be_opened(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go("/processes")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Processes")
    await page.goto(world.url + "/nowhere/at/all")
    await expect(page.get_by_text("There is no such page")).to_be_visible()


async def test_names_that_addresses_have_other_uses_for_are_shown_and_administered(world, walk_on):
    for name in ("shop/eu", "toString", "__proto__"):
        xml = process(name).start("begin").user("constructor", name="Check").end("done").xml()
        await world.app.deploy((f"{name.replace('/', '-')}.bpmn", xml))
        await world.app.start(name, {})
    await world.app.put_recurring(Recurring(name="mail/eu", cycle="@daily", type="send-letter", args={"to": "Ada"}))
    await world.app.enqueue("nobody-does", queue="idle/eu")
    await world.app.enqueue("nobody-does", queue="idle/eu", limits=[Limit("heat/eu", most=1)])
    walk = await walk_on(world)
    for name in ("shop%2Feu", "toString", "__proto__"):
        page = await walk.go(f"/processes/{name}")
        await expect(page.locator('.diagram [data-element-id="constructor"]').first).to_be_visible()
    await page.get_by_role("link", name=re.compile(r"^\d+$")).click()
    await expect(page.locator('.diagram [data-element-id="constructor"].waiting').first).to_be_visible()
    await walk.go("/decisions/two%0Alines%5C")
    page = await walk.go("/jobs/recurring/mail%2Feu")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_text("It will not run")).to_be_visible()
    page = await walk.go("/jobs/queues")
    await page.get_by_role("button", name="Pause the queue 'idle/eu'").click()
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    await page.get_by_role("button", name="Resume the queue 'idle/eu'").click()
    page = await walk.go("/jobs/limits")
    row = page.get_by_role("row").filter(has_text="heat/eu")
    await row.get_by_role("button", name="Set").click()
    await page.get_by_role("dialog").get_by_label("At once").fill("3")
    await page.get_by_role("dialog").get_by_role("button", name="Set").click()
    await expect(row).to_contain_text("3 at once")


async def test_what_belongs_to_the_interface_is_never_answered_with_the_page(world):
    async with httpx.AsyncClient(base_url=world.url) as client:
        for path in ("/v2/nothing/here", "/api/nothing", "/static/nothing.js"):
            answer = await client.get(path)
            assert answer.status_code == 404, path
            assert "text/html" not in answer.headers.get("content-type", "")
        for path in ("/api/jobs%2F7", "/static%2Fnothing.js", "/static/..%2Findex.html"):
            assert (await client.get(path)).status_code == 400, path


async def test_a_name_that_no_file_can_have_is_not_found(tmp_path):
    (tmp_path / "static").mkdir()
    transport = httpx.ASGITransport(Starlette(routes=list(routes(tmp_path))))
    async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:
        for name in ("x" * 300, "nothing.js", "a%00b", ""):
            assert (await client.get(f"/static/{name}")).status_code == 404, name


async def test_scripts_come_from_this_server_as_files_and_from_nowhere_else(world):
    async with httpx.AsyncClient(base_url=world.url) as client:
        policy = (await client.get("/")).headers["content-security-policy"]
    script = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert script == "script-src 'self'"
    assert "style-src 'self'" in policy.split("; ")
    assert "default-src 'none'" in policy


def test_the_lock_of_the_page_names_no_registry_and_a_checksum_for_every_package():
    packages = json.loads((ROOT / "ui" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []


async def test_files_are_compressed_for_those_who_take_it_and_kept_for_good(world):
    async with httpx.AsyncClient(base_url=world.url) as client:
        script = re.search(r'src="(/static/[^"]+[.]js)"', (await client.get("/")).text)
        assert script
        packed = await client.get(script[1])
        plain = await client.get(script[1], headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text
    assert "immutable" in packed.headers["cache-control"]


async def test_a_checkout_without_a_built_page_says_what_to_run(tmp_path):
    from starlette.applications import Starlette  # noqa: PLC0415 - here only

    transport = httpx.ASGITransport(app=Starlette(routes=routes(tmp_path)))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/processes")
    assert answer.status_code == 503
    assert "make ui" in answer.text


async def test_the_reader_chooses_language_and_colours_and_both_are_remembered(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go("/processes")
    await page.get_by_role("button", name="По-русски").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Процессы")
    await page.get_by_role("button", name="Цвета: как в системе").click()
    await page.get_by_role("button", name="Цвета: светлые").click()
    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Процессы")
    assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert await page.evaluate("document.documentElement.lang") == "ru"


async def test_the_language_of_the_browser_is_the_first_one(world, walk_on):
    page = await (await walk_on(world, locale="ru-RU")).go("/processes")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Процессы")


async def test_the_navigation_is_reached_by_keyboard(world, walk_on):
    page = await (await walk_on(world)).go("/processes")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.closest('nav') !== null")


async def test_on_a_narrow_screen_nothing_has_to_be_scrolled_sideways(world, walk_on):
    page = await (await walk_on(world, viewport=PHONE)).go("/processes")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = await page.get_by_role("navigation", name="Main").bounding_box()
    assert box is not None
    assert box["y"] > PHONE["height"] / 2, "the navigation is at the bottom"


async def test_a_page_that_looks_otherwise_than_its_picture_is_noticed(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go("/playground")
    await walk.settled()
    one = await shrunk(page.context, await page.screenshot())
    await page.locator("main").evaluate("(main) => { main.style.paddingLeft = '160px'; }")
    other = await shrunk(page.context, await page.screenshot())
    assert await differing_share(page.context, one, one) == 0
    assert await differing_share(page.context, one, other) > ALIKE
