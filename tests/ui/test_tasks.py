"""The inbox of tasks: who has what, forms that are filled in, and what happens when two reach for the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest_asyncio
from playwright.async_api import Page, expect

from procession.testing.bpmn import process
from tests.support.page import PHONE
from tests.ui.world import World

FORM = json.dumps(
    {
        "id": "leave-form",
        "type": "default",
        "schemaVersion": 18,
        "components": [
            {"type": "text", "text": "# Leave of absence"},
            {"type": "textfield", "id": "f1", "key": "person", "label": "Person", "readonly": True},
            {"type": "number", "id": "f2", "key": "days", "label": "Days", "validate": {"required": True, "max": 30}},
            {"type": "checkbox", "id": "f3", "key": "isApproved", "label": "Approved"},
            {
                "type": "textfield",
                "id": "f4",
                "key": "reason",
                "label": "Reason",
                "conditional": {"hide": "=isApproved"},
                "validate": {"required": True},
            },
        ],
    }
).encode()
LEAVE = (
    process("leave", name="Leave of absence")
    .start("asked")
    .user("approve", name="Approve the leave", candidate_groups="managers", form_id="leave-form", due_date="=due")
    .user("file", name="File the paper", candidate_groups="clerks")
    .end("done")
    .xml()
)


@pytest_asyncio.fixture(loop_scope="session")
async def leave(page_world: World) -> World:
    """A world that knows the process of leave."""
    await page_world.app.deploy(("leave.form", FORM), ("leave.bpmn", LEAVE))
    return page_world


async def start(world: World, person: str, days: float = 0.5) -> int:
    """An application for leave, due so many days from now."""
    due = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")
    key = await world.app.start("leave", {"person": person, "due": due}, business_id=person)
    await world.until_waits(key, "approve")
    return key


async def be(page: Page, name: str, groups: str) -> None:
    """Say who one is."""
    await page.get_by_role("button", name="Who I am").first.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("I work as").fill(name)
    await dialog.get_by_label("My groups").fill(groups)
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)


async def test_a_task_of_a_group_is_taken_filled_in_and_completed(leave, walk_on):
    key = await start(leave, "FORM-1")
    walk = await walk_on(leave)
    page = await walk.go("/tasks")
    await page.get_by_role("tab", name="My groups").click()
    await expect(page.get_by_text("Name your groups first")).to_be_visible()
    await page.get_by_role("tab", name="Mine").click()
    await be(page, "ann", "managers, clerks")
    await expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    await page.get_by_role("tab", name="My groups").click()
    await page.get_by_label("Text").fill("FORM-1")
    row = page.locator(".task-row").filter(has_text="FORM-1")
    await expect(row).to_contain_text("due soon")
    await row.get_by_role("link").click()
    task = page.locator(".task")
    await expect(task.get_by_role("heading", name="Leave of absence")).to_be_visible()
    await expect(task.get_by_label("Person")).to_have_value("FORM-1")
    await expect(task.get_by_role("button", name="Complete")).to_have_count(0)
    await task.get_by_role("button", name="Take it").click()
    await walk.check_accessible()

    await task.get_by_role("button", name="Complete").click()
    await expect(page.get_by_text("look at the fields that are marked")).to_be_visible()
    await expect(task.locator(".fjs-form-field-error").first).to_be_visible()
    await task.get_by_label("Days").fill("12")
    await task.get_by_label("Days").press("Tab")  # the field's error goes, and what stands below moves up
    await expect(task.locator(".fjs-form-field-error")).to_have_count(1)
    await task.get_by_label("Approved").click()  # form-js draws a moment later, so that check() would not believe it
    await expect(task.get_by_label("Approved")).to_be_checked()
    await task.get_by_role("button", name="Complete").click()
    await expect(page.get_by_text("Choose a task")).to_be_visible()
    details = await leave.until_waits(key, "file")
    assert details.variables["days"] == 12
    assert details.variables["isApproved"] is True


async def test_the_keyboard_alone_takes_and_completes_a_task_without_a_form(leave, walk_on):
    key = await start(leave, "KEYS-2")
    (task,) = [each for each in await leave.app.user_tasks() if each.process_instance_key == key]
    await leave.app.complete_user_task(task.user_task_key, {"days": 1})
    await leave.until_waits(key, "file")
    walk = await walk_on(leave)
    page = await walk.go("/tasks?whose=all&text=KEYS-2")
    await be(page, "ben", "")
    await page.get_by_role("tab", name="All").click()  # where the focus stays, as it does for a person
    await expect(page.locator(".task-row")).to_have_count(1)
    await page.keyboard.press("j")
    await expect(page.locator(".task h2")).to_have_text("File the paper")
    await page.keyboard.press("c")
    await expect(page.get_by_label("Result (JSON)")).to_be_visible()
    await page.get_by_label("Result (JSON)").fill('{"shelf": 7}')
    await page.keyboard.press("Control+Enter")
    await leave.app.wait(key, timeout=20)
    assert (await leave.app.instance(key)).variables["shelf"] == 7


async def test_who_comes_second_is_told_who_was_first(leave, walk_on):
    key = await start(leave, "RACE-1")
    (task,) = [each for each in await leave.app.user_tasks() if each.process_instance_key == key]
    walk = await walk_on(leave)
    page = await walk.go(f"/tasks?whose=all&text=RACE-1&task={task.user_task_key}")
    await be(page, "cay", "")
    pane = page.locator(".task")
    await expect(pane.get_by_role("button", name="Take it")).to_be_enabled()
    await leave.app.claim_user_task(task.user_task_key, "dan")
    await expect(pane).to_contain_text("dan has this task")
    await leave.app.complete_user_task(task.user_task_key, {"days": 1})
    await page.reload()
    await expect(page.get_by_text("This task is over")).to_be_visible()


async def test_dates_priority_and_candidates_are_changed_and_the_task_given_away(leave, walk_on):
    key = await start(leave, "LATE-1", days=-2)
    walk = await walk_on(leave)
    page = await walk.go("/tasks?whose=all&text=LATE-1&due=overdue")
    row = page.locator(".task-row")
    await expect(row).to_contain_text("overdue since")
    await row.get_by_role("link").click()
    await page.get_by_role("button", name="Change…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Priority").fill("80")
    await dialog.get_by_label("Candidate groups").fill("directors")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("priority 80")
    await expect(row).to_contain_text("directors")
    await page.get_by_role("button", name="Assign…").click()
    await page.get_by_role("dialog").get_by_label("To").fill("eve")
    await page.get_by_role("dialog").get_by_role("button", name="Assign").click()
    await expect(row).to_contain_text("eve")
    (task,) = [each for each in await leave.app.user_tasks() if each.process_instance_key == key]
    assert (task.assignee, task.priority, task.candidate_groups) == ("eve", 80, ["directors"])


async def test_on_a_phone_the_list_and_the_task_take_turns_in_russian_and_dark(world, walk_on):
    await world.app.deploy(("leave.form", FORM), ("leave.bpmn", LEAVE))
    await start(world, "PHONE-1")
    walk = await walk_on(world, viewport=PHONE, locale="ru-RU", color_scheme="dark")
    page = await walk.go("/tasks?whose=all&text=PHONE-1")
    await page.locator(".task-row a").click()
    await expect(page.locator(".inbox-list")).to_be_hidden()
    await expect(page.get_by_role("button", name="Взять", exact=True)).to_be_visible()
    await walk.check_accessible()
    await page.locator(".task-back").click()
    await expect(page.locator(".task-row")).to_be_visible()
