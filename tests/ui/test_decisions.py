"""The pages of decisions: tables and graphs, an evaluation with the rules that matched, and those of the past."""

from __future__ import annotations

from playwright.async_api import expect

from procession.testing.bpmn import process
from tests.support.page import PHONE

DINNER = b"""<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="dinner" name="Dinner"
             namespace="http://example.org/dinner">
  <inputData id="season" name="season"><variable name="season" typeRef="string" /></inputData>
  <inputData id="guests" name="guests"><variable name="guests" typeRef="number" /></inputData>
  <decision id="dish" name="Dish"><variable name="dish" typeRef="string" />
    <informationRequirement id="needs_season"><requiredInput href="#season" /></informationRequirement>
    <informationRequirement id="needs_guests"><requiredInput href="#guests" /></informationRequirement>
    <decisionTable id="dish_table" hitPolicy="FIRST">
      <input id="of_season" label="Season">
        <inputExpression id="season_is" typeRef="string"><text>season</text></inputExpression>
        <inputValues id="seasons"><text>"Fall","Winter"</text></inputValues>
      </input>
      <input id="of_guests" label="Guests">
        <inputExpression id="guests_are" typeRef="number"><text>guests</text></inputExpression>
      </input>
      <output id="a_dish" label="Dish" name="dish" typeRef="string" />
      <rule id="ribs"><inputEntry id="c11"><text>"Fall"</text></inputEntry>
        <inputEntry id="c12"><text>&lt;= 8</text></inputEntry>
        <outputEntry id="c13"><text>"Spareribs"</text></outputEntry></rule>
      <rule id="stew"><inputEntry id="c21"><text>-</text></inputEntry>
        <inputEntry id="c22"><text>&gt; 8</text></inputEntry>
        <outputEntry id="c23"><text>"Stew"</text></outputEntry></rule>
      <rule id="beef"><inputEntry id="c31"><text>"Winter"</text></inputEntry>
        <inputEntry id="c32"><text>-</text></inputEntry>
        <outputEntry id="c33"><text>"Beef"</text></outputEntry></rule>
    </decisionTable>
  </decision>
  <decision id="drink" name="Drink"><variable name="drink" typeRef="string" />
    <informationRequirement id="needs_dish"><requiredDecision href="#dish" /></informationRequirement>
    <literalExpression id="says"><text>if Dish = "Stew" then "Stout" else "Water"</text></literalExpression>
  </decision>
</definitions>
"""
COOKING = (
    process("cooking", name="Cooking").start("begin").rule("choose", decision="dish", result="dish").end("done").xml()
)


async def served(world) -> None:
    """The decisions are deployed; again they make no new version."""
    await world.app.deploy(("dinner.dmn", DINNER), ("cooking.bpmn", COOKING))


async def test_a_table_is_evaluated_and_shows_the_row_that_matched(page_world, walk_on):
    await served(page_world)
    walk = await walk_on(page_world)
    page = await walk.go("/decisions")
    await expect(page.get_by_role("row").filter(has_text="Dish")).to_contain_text("dinner.dmn")
    await page.get_by_role("link", name="Dish").click()
    assert page.url.endswith("/decisions/dish")  # whoever gets this address is shown the latest version
    await page.locator('.dmn-place[data-ready="true"]').wait_for()
    await page.get_by_label("season").select_option("Fall")
    await page.get_by_label("guests").fill("9")
    await page.get_by_role("button", name="Evaluate").click()
    await expect(page.locator(".outcome-value")).to_have_text('"Stew"')
    await expect(page.locator("tr.matched")).to_have_count(1)
    await expect(page.locator('tr.matched [data-row-id="stew"]').last).to_have_text('"Stew"')
    await page.get_by_label("guests").fill("4")
    await page.keyboard.press("Enter")
    await expect(page.locator(".outcome-value")).to_have_text('"Spareribs"')
    await expect(page.locator("tr.matched")).to_contain_text("Spareribs")
    await walk.check_accessible()


async def test_what_processes_have_decided_is_listed_and_shown_again(page_world, walk_on):
    await served(page_world)
    await page_world.app.start("cooking", {"season": "Winter", "guests": 3})
    page = await (await walk_on(page_world)).go("/decisions")
    await page.get_by_role("link", name="Dish").click()
    past = page.get_by_role("table", name="Past evaluations")
    await expect(past.get_by_role("row").nth(1)).to_contain_text('"Beef"')
    await past.get_by_role("button", name="Show").first.click()
    await expect(page.locator("tr.matched")).to_contain_text("Beef")
    await expect(page.locator(".outcome")).to_contain_text("Shown: the evaluation of")


async def test_a_decision_that_requires_another_shows_both_in_the_graph_and_takes_json(world, walk_on):
    await served(world)
    walk = await walk_on(world, color_scheme="dark")
    page = await walk.go("/decisions")
    await page.get_by_role("link", name="Drink").click()
    await page.locator('.dmn-place[data-ready="true"]').wait_for()
    await page.get_by_role("button", name="JSON").click()
    await page.get_by_label("Inputs").fill('{"season": "Winter", "guests": 20}')
    await page.get_by_role("button", name="Evaluate").click()
    await expect(page.locator(".outcome-value")).to_have_text('"Stout"')
    await page.get_by_role("button", name="Graph").click()
    await expect(page.locator(".dmn-outcome")).to_have_text(['"Stew"', '"Stout"'])
    await expect(page.locator(".bjs-powered-by")).to_be_visible()
    await walk.check_picture("decision-desktop-dark")


async def test_inputs_that_have_no_meaning_are_told_as_warnings_and_bad_json_is_not_sent(world, walk_on):
    await served(world)
    page = await (await walk_on(world)).go("/decisions")
    await page.get_by_role("link", name="Dish").click()
    await page.get_by_role("button", name="JSON").click()
    await page.get_by_label("Inputs").fill('{"season": ')
    await expect(page.get_by_role("button", name="Evaluate")).to_be_disabled()
    await page.get_by_label("Inputs").fill('{"season": "Fall", "guests": "many"}')
    await page.get_by_role("button", name="Evaluate").click()
    await expect(page.locator(".outcome-warning").first).to_contain_text("guests")


async def test_decisions_in_russian_fit_a_phone(world, walk_on):
    await served(world)
    walk = await walk_on(world, viewport=PHONE, locale="ru-RU")
    page = await walk.go("/decisions?name=dish")
    await expect(page.locator(".table tbody tr")).to_have_count(1)
    await page.get_by_role("link", name="Dish").click()
    await page.get_by_role("button", name="Вычислить").click()
    await expect(page.get_by_role("heading", name="Результат")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await walk.check_accessible()
