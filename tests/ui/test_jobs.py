"""Jobs, the first part: the list by filters, one job with its error and its log, many at once, the graph of a flow."""

from __future__ import annotations

import asyncio
import re

from playwright.async_api import expect

from procession import FlowJob, Limit
from tests.support.page import PHONE
from tests.ui.world import LOOK_S, OPENED, PATIENCE_S


async def until_job(world, key: int, state: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while (await world.app.job_record(key)).state != state:  # noqa: ASYNC110 - a worker takes its own time
            await asyncio.sleep(LOOK_S)


async def test_a_failed_job_is_found_by_filters_says_its_error_and_starts_over(page_world, walk_on):
    put = await page_world.app.enqueue("send-letter", {"to": "nobody"}, title="A letter", tags=["lost"])
    await until_job(page_world, put.job_key, "FAILED")
    walk = await walk_on(page_world)
    page = await walk.go("/jobs")
    await page.get_by_label("State").select_option("FAILED")
    await page.get_by_label("Tag").fill("lost")
    await expect(page).to_have_url(re.compile(r"\?state=FAILED&tag=lost"))
    row = page.get_by_role("table", name="Jobs").get_by_role("row").filter(has_text="A letter")
    await expect(row).to_contain_text("ValueError: no such address: nobody")
    await row.get_by_role("link", name="A letter").click()
    await expect(page).to_have_url(re.compile(rf"/jobs/{put.job_key}$"))
    await expect(page.get_by_text("It has failed for good: requeue or delete it.")).to_be_visible()
    await expect(page.locator("pre.job-trace")).to_contain_text("raise ValueError")
    await walk.check_accessible()
    await page.get_by_role("button", name="Requeue").click()
    await expect(page.get_by_text("Requeued")).to_be_visible()
    await until_job(page_world, put.job_key, "FAILED")
    await expect(page.get_by_text("Attempts that failed: 2")).to_be_visible()
    await page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Reason").fill("they moved")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page).to_have_url(re.compile(r"/jobs$"))
    record = await page_world.app.job_record(put.job_key)
    assert record.state == "DELETED"


async def test_the_log_and_the_progress_of_a_job_grow_while_it_runs(world, walk_on):
    name = f"live on {world.url}"
    put = await world.app.enqueue("count-pages", {"name": name}, keep="1h")
    walk = await walk_on(world)
    page = await walk.go(f"/jobs/{put.job_key}")
    log = page.get_by_role("log")
    await expect(log).to_contain_text("page 1 is counted")
    await expect(page.get_by_text("50% · page 1 of 2")).to_be_visible()
    await expect(page.get_by_text("live", exact=True)).to_be_visible()
    OPENED.add(name)
    await expect(log).to_contain_text("page 2 is counted")
    await expect(page.get_by_text("It is done.")).to_be_visible()


async def test_a_job_that_goes_while_it_is_looked_at_leaves_what_was_seen_of_it(world, walk_on):
    name = f"unkept on {world.url}"
    put = await world.app.enqueue("count-pages", {"name": name})
    page = await (await walk_on(world)).go(f"/jobs/{put.job_key}")
    log = page.get_by_role("log")
    await expect(log).to_contain_text("page 1 is counted")
    asked: list[str] = []
    OPENED.add(name)
    await expect(page.get_by_text("It is over, and nothing of it was to be kept")).to_be_visible()
    page.on("request", lambda request: asked.append(request.url))
    await expect(log).to_contain_text("page 1 is counted")
    await expect(page.get_by_role("alert")).to_have_count(0)
    await expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    await world.app.enqueue("nobody-does", queue="elsewhere")  # something happens, and nobody asks for this job again
    await world.app.rows.now()
    assert [url for url in asked if str(put.job_key) in url] == []


async def test_a_job_that_waits_is_changed(world, walk_on):
    put = await world.app.enqueue("send-letter", {"to": "Ada"}, delay="1h", title="Later")
    walk = await walk_on(world)
    page = await walk.go(f"/jobs/{put.job_key}")
    await expect(page.get_by_text(re.compile("^It is due at"))).to_be_visible()
    await page.get_by_role("button", name="Change").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Priority").fill("7")
    await dialog.get_by_label("Due in (seconds)").fill("7200")
    await walk.check_accessible()
    await dialog.get_by_role("button", name="Change").click()
    await expect(page.locator(".pairs > div").filter(has_text="Priority")).to_contain_text("7")
    record = await world.app.job_record(put.job_key)
    assert record.priority == 7
    assert (record.run_at - record.created_at).total_seconds() > 3_600


async def test_a_job_of_a_process_leads_to_its_instance_where_it_is_acted_on(world, walk_on):
    key = await world.fail("broken-queue.csv")
    walk = await walk_on(world)
    page = await walk.go("/jobs?state=FAILED&text=broken-queue")
    await page.get_by_role("link", name="parse-file", exact=True).click()
    await expect(page.get_by_text(re.compile("until somebody resolves the incident"))).to_be_visible()
    await expect(page.get_by_role("button", name="Requeue")).to_have_count(0)
    await page.get_by_role("link", name="To its instance").click()
    await expect(page).to_have_url(re.compile(rf"/instances/{key}$"))


async def test_all_that_fit_are_deleted_with_progress_and_those_selected_start_over(world, walk_on):
    app = world.app
    many = await app.enqueue_many("nobody-does", [{"n": number} for number in range(60)], queue="idle", tags=["many"])
    await app.enqueue("nobody-does", queue="idle", tags=["one"], delay="1h")
    walk = await walk_on(world)
    page = await walk.go("/jobs?queue=idle&tag=many")
    await page.get_by_label("Select all that are shown").check()
    await page.get_by_role("button", name="All 60 that fit").click()
    await page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete: 60")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(dialog.get_by_role("status")).to_have_text("60 of 60 done")
    await dialog.get_by_role("button", name="Close").last.click()
    await expect(page.get_by_text("No job fits")).to_be_visible()
    assert (await app.job_record(many[0].job_key)).state == "DELETED"
    await page.get_by_role("button", name="Clear filters").click()
    page = await walk.go("/jobs?queue=idle&state=SCHEDULED")
    await page.get_by_role("row").filter(has_text="nobody-does").get_by_role("checkbox").check()
    await page.get_by_role("button", name="Requeue").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Requeue").click()
    await expect(dialog.get_by_role("status")).to_have_text("1 of 1 done")
    found = await app.find_jobs(queue="idle", state="READY")
    assert found.total == 1


async def test_flows_with_a_title_are_listed_and_lead_to_their_graph_and_back(world, walk_on):
    jobs = [
        FlowJob("one", "send-letter", {"to": "Ada"}),
        FlowJob("two", "nobody-does", after=["one"], options={"queue": "flowing"}),
    ]
    flow = await world.app.enqueue_flow(jobs, title="Order A-17")
    await until_job(world, flow["two"].job_key, "READY")
    walk = await walk_on(world)
    page = await walk.go("/jobs")
    await page.get_by_role("link", name="Flows").click()
    row = page.get_by_role("table", name="Flows").get_by_role("row").filter(has_text="Order A-17")
    await expect(row).to_contain_text("1 of 2 over")
    await walk.check_accessible()
    await row.get_by_role("link", name="Order A-17").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Order A-17")
    await page.get_by_role("link", name="nobody-does").click()
    await page.get_by_role("link", name="Order A-17").click()
    await expect(page).to_have_url(f"{world.url}/jobs/flows/{flow.flow_key}")
    await walk.check_accessible()


async def test_a_flow_is_a_graph_that_the_keyboard_walks_through(world, walk_on):
    flow = await world.app.enqueue_flow(
        [
            FlowJob("first", "send-letter", {"to": "nobody"}, options={"title": "First letter"}),
            FlowJob("second", "send-letter", {"to": "Ada"}, after=["first"], options={"title": "Second letter"}),
            FlowJob("third", "send-letter", {"to": "Ada"}, after=["second"], options={"title": "Third letter"}),
        ]
    )
    await until_job(world, flow["first"].job_key, "FAILED")
    walk = await walk_on(world)
    page = await walk.go(f"/jobs/{flow['second'].job_key}")
    await expect(page.get_by_text("It waits for 1 job that it comes after.")).to_be_visible()
    graph = page.get_by_role("group", name=re.compile("The jobs of this flow"))
    await expect(graph.get_by_role("link")).to_have_count(3)
    await expect(graph.locator('a[aria-current="true"]')).to_have_text("Second letterawaiting others")
    await walk.check_accessible()
    await walk.check_picture("job-in-a-flow")
    await graph.focus()
    await page.keyboard.press("Tab")
    await expect(graph.get_by_role("link", name=re.compile("First letter ?failed"))).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("First letter")


async def test_on_a_phone_in_russian_and_dark_a_job_is_read_whole(world, walk_on):
    put = await world.app.enqueue(
        "nobody-does", {"to": "Ada"}, queue="idle", tags=["телефон"], limits=[Limit("phone", most=1)]
    )
    walk = await walk_on(world, viewport=PHONE, locale="ru-RU", color_scheme="dark")
    page = await walk.go("/jobs?tag=телефон")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Задания")
    await expect(page.get_by_role("link", name="nobody-does")).to_be_visible()
    await walk.check_accessible()
    page = await walk.go(f"/jobs/{put.job_key}")
    await expect(page.get_by_text(re.compile("ждёт исполнителя очереди «idle»"))).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    await walk.check_accessible()
