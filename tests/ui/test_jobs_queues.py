"""Jobs, the second part: queues, recurring jobs, limits, batches, workers, and who may change them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from procession import Limit, Recurring
from procession.api import tokens
from tests.support.page import PHONE
from tests.ui.world import OPENED, World, open_world


async def test_queues_and_types_are_paused_and_resumed(world, walk_on):
    await world.app.enqueue_many("nobody-does", [{}, {}], queue="stalls")
    walk = await walk_on(world)
    page = await walk.go("/jobs/queues")
    row = page.get_by_role("table", name="Queues").get_by_role("row").filter(has_text="stalls")
    await expect(row.get_by_role("link", name="2 ready")).to_have_attribute("href", "/jobs?queue=stalls&state=READY")
    await world.app.enqueue("nobody-does", queue="stalls")
    await expect(row.get_by_role("link", name="3 ready")).to_be_visible()  # without loading the page again
    await expect(row.get_by_role("img", name=re.compile("^In the last hour: "))).to_be_visible()
    await expect(page.get_by_role("img", name=re.compile(r"In the last hour: \d+ put in")).first).to_be_visible()
    await row.get_by_role("button", name="Pause the queue 'stalls'").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Reason").fill("the stable is full")
    await dialog.get_by_role("button", name="Pause").click()
    await expect(row).to_contain_text("paused")
    await expect(row).to_contain_text("the stable is full")
    await row.get_by_role("button", name="Resume the queue 'stalls'").click()
    await expect(row).not_to_contain_text("paused")
    await page.get_by_role("button", name="Pause a type").click()
    await dialog.get_by_label("Type").fill("nobody-does")
    await dialog.get_by_role("button", name="Pause").click()
    paused = page.get_by_role("table", name="Paused types")
    await expect(paused.get_by_role("link", name="nobody-does")).to_be_visible()
    await walk.check_accessible()
    await paused.get_by_role("button", name="Resume the type 'nobody-does'").click()
    await expect(paused).to_have_count(0)


async def test_a_recurring_job_shows_its_runs_and_is_run_paused_and_deleted(world, walk_on):
    letter = Recurring(name="daily letter", cycle="@daily", type="send-letter", args={"to": "Ada"})
    await world.app.put_recurring(letter)
    walk = await walk_on(world)
    page = await walk.go("/jobs/recurring")
    await walk.check_accessible()
    await page.get_by_role("link", name="daily letter").click()
    await expect(page.get_by_role("listitem").filter(has_text="00:00:00")).to_have_count(10)
    await expect(page.get_by_text("It has not run yet")).to_be_visible()
    await page.get_by_role("button", name="Run now").click()
    history = page.get_by_role("table", name="History")
    await expect(history.get_by_role("row")).to_have_count(2)
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_text("It will not run")).to_be_visible()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("listitem").filter(has_text="00:00:00")).to_have_count(10)
    await walk.check_accessible()
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page).to_have_url(re.compile("/jobs/recurring$"))
    assert "daily letter" not in [each.name for each in await world.app.recurring_jobs()]


async def test_a_limit_says_what_is_taken_of_it_and_a_worker_what_it_runs(world, walk_on):
    app, names = world.app, ["limited 1", "limited 2"]
    await app.enqueue_many("count-pages", [{"name": name} for name in names], limits=[Limit("press", most=1)])
    walk = await walk_on(world)
    page = await walk.go("/jobs/limits")
    row = page.get_by_role("table", name="Limits").get_by_role("row").filter(has_text="press")
    await expect(row).to_contain_text("1 at once")
    await expect(row).to_contain_text("1 of 1")
    await row.get_by_role("button", name="Set").click()
    dialog = page.get_by_role("dialog", name="Set the limit 'press'")
    await dialog.get_by_label("At once").fill("2")
    await dialog.get_by_role("button", name="Set").click()
    await expect(row).to_contain_text("2 of 2")  # the other one has begun by this
    await walk.check_accessible()
    page = await walk.go("/jobs/workers")
    running = page.get_by_role("listitem").filter(has_text="page 1 of 2")
    await expect(running.first).to_contain_text("pages · attempt 1")
    await expect(page.get_by_role("row").filter(has_text=re.compile("^pages"))).to_contain_text(
        re.compile("of .* slots")
    )
    await walk.check_accessible()
    OPENED.update(names)
    page = await walk.go("/jobs/limits")
    await expect(row).to_contain_text("0 of 2")
    await row.get_by_role("button", name="Drop: press").click()
    await page.get_by_role("dialog").get_by_role("button", name="Drop").click()
    await expect(row).to_have_count(0)


async def test_a_batch_says_how_far_it_is_and_is_sealed_or_canceled(world, walk_on):
    app = world.app
    batch = await app.open_batch(title="newsletter")
    await app.enqueue_many("send-letter", [{"to": "Ada"}, {"to": "nobody"}], batch=batch)
    await app.enqueue("nobody-does", batch=batch, queue="idle")
    walk = await walk_on(world)
    page = await walk.go("/jobs/batches")
    row = page.get_by_role("table", name="Batches").get_by_role("row").filter(has_text="newsletter")
    await expect(row).to_contain_text("2 of 3 over · 1 failed")
    await walk.check_accessible()
    await row.get_by_role("button", name="Seal").click()
    await expect(row).to_contain_text("sealed")
    await row.get_by_role("button", name="Cancel").click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").last.click()
    await expect(row).to_contain_text("3 of 3 over")
    await row.get_by_role("link", name="newsletter").click()
    await expect(page).to_have_url(re.compile(rf"batch={batch}$"))


async def test_on_a_phone_in_russian_and_dark_nothing_is_cut(world, walk_on):
    walk = await walk_on(world, viewport=PHONE, locale="ru-RU", color_scheme="dark")
    for path, title in (("queues", "Очереди"), ("limits", "Ограничения"), ("workers", "Исполнители")):
        page = await walk.go(f"/jobs/{path}")
        await expect(page.get_by_role("heading", level=1)).to_have_text(title)
        await walk.settled()
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    await walk.check_accessible()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A server that wants to know who comes."""
    async with open_world(f"sqlite:///{tmp_path_factory.mktemp('queue') / 'page.db'}", identity=True) as world:
        yield world


async def test_a_reader_sees_jobs_and_may_not_act_on_them(guarded, walk_on):
    put = await guarded.app.enqueue("nobody-does", queue="idle", delay="1h")
    _, token = await tokens.create_token(guarded.app, "eyes", ["reader"])
    walk = await walk_on(guarded)
    page = await walk.go(f"/jobs/{put.job_key}")
    await page.get_by_role("button", name="Use a token").click()
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("nobody-does")
    for name in ("Requeue", "Change", "Delete"):
        button = page.get_by_role("button", name=name)
        await expect(button).to_be_disabled()
        await expect(button).to_have_attribute("title", "Needs the role 'operator'")
