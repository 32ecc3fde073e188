"""The page of one instance: why it waits, what happened, and everything that can be done to it."""

from __future__ import annotations

import re

from playwright.async_api import Page, expect

from procession.testing.bpmn import process
from tests.ui.test_decisions import COOKING, DINNER
from tests.ui.world import ORDER, World, open_world


async def waiting(world: World, order_id: str) -> int:
    """The key of an order that waits for its stock."""
    key = await world.order(order_id)
    await world.until_waits(key, "wait-for-stock")
    return key


async def test_why_an_instance_waits_is_a_sentence_and_its_message_can_be_published(world, walk_on):
    key = await waiting(world, "WHY-1")
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}")
    why = page.locator(".why")
    await expect(why).to_contain_text("waits for the message 'stock-confirmed' with the key 'WHY-1'")
    await expect(why).to_contain_text("unless 'Warehouse is late' comes first")
    await walk.check_accessible()
    await why.get_by_role("button", name="Publish the message").click()
    await page.get_by_role("dialog").get_by_role("button", name="Publish the message").click()
    await expect(page.get_by_text("completed", exact=True)).to_be_visible()
    await world.app.wait(key, timeout=20)


async def test_the_timeline_tells_everything_with_variables_before_and_after(page_world, walk_on):
    key = await waiting(page_world, "STORY-1")
    await page_world.app.set_variables(key, {"card": "another"})
    walk = await walk_on(page_world)
    page = await walk.go(f"/instances/{key}")
    story = page.locator(".story")
    priced = story.locator("li").filter(has_text="Price the order")
    await expect(priced).to_contain_text("method 'price-order'")
    await expect(priced.get_by_role("row").filter(has_text="total")).to_contain_text("40")
    written = story.locator("li").filter(has_text="Variables written")
    await expect(written.get_by_role("row").filter(has_text="card")).to_contain_text('"good"')
    await expect(written.get_by_role("row").filter(has_text="card")).to_contain_text('"another"')
    await walk.settled()
    await expect(page.locator('[data-element-id="to-charge"].taken')).to_have_count(1)
    await expect(page.locator('[data-element-id="wait-for-stock"].waiting')).to_have_count(1)


async def test_an_element_of_the_diagram_shows_only_what_happened_there(world, walk_on):
    key = await waiting(world, "ONLY-1")
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}")
    await walk.settled()
    await page.locator('[data-element-id="charge-card"] .djs-hit').first.click()
    await expect(page.locator(".story > li")).to_have_count(1)
    await page.get_by_role("button", name="Show everything").click()
    await expect(page.locator(".story > li").nth(3)).to_be_visible()


async def test_an_incident_is_shown_with_its_error_and_retried_with_new_attempts(page_world, walk_on):
    key = await page_world.fail("broken.csv")
    walk = await walk_on(page_world)
    page = await walk.go(f"/instances/{key}")
    await expect(page.locator(".why-problem")).to_contain_text("expected 7 columns in line 3, found 5")
    await page.get_by_role("tab", name="Variables").click()
    row = page.get_by_role("row").filter(has_text="broken.csv")
    await row.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Value (JSON)").fill('"mended.csv"')
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("row").filter(has_text="mended.csv")).to_be_visible()
    await page.get_by_role("button", name="Retry all incidents").click()
    await page.get_by_role("dialog").get_by_label("Attempts").fill("2")
    await page.get_by_role("dialog").get_by_role("button", name="Retry all incidents").click()
    await expect(page.get_by_text("completed", exact=True)).to_be_visible()


async def test_a_long_error_is_read_by_keyboard_alone(world, walk_on):
    key = await world.fail("long.csv")
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}?tab=jobs")
    await expect(page.locator(".why-problem")).to_have_attribute("tabindex", "0")
    await expect(page.locator("pre.cut")).to_have_attribute("aria-label", "Last error")
    await walk.check_accessible()
    await page.get_by_role("tab", name="Timeline").click()
    await expect(page.locator(".story-message").first).to_have_attribute("tabindex", "0")
    await walk.check_accessible()


async def test_an_attempt_that_failed_is_told_of_when_the_next_one_has_succeeded(page_world, walk_on):
    weighing = process("parcel").start("begin").service("weigh", type="weigh-parcel", name="Weigh it").end("done").xml()
    await page_world.app.deploy(("parcel.bpmn", weighing))
    key = await page_world.app.start("parcel", {"name": "a book"})
    await page_world.app.wait(key, timeout=20)
    page = await (await walk_on(page_world)).go(f"/instances/{key}")
    failed = page.locator(".story > li").filter(has_text="Attempt 1 of 'weigh-parcel' failed")
    await expect(failed).to_contain_text("the scales are not level")
    await expect(page.get_by_text("completed", exact=True)).to_be_visible()


async def test_a_long_history_is_drawn_in_parts(world, walk_on):
    await world.app.deploy(("parcel.bpmn", process("wide").start("begin").user("check").end("done").xml()))
    key = await world.app.start("wide", {f"variable-{number}": number for number in range(300)})
    page = await (await walk_on(world)).go(f"/instances/{key}")
    rows = page.locator(".story .changes tbody tr")
    await expect(rows).to_have_count(20)
    await page.get_by_role("button", name="280 more").click()
    await expect(rows).to_have_count(300)


async def test_a_token_is_dragged_to_another_element(world, walk_on):
    key = await waiting(world, "DRAG-1")
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}")
    await walk.settled()
    await drag(page, '[data-container-id="wait-for-stock"] .element-badge.token', '[data-element-id="notify-customer"]')
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("What is active at 'Wait for the stock' ends there")
    await dialog.get_by_role("button", name="Move", exact=True).click()
    await expect(page.get_by_text("completed", exact=True)).to_be_visible()
    await expect(page.locator(".story")).to_contain_text("Moved by hand: Wait for the stock → Notify the customer")
    reached = {event.element_id for event in await world.app.history(key)}
    assert "notify-customer" in reached


async def drag(page: Page, what: str, where: str) -> None:
    """Carry something with the mouse."""
    start = await page.locator(what).bounding_box()
    end = await page.locator(where).first.bounding_box()
    assert start
    assert end
    await page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    await page.mouse.down()
    await page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=5)
    await page.mouse.up()


async def test_a_token_is_moved_by_keyboard_alone(world, walk_on):
    key = await waiting(world, "KEYS-1")
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}")
    await page.locator(".why").get_by_role("button", name="Move").press("Enter")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("To", exact=True).select_option("notify-customer")
    await dialog.get_by_role("button", name="Move", exact=True).press("Enter")
    await expect(page.get_by_text("completed", exact=True)).to_be_visible()


async def test_an_instance_is_suspended_resumed_and_cancelled(world, walk_on):
    key = await waiting(world, "REST-1")
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}")
    await page.get_by_role("button", name="Suspend").click()
    await expect(page.get_by_text("nothing goes on until it is resumed")).to_be_visible()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator(".why")).to_contain_text("stock-confirmed")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("button", name="Cancel the instance").click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel the instance").click()
    await expect(page.get_by_text("terminated", exact=True)).to_be_visible()
    assert (await world.app.instance(key)).instance.state == "TERMINATED"


async def test_an_ended_instance_is_started_again_with_its_variables(world, walk_on):
    key = await world.order("AGAIN-1", card="declined")
    await world.app.wait(key, timeout=20)
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}")
    await page.get_by_role("button", name="Start again").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Start again").click()
    await expect(page).not_to_have_url(f"{world.url}/instances/{key}")
    await expect(page.get_by_role("heading", level=1)).to_have_text("AGAIN-1")


async def test_a_migration_is_tried_out_before_it_is_carried_out(world, walk_on):
    key = await waiting(world, "MOVE-1")
    renamed = ORDER.read_bytes().replace(b'"wait-for-stock"', b'"wait-for-goods"')
    await world.app.deploy(("order.bpmn", renamed))
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("button", name="Migrate").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Try out").click()
    await expect(dialog.locator(".findings .error").first).to_contain_text("wait-for-stock")
    await dialog.get_by_label("Wait for the stock becomes").select_option("wait-for-goods")
    await dialog.get_by_role("button", name="Try out").click()
    await expect(dialog.get_by_text("Nothing prevents it.")).to_be_visible()
    await dialog.get_by_role("button", name="Migrate", exact=True).click()
    await world.until_waits(key, "wait-for-goods")
    await expect(page.locator(".story")).to_contain_text("Migrated to another version")
    await world.app.deploy(ORDER)


async def test_timers_and_subscriptions_are_listed_with_what_they_wait_for(world, walk_on):
    key = await waiting(world, "WAIT-1")
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}?tab=waits")
    table = page.get_by_role("table", name="Waits")
    await expect(table.get_by_role("row").filter(has_text="stock-confirmed")).to_contain_text("WAIT-1")
    await expect(table.get_by_role("row").filter(has_text="Warehouse is late")).to_contain_text("in 24 hours")
    await walk.check_accessible()


async def test_who_was_called_and_who_called_lead_to_each_other_and_times_are_those_of_the_readers_zone(world, walk_on):
    outer = process("outer").start("begin").call("inside", process="inner").end("done").xml()
    inner = process("inner").start("begin").user("check").end("done").xml()
    await world.app.deploy(("outer.bpmn", outer), ("inner.bpmn", inner))
    key = await world.app.start("outer", {})
    await world.until_waits(key, "inside")
    walk = await walk_on(world, timezone_id="Asia/Tokyo")
    page = await walk.go(f"/instances/{key}?tab=family")
    await walk.check_accessible()
    await page.get_by_role("table", name="Calls").get_by_role("link").click()
    await expect(page.locator(".crumbs")).to_contain_text("inner")
    await walk.check_accessible()
    await page.get_by_role("link", name=str(key)).first.click()
    await expect(page).to_have_url(re.compile(rf"/instances/{key}$"))
    moment = page.locator("time").first
    told = await moment.get_attribute("title")
    assert told is not None
    assert "GMT+09:00 (Asia/Tokyo)" in told
    assert await moment.inner_text() in told
    assert str(await moment.get_attribute("datetime")) in told


async def test_what_changes_is_shown_without_being_asked_for(world, walk_on):
    key = await waiting(world, "LIVE-1")
    page = await (await walk_on(world)).go(f"/instances/{key}")
    await expect(page.locator(".why")).to_contain_text("stock-confirmed")
    await world.app.publish("stock-confirmed", correlation_key="LIVE-1", ttl="1h")
    await expect(page.get_by_text("completed", exact=True)).to_be_visible()


async def test_a_key_that_is_not_there_says_what_was_looked_for(world, walk_on):
    page = await (await walk_on(world)).go("/instances/7")
    await expect(page.get_by_role("alert")).to_contain_text("Expected a process instance with key 7, found none")


async def test_an_instance_looks_as_it_should(world, walk_on):
    key = await waiting(world, "LOOK-1")
    walk = await walk_on(world)
    await walk.go(f"/instances/{key}")
    await walk.check_picture("instance-desktop-light")


async def test_what_the_history_does_not_keep_is_not_offered_and_not_shown_as_nothing(world, walk_on, tmp_path):
    async with open_world(f"sqlite:///{tmp_path / 'brief.db'}", history="activity") as brief:
        await brief.app.deploy(("dinner.dmn", DINNER), ("cooking.bpmn", COOKING))
        await brief.app.start("cooking", {"season": "Winter", "guests": 3})
        key = await brief.order("BRIEF-1", card="declined")
        await brief.app.wait(key, timeout=20)
        page = await (await walk_on(brief)).go(f"/instances/{key}")
        await page.get_by_role("button", name="Start again").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_label("Variables", exact=True)).to_have_value("last")
        await dialog.get_by_role("button", name="Start again").click()
        await expect(page).not_to_have_url(f"{brief.url}/instances/{key}")
        await page.goto(f"{brief.url}/decisions/dish")
        past = page.get_by_role("table", name="Past evaluations")
        await expect(past.get_by_role("row").nth(1)).to_contain_text("not kept")


async def test_a_number_of_64_bits_is_shown_and_kept_to_the_last_digit(world, walk_on):
    key = await waiting(world, "DIGITS-1")
    await world.app.set_variables(key, {"big": 1152921504606846977, "share": {"exact": 0.1}})
    walk = await walk_on(world)
    page = await walk.go(f"/instances/{key}")
    await page.get_by_role("tab", name="Variables").click()
    row = page.get_by_role("row").filter(has=page.get_by_text("big", exact=True))
    await expect(row).to_contain_text("1152921504606846977")
    await row.get_by_role("button", name="Edit").click()
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert (await world.app.instance(key)).variables["big"] == 1152921504606846977
