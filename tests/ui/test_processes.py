"""The page of processes: what is deployed, where its instances are, how versions differ, and what is done to many."""

from __future__ import annotations

import json
import re

from playwright.async_api import expect

from procession.testing.bpmn import process
from tests.support.page import PHONE
from tests.ui.world import ORDER


async def test_processes_are_listed_with_their_counts_and_lead_to_their_instances(page_world, walk_on):
    await page_world.until_waits(await page_world.order("LIST-1"), "wait-for-stock")
    await page_world.fail()
    walk = await walk_on(page_world)
    page = await walk.go("/processes")
    row = page.get_by_role("row").filter(has_text="Import of a file")
    incidents = row.get_by_role("link").nth(2)  # after the name and the running ones
    await expect(incidents).to_have_text(re.compile(r"^[1-9]\d*$"))
    await incidents.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Import of a file")
    table = page.get_by_role("table", name="Instances")
    await expect(table.get_by_text("incident").first).to_be_visible()
    await expect(page.get_by_label("State")).to_have_value("INCIDENT")
    await walk.check_accessible()


async def test_the_diagram_counts_where_instances_are_and_an_element_is_a_filter(page_world, walk_on):
    await page_world.until_waits(await page_world.order("AT-1"), "wait-for-stock")
    walk = await walk_on(page_world)
    page = await walk.go("/processes/order")
    await walk.settled()
    badge = page.locator('[data-container-id="wait-for-stock"] .element-badge.active')
    await expect(badge).to_be_visible()
    await badge.click()
    await expect(page.get_by_label("Element", exact=True)).to_have_value("wait-for-stock")
    assert "element=wait-for-stock" in page.url
    await expect(page.get_by_role("link", name="AT-1")).to_be_visible()
    await expect(page.locator(".bjs-powered-by")).to_be_visible()


async def test_filters_stand_in_the_address_and_can_be_saved_as_a_view(world, walk_on):
    await world.until_waits(await world.order("FIND-1", card="blue"), "wait-for-stock")
    await world.until_waits(await world.order("FIND-2", card="green"), "wait-for-stock")
    walk = await walk_on(world)
    page = await walk.go("/processes/order?version=all")
    await page.get_by_role("button", name="More filters").click()
    await page.get_by_label("Variable").fill("card=blue")
    await page.get_by_label("Variable").press("Enter")
    await expect(page.get_by_role("link", name="FIND-1")).to_be_visible()
    await expect(page.get_by_role("link", name="FIND-2")).to_have_count(0)
    await page.get_by_role("button", name="Saved views").click()
    await page.get_by_role("button", name="Save this view").click()
    await page.get_by_label("Name").fill("Blue cards")
    await page.get_by_role("button", name="Save", exact=True).click()
    shared = page.url
    await page.get_by_role("button", name="Clear filters").click()
    await expect(page.get_by_role("link", name="FIND-2")).to_be_visible()
    await page.get_by_role("button", name="Saved views").click()
    await page.get_by_role("button", name="Blue cards", exact=True).click()
    await expect(page.get_by_role("link", name="FIND-2")).to_have_count(0)
    assert page.url == shared
    await page.goto(shared)
    await expect(page.get_by_role("link", name="FIND-1")).to_be_visible()


async def test_a_filter_that_cannot_be_meant_says_so_instead_of_meaning_everything(world, walk_on):
    await world.order("ODD-1")
    page = await (await walk_on(world)).go("/processes/order?variable=total%3E30")
    field = page.get_by_label("Variable")
    for text in ("total>30", "total>=30", "total", "=3", "total==3", "total=[1]"):
        await field.fill(text)
        await field.press("Enter")
        await expect(field).to_have_attribute("aria-invalid", "true")
        await expect(page.get_by_role("alert")).to_contain_text("A filter cannot be meant like this")
        await expect(page.get_by_role("link", name="ODD-1")).to_have_count(0)
    await field.fill("orderId=ODD-1")
    await expect(page.get_by_role("link", name="ODD-1")).to_be_visible()
    await page.goto(f"{world.url}/processes/order?from=yesterday")
    await expect(page.get_by_text("Expected a date and a time")).to_be_visible()


async def test_a_filter_that_nothing_meets_says_so_instead_of_showing_an_empty_table(world, walk_on):
    page = await (await walk_on(world)).go("/processes/order?business=nobody")
    await expect(page.get_by_text("No instance is like this")).to_be_visible()


async def test_a_list_that_may_look_at_few_only_looks_on_by_itself(world, walk_on, monkeypatch):
    monkeypatch.setattr("procession.api.verbs.page_instances.INSTANCES_READ_MAX", 24)
    for number in range(30):  # the first is beyond one look; eight looks, which it makes by itself, are 192
        await world.app.start("order", {"orderId": f"DEEP-{number}", "card": "good", "items": []})
    page = await (await walk_on(world)).go("/processes/order?text=DEEP-0")
    await expect(page.get_by_role("table", name="Instances").get_by_role("row")).to_have_count(2)
    await page.get_by_label("Text").fill("stands nowhere")
    await expect(page.get_by_text("No instance is like this")).to_be_visible()  # all of them were looked at


async def test_a_process_whose_id_is_a_step_of_a_path_has_an_address(world, walk_on):
    await world.app.deploy(("dots.bpmn", process("..", name="Two dots").start("begin").end("done").xml()))
    page = await (await walk_on(world)).go("/processes")
    await page.get_by_role("link", name="Two dots").click()
    await expect(page.locator("main code").first).to_have_text("..")
    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Two dots")


async def test_a_process_that_is_not_there_says_so(world, walk_on):
    page = await (await walk_on(world)).go("/processes/no-such-process")
    await expect(page.get_by_text("There is no process 'no-such-process'")).to_be_visible()


async def test_the_difference_between_two_versions_is_drawn_and_listed(world, walk_on):
    changed = ORDER.read_bytes().replace(b'name="Ask the warehouse"', b'name="Ask the store"')
    await world.app.deploy(("order.bpmn", changed))
    walk = await walk_on(world)
    page = await walk.go("/processes/order?view=difference")
    await walk.settled()
    await expect(page.get_by_text("+ name=Ask the store")).to_be_visible()
    await expect(page.locator(".djs-element.changed")).to_have_count(2)
    await walk.check_accessible()


async def test_the_heat_map_says_where_time_goes(page_world, walk_on):
    key = await page_world.order("HEAT-1")
    await page_world.until_waits(key, "wait-for-stock")
    await page_world.app.publish("stock-confirmed", correlation_key="HEAT-1", ttl="1h")
    await page_world.app.wait(key, timeout=20)
    walk = await walk_on(page_world)
    version = (await page_world.app.instance(key)).instance.process_definition_key
    versions = {each.process_definition_key: each.version for each in await page_world.app.definitions("order")}
    page = await walk.go(f"/processes/order?view=heat&version={versions[version]}")
    await walk.settled()
    await expect(page.locator(".hottest")).to_contain_text("Wait for the stock")
    await expect(page.locator('[data-element-id="wait-for-stock"][class*="heat-"]')).to_have_count(1)


async def test_many_instances_are_cancelled_with_progress_and_what_fails_is_listed(page_world, walk_on):
    keys = [await page_world.order(f"MANY-{number}") for number in range(3)]
    for key in keys:
        await page_world.until_waits(key, "wait-for-stock")
    walk = await walk_on(page_world)
    page = await walk.go("/processes/order?version=all&text=MANY-&state=ACTIVE")
    await page.get_by_label("Select all that are shown").check()
    await page_world.app.cancel(keys[0])
    await page.get_by_role("button", name="Cancel instances").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Cancel instances: 3")
    await dialog.get_by_role("button", name="Cancel instances").click()
    await expect(dialog.get_by_role("status")).to_have_text("2 of 3 done · 1 could not be done")
    await expect(dialog.locator(".failures")).to_contain_text(str(keys[0]))
    await dialog.get_by_role("button", name="Close").last.click()
    for key in keys:
        assert (await page_world.app.instance(key)).instance.state == "TERMINATED"


async def test_all_that_match_are_a_batch_of_the_server_whose_progress_is_listed(world, walk_on):
    for number in range(60):
        await world.app.start("order", {"orderId": f"BATCH-{number}", "card": "good", "items": []}, tags=["batch"])
    walk = await walk_on(world)
    page = await walk.go("/processes/order?version=all&tag=batch&state=ACTIVE")
    await expect(page.get_by_text("50 of 60")).to_be_visible()
    await page.get_by_label("Select all that are shown").check()
    await page.get_by_role("button", name="All 60 that match").click()
    await page.get_by_role("button", name="Cancel instances").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("also when this page is closed")
    await dialog.get_by_role("button", name="Cancel instances").click()
    await expect(dialog.get_by_role("status")).to_have_text("60 of 60 done")
    await dialog.get_by_role("button", name="Close").last.click()
    await page.goto(world.url + "/batches")
    row = page.get_by_role("row").filter(has_text="Cancel instances")
    await expect(row).to_contain_text("60 of 60 done")
    await walk.check_accessible()


async def test_a_batch_of_the_server_is_paused_and_goes_on(world, walk_on):
    for number in range(5):
        await world.app.start("order", {"orderId": f"REST-{number}", "card": "good", "items": []}, tags=["rests"])
    key = await world.app.batch("suspend", which={"process_id": "order", "tag": "rests"}, per_second=0.2)
    page = await (await walk_on(world)).go("/batches")
    row = page.get_by_role("row").filter(has_text=str(key))
    await row.get_by_role("button", name="Pause").click()
    await expect(row).to_contain_text("paused")
    await row.get_by_role("button", name="Go on").click()
    await expect(row).to_contain_text("under way")
    await row.get_by_role("button", name="Stop").click()
    await page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    await expect(row).to_contain_text("stopped")


async def test_an_instance_is_started_with_variables_and_shown(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go("/processes/import")
    await page.get_by_role("button", name="Start an instance").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Business id").fill("FILE-1")
    variables = dialog.get_by_label("Variables")
    await variables.fill('{"file": ')
    await expect(dialog.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    await variables.fill(json.dumps({"file": "fine.csv"}))
    await dialog.get_by_role("button", name="Start", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("FILE-1")
    await expect(page.get_by_text("completed").first).to_be_visible()


async def test_a_process_with_a_form_is_started_by_filling_it_in(world, walk_on):
    shows = '<zeebe:formDefinition formId="weigh" />'
    model = process("weighing").start("begin", extensions=shows).user("check").end("done").xml()
    field = {"type": "number", "key": "grams", "label": "Grams", "id": "grams", "validate": {"required": True}}
    form = {"id": "weigh", "type": "default", "components": [field]}
    await world.app.deploy(("weigh.form", json.dumps(form).encode()), ("weighing.bpmn", model))
    page = await (await walk_on(world)).go("/processes/weighing")
    await page.get_by_role("button", name="Start an instance").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Grams").wait_for()
    await dialog.get_by_role("button", name="Start", exact=True).click()
    await expect(dialog.get_by_text("What was entered is not complete")).to_be_visible()
    await dialog.get_by_label("Grams").fill("340")
    await dialog.get_by_role("button", name="Start", exact=True).click()
    await expect(page).to_have_url(re.compile("/instances/[0-9]+$"))
    details = await world.app.instance(int(page.url.rpartition("/")[2]))
    assert details.variables["grams"] == 340


async def test_processes_look_as_they_should(world, walk_on):
    walk = await walk_on(world, color_scheme="dark", viewport=PHONE, locale="ru-RU")
    await walk.go("/processes/order?business=nobody&version=1")
    await walk.check_picture("process-phone-dark", hide=(".numbers", ".element-badge"))
    await walk.check_accessible()
