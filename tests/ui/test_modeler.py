"""The modeler: something is drawn, the server's rules speak up and fall silent, it is deployed and started."""

from __future__ import annotations

import ast
import re

from playwright.async_api import Page, expect

from tests.support.page import PHONE
from tests.support.sources import ROOT

BARE = b"""<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
             targetNamespace="http://example.org/bare">
  <process id="bare" name="Without a drawing" isExecutable="true">
    <startEvent id="begin" />
    <sequenceFlow id="to_inner" sourceRef="begin" targetRef="inner" />
    <subProcess id="inner" name="Inner">
      <startEvent id="inside" />
      <sequenceFlow id="to_work" sourceRef="inside" targetRef="work" />
      <serviceTask id="work" name="Work">
        <extensionElements><zeebe:taskDefinition type="=1 +" /></extensionElements>
      </serviceTask>
    </subProcess>
    <sequenceFlow id="to_done" sourceRef="inner" targetRef="done" />
    <endEvent id="done" />
  </process>
</definitions>
"""
DROP = """([text, name]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
}"""


async def ready(page: Page) -> None:
    """The editor is there."""
    await page.locator('.modeler-main[data-ready="true"]').wait_for()


async def drop(page: Page, name: str, content: bytes) -> None:
    """Drop a file somewhere in the page."""
    await page.evaluate(DROP, [content.decode(), name])


async def test_a_task_is_drawn_found_fault_with_put_right_deployed_and_started(page_world, walk_on):
    page = await (await walk_on(page_world)).go("/modeler")
    await page.get_by_role("link", name="New process").click()
    await ready(page)
    await page.locator('[data-element-id="start"] .djs-hit').click()
    await page.locator('.djs-context-pad [data-action="append.append-task"]').click()
    await page.keyboard.type("Weigh the parcel")
    await page.keyboard.press("Enter")
    await page.locator('.djs-context-pad [data-action="replace"]').click()
    await page.locator('.djs-popup [data-id="replace-with-service-task"]').click()

    problems = page.get_by_role("region", name="Problems")
    await expect(problems.get_by_role("listitem")).to_contain_text("does not say who does its work")
    await expect(page.locator(".finding-mark.error")).to_be_visible()
    await page.get_by_role("button", name="Deploy", exact=True).click()
    await expect(page.get_by_text("It was not deployed")).to_be_visible()
    field = page.get_by_label("Job type")
    await expect(field).to_be_focused()
    await expect(page.locator(".bio-properties-panel-error")).to_contain_text("does not say who does its work")

    await field.fill("weigh-parcel")
    await expect(problems.get_by_role("status")).to_contain_text("nothing to say")
    await expect(page.locator(".finding-mark")).to_have_count(0)
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_text("is deployed as version 1")).to_be_visible()
    await expect(page).to_have_url(re.compile("/modeler/deployed/bpmn/[0-9]+$"))

    await page.get_by_role("button", name="Start", exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Variables").fill('{"grams": 340}')
    await dialog.get_by_role("button", name="Start", exact=True).click()
    await dialog.get_by_role("link", name="Show the instance").click()
    await expect(page).to_have_url(re.compile("/instances/[0-9]+$"))
    key = int(page.url.rpartition("/")[2])
    details = await page_world.app.instance(key)
    assert details.variables == {"grams": 340}
    assert [each.element_name for each in details.elements] == ["Weigh the parcel"]
    await expect(page.get_by_text("Weigh the parcel").first).to_be_visible()


async def test_a_file_dropped_anywhere_is_judged_opened_and_given_a_drawing(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go("/decisions")
    await drop(page, "bare.bpmn", BARE)
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("is not a FEEL expression")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Deploy", exact=True)).to_be_disabled()
    await dialog.get_by_role("button", name="Open in the modeler").click()
    await ready(page)
    await expect(page.get_by_text("The file had no drawing")).to_be_visible()
    for element in ("begin", "inner", "work", "done"):
        await expect(page.locator(f'.djs-shape[data-element-id="{element}"]')).to_be_visible()
    await expect(page.locator('.djs-connection[data-element-id="to_done"]')).to_be_attached()
    await page.get_by_role("region", name="Problems").get_by_role("button").filter(has_text="'1 +'").click()
    await expect(page.locator(".bio-properties-panel-feel-editor-container:focus-within")).to_be_visible()
    await expect(page.locator(".bio-properties-panel-error").first).to_contain_text("Expected an expression")
    await expect(page.locator(".bjs-powered-by")).to_be_visible()
    await walk.check_accessible()


async def test_a_dropped_file_without_fault_is_deployed(world, walk_on):
    page = await (await walk_on(world)).go("/playground")
    await drop(page, "fine.bpmn", BARE.replace(b"=1 +", b"work").replace(b'"bare"', b'"fine"'))
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Deploy", exact=True).click()
    await dialog.get_by_role("link", name="fine").click()
    await ready(page)
    assert "/modeler/deployed/bpmn/" in page.url
    assert [row.process_id for row in await world.app.rows.list_definitions(process_id="fine")] == ["fine"]


async def test_what_is_drawn_is_not_lost_by_looking_elsewhere_and_only_discarded_when_one_says_so(world, walk_on):
    page = await (await walk_on(world)).go("/modeler/new/bpmn")
    await ready(page)
    await page.locator('[data-element-id="start"] .djs-hit').click()
    await page.locator('.djs-context-pad [data-action="append.end-event"]').click()
    await page.keyboard.press("Escape")  # it has no name
    ends = page.locator('.djs-shape[data-element-id^="Event_"]')
    await expect(ends).to_have_count(1)
    await expect(page.get_by_text("Not deployed")).to_be_visible()
    await page.get_by_role("link", name="Playground").click()
    await page.get_by_role("heading", name="Playground").wait_for()
    await page.get_by_role("link", name="Modeler").click()
    await page.get_by_role("button", name="Continue").click()
    await expect(ends).to_have_count(1)
    await page.get_by_role("button", name="Undo").click()
    await expect(ends).to_have_count(0)
    await page.get_by_role("button", name="Redo").click()
    await expect(ends).to_have_count(1)
    await page.get_by_role("link", name="Modeler").first.click()
    await page.get_by_role("link", name="New form").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("will be lost")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(ends).to_have_count(1)
    async with page.expect_download() as downloading:
        await page.keyboard.press("Control+s")
    downloaded = await downloading.value
    assert downloaded.suggested_filename == "process.bpmn"
    await page.evaluate("localStorage.clear()")  # nothing is left for whoever comes next


async def draw(page, name: str) -> None:
    """A process with something new in it, kept by the browser."""
    await ready(page)
    await page.locator('[data-element-id="start"] .djs-hit').click()
    await page.locator('.djs-context-pad [data-action="append.end-event"]').click()
    await page.keyboard.press("Escape")
    await page.get_by_label("File name").fill(name)
    await page.keyboard.press("Tab")
    await expect(page).to_have_title(f"{name} · Procession")
    await page.locator('.problems[data-checked="true"]').wait_for()


async def test_what_is_drawn_in_one_tab_takes_nothing_from_another_one(world, walk_on):
    first = (await walk_on(world)).page
    await first.goto(world.url + "/modeler/new/bpmn")
    await draw(first, "first.bpmn")
    second = await first.context.new_page()
    await second.goto(world.url + "/modeler/new/bpmn")
    await draw(second, "second.bpmn")
    for page in (first, second):
        page.on("dialog", lambda dialog: dialog.accept())
    await second.close()
    await first.goto(world.url + "/modeler")
    kept = first.get_by_role("button", name="Continue")
    await expect(kept).to_have_count(2)
    await expect(kept.filter(has_text="second.bpmn")).to_be_visible()
    await kept.filter(has_text="first.bpmn").click()
    await expect(first.get_by_label("File name")).to_have_value("first.bpmn")
    await expect(first.locator('.djs-shape[data-element-id^="Event_"]')).to_have_count(1)
    await first.locator('.problems[data-checked="true"]').wait_for()
    await first.reload()
    await expect(first.get_by_label("File name")).to_have_value("first.bpmn")
    await first.get_by_role("link", name="Modeler").first.click()
    await first.get_by_role("button", name="Discard: second.bpmn").click()
    await first.get_by_role("dialog").get_by_role("button", name="Discard").click()
    await expect(kept).to_have_count(1)
    await first.evaluate("localStorage.clear()")


async def test_elements_are_appended_and_named_by_keyboard(world, walk_on):
    page = await (await walk_on(world)).go("/modeler/new/bpmn")
    await ready(page)
    await page.locator('[data-element-id="start"] .djs-hit').click()
    await page.keyboard.press("a")
    await page.get_by_placeholder("Search").or_(page.locator(".djs-popup-search input")).first.wait_for()
    await page.keyboard.type("service task")
    await page.keyboard.press("Enter")
    await expect(page.locator('.djs-shape[data-element-id^="Activity_"]')).to_have_count(1)
    await page.keyboard.type("Weigh it")
    await page.keyboard.press("Enter")
    await expect(page.locator(".workbench-panel")).to_contain_text("Weigh it")
    await page.get_by_role("button", name="Keyboard").click()
    await expect(page.get_by_text("A append an element")).to_be_visible()
    await page.evaluate("localStorage.clear()")


async def test_tokens_are_simulated_and_nothing_is_sent(world, walk_on):
    page = await (await walk_on(world)).go("/modeler")
    await page.get_by_role("link", name="Order", exact=False).filter(has_text="order.bpmn").click()
    await ready(page)
    before = await world.app.rows.count_instances("order")
    await page.get_by_role("button", name="Simulate tokens").click()
    await expect(page.get_by_text("Nothing is sent to the engine")).to_be_visible()
    await page.locator(".bts-context-pad:visible").first.click()
    await expect(page.locator(".bts-token-count").first).to_be_attached()
    await page.get_by_role("button", name="Simulate tokens").click()
    await expect(page.locator(".djs-palette")).to_be_visible()
    assert await world.app.rows.count_instances("order") == before


async def test_a_table_is_filled_in_found_fault_with_put_right_and_deployed(world, walk_on):
    walk = await walk_on(world, color_scheme="dark")
    page = await walk.go("/modeler/new/dmn")
    await ready(page)
    views = page.get_by_role("navigation", name="Views")
    await views.get_by_role("button", name="Decision").click()
    await page.locator(".add-rule-add").first.click()
    cell = page.locator("tbody .output-cell")
    await cell.click()
    await page.keyboard.type("1 +")
    problems = page.get_by_role("region", name="Problems")
    await expect(problems.get_by_role("listitem")).to_contain_text("Expected an expression")
    await expect(page.locator(".cm-lintRange-error, .cm-lintPoint-error")).to_be_visible()
    await views.get_by_role("button", name="Graph").click()
    await expect(page.locator(".finding-mark.error")).to_be_visible()
    await problems.get_by_role("button").filter(has_text="Expected").click()
    await cell.click()
    await page.keyboard.press("End")
    await page.keyboard.type(" 2")
    await expect(problems.get_by_role("status")).to_contain_text("nothing to say")
    await page.get_by_role("button", name="Deploy", exact=True).click()
    await expect(page.get_by_text("is deployed as version 1")).to_be_visible()
    await expect(page.locator(".bjs-powered-by").first).to_be_visible()
    await walk.check_accessible()


async def test_the_editor_follows_the_language_and_keeps_what_is_drawn(world, walk_on):
    page = await (await walk_on(world)).go("/modeler/new/bpmn")
    await ready(page)
    await page.locator('[data-element-id="start"] .djs-hit').click()
    await page.locator('.djs-context-pad [data-action="append.end-event"]').click()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="По-русски").click()
    await ready(page)
    await expect(page.locator('.djs-shape[data-element-id^="Event_"]')).to_have_count(1)
    await expect(page.locator(".badge.warn")).to_have_text("Не развёрнуто")  # noqa: RUF001
    await page.locator('[data-element-id="start"] .djs-hit').click()
    await expect(page.locator(".workbench-panel").get_by_text("Описание", exact=True)).to_be_visible()
    await page.evaluate("localStorage.clear()")


async def test_other_versions_are_opened_from_the_bar(world, walk_on):
    for job in ("first", "second"):
        content = BARE.replace(b"=1 +", job.encode()).replace(b'"bare"', b'"versioned"')
        (deployed,) = await world.app.deploy(("versioned.bpmn", content))
    page = await (await walk_on(world)).go(f"/modeler/deployed/bpmn/{deployed.process_definition_key}")
    await ready(page)
    await page.get_by_label("Versions").select_option("Version 1")
    await expect(page).not_to_have_url(re.compile(str(deployed.process_definition_key)))
    await ready(page)
    await page.locator('[data-element-id="work"] .djs-hit').click()
    await page.locator(".bio-properties-panel-group-header").filter(has_text="Task definition").click()
    await expect(page.get_by_label("Job type")).to_have_value("first")


async def test_a_form_is_changed_and_deployed(world, walk_on):
    walk = await walk_on(world)
    page = await walk.go("/modeler/new/form")
    await ready(page)
    await page.get_by_label("File name").fill("parcel")
    await page.get_by_label("File name").press("Enter")
    await page.locator('.fjs-palette-field[data-field-type="textfield"]').press("Enter")
    await expect(page.locator(".fjs-editor-container .fjs-form-field-textfield")).to_be_visible()
    await page.get_by_role("button", name="Deploy", exact=True).click()
    await expect(page.get_by_text("is deployed as version 1")).to_be_visible()
    (form,) = [form for form in await world.app.rows.list_forms() if form.resource_name == "parcel.form"]
    assert form.version == 1
    await expect(page.locator(".fjs-powered-by-link")).to_be_visible()


async def test_the_modeler_speaks_russian_and_fits_a_phone(world, walk_on):
    walk = await walk_on(world, viewport=PHONE, locale="ru-RU", color_scheme="dark")
    page = await walk.go("/modeler")
    await page.get_by_role("link").filter(has_text="order.bpmn").click()
    await ready(page)
    await expect(page.get_by_role("region", name="Проблемы").get_by_role("status")).to_contain_text("нечего сказать")
    await page.locator('[data-element-id="charge-card"] .djs-hit').first.click()
    await page.locator(".bio-properties-panel-group-header").filter(has_text="Задание").click()
    await expect(page.get_by_label("Тип задания")).to_have_value("charge-card")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await walk.check_accessible()
    await page.evaluate("document.activeElement.blur(), scrollTo(0, 0)")
    await walk.check_picture("modeler-phone-dark")


async def test_what_the_rules_find_is_said_in_russian_with_the_words_of_the_server_below(world, walk_on):
    page = await (await walk_on(world, locale="ru-RU")).go("/decisions")
    await drop(page, "bare.bpmn", BARE)
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("Это не выражение FEEL")).to_be_visible()
    await expect(dialog.locator("small[lang=en]").first).to_contain_text("is not a FEEL expression")


def test_every_rule_has_words_in_russian():
    rooms = [
        path for room in ("model", "dmn", "explorer") for path in (ROOT / "src" / "procession" / room).rglob("*.py")
    ]
    called = [
        node for path in rooms for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    ]
    codes = {
        given.value
        for node in called
        for given in (*node.args, *(each.value for each in node.keywords))
        if isinstance(given, ast.Constant) and re.fullmatch(r"[A-Z]+(_[A-Z]+)+", str(given.value))
    }
    bounds = {code for code in codes if code.endswith("_MAX")}  # names of limits
    russian = (ROOT / "ui/src/pages/modeler/editors/russian-findings.ts").read_text("utf-8")
    assert len(codes) > 100
    assert codes - bounds - set(re.findall(r"^  ([A-Z_]+): ", russian, re.MULTILINE)) == set()


async def test_the_editors_of_forms_and_decisions_speak_russian(world, walk_on):
    page = await (await walk_on(world, locale="ru-RU")).go("/modeler/new/form")
    palette = page.locator(".fjs-palette")
    await expect(palette.get_by_text("Строка", exact=True)).to_be_visible()
    await expect(page.locator(".bio-properties-panel-group-header-title").first).to_have_text("Общее")
    await page.goto(f"{world.url}/modeler/new/dmn")
    await expect(page.locator(".bio-properties-panel-group-header-title").first).to_have_text("Общее")
