"""Other people's models, and large and bare ones: each is drawn, whatever made it.

Of the collections every tenth file that deploys; with DRAWINGS_ALL each one (``make drawings``).
"""

from __future__ import annotations

import os

import pytest
from playwright.async_api import expect

from procession.errors import InvalidModel
from procession.model import compile_resource
from procession.testing.bpmn import process
from tests.support.corpora import corpora_directory

ELEMENTS = 500
LANES = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="http://example.org/lanes">
  <collaboration id="both">
    <participant id="shop" name="Магазин" processRef="заказ" /><participant id="buyer" name="Покупатель" />
  </collaboration>
  <category id="kinds"><categoryValue id="by-hand" value="Руками" /></category>
  <process id="заказ" name="Заказ" isExecutable="true">
    <laneSet id="lanes">
      <lane id="office" name="Контора">
        <flowNodeRef>начало</flowNodeRef><flowNodeRef>проверить</flowNodeRef><flowNodeRef>конец</flowNodeRef>
      </lane>
      <lane id="store" name="Склад"><childLaneSet id="inner">
        <lane id="packing" name="Сборка"><flowNodeRef>собрать</flowNodeRef></lane>
        <lane id="empty" name="Отправка" />
      </childLaneSet></lane>
    </laneSet>
    <startEvent id="начало" /><sequenceFlow id="f1" sourceRef="начало" targetRef="проверить" />
    <manualTask id="проверить"><categoryValueRef>by-hand</categoryValueRef></manualTask>
    <sequenceFlow id="f2" sourceRef="проверить" targetRef="собрать" />
    <manualTask id="собрать"><categoryValueRef>by-hand</categoryValueRef></manualTask>
    <group id="hands" categoryValueRef="by-hand" /><group id="nothing" />
    <sequenceFlow id="f3" sourceRef="собрать" targetRef="конец" />
    <endEvent id="конец" />
  </process>
</definitions>"""
WITHIN = {
    "office": ("начало", "проверить", "конец"),
    "store": ("packing", "empty"),
    "packing": ("собрать",),
    "hands": ("проверить", "собрать"),
    "shop": ("office", "store"),
}
SOME = 10
GO = "(to) => { history.pushState(null, '', to); dispatchEvent(new Event('procession:route')); }"


def models(collection: str) -> list[tuple[str, bytes]]:
    """The files of a collection that can be deployed."""
    found: list[tuple[str, bytes]] = []
    for path in sorted((corpora_directory() / collection).rglob("*.bpmn")):
        content = path.read_bytes()
        try:
            if compile_resource(content).definitions:
                found.append((path.name, content))
        except InvalidModel:
            continue
    return found


@pytest.mark.corpora
@pytest.mark.parametrize("collection", ["bpmn-js", "miwg"])
@pytest.mark.timeout(600)
async def test_every_file_of_a_collection_that_deploys_is_drawn(world, walk_on, collection):
    files = models(collection)[:: 1 if "DRAWINGS_ALL" in os.environ else SOME]
    if not files:
        pytest.skip(f"no models of {collection}: PROCESSION_CORPORA names the folder of the collections")
    page = await (await walk_on(world)).go("/modeler")
    failed: list[str] = []
    for number, (name, content) in enumerate(files):
        named = f"{number}-{name}"
        deployed = await world.app.deploy((named, content))
        await page.evaluate(GO, f"/modeler/deployed/bpmn/{deployed[0].process_definition_key}")
        await expect(page.get_by_label("File name")).to_have_value(named)
        shown = page.locator('.modeler-main[data-ready="true"] .djs-shape')
        refused = page.locator(".modeler-main .problem")
        await shown.or_(refused).first.wait_for(state="attached")
        if await refused.count():
            failed.append(f"{name}: {await refused.inner_text()}")
    assert failed == []


async def test_a_model_of_500_elements_without_a_drawing_is_laid_out(world, walk_on):
    steps = process("long", name="A long one").start("begin")
    for number in range(ELEMENTS - 2):
        steps = steps.service(f"step-{number}", type="step")
    (deployed,) = await world.app.deploy(("long.bpmn", steps.end("done").xml()))
    page = await (await walk_on(world)).go("/modeler")
    await page.evaluate(GO, f"/modeler/deployed/bpmn/{deployed.process_definition_key}")
    await page.locator('.modeler-main[data-ready="true"]').wait_for(timeout=60_000)
    await expect(page.locator(".djs-shape")).to_have_count(ELEMENTS)
    await expect(page.locator(".djs-connection")).to_have_count(ELEMENTS - 1)
    await expect(page.get_by_text("The file had no drawing")).to_be_visible()
    await page.evaluate(GO, "/processes/long")
    await expect(page.get_by_text("Only a part is shown")).to_be_visible()
    first = await page.locator('[data-element-id="begin"] .djs-visual').bounding_box()
    assert first is not None and first["width"] > 15  # noqa: PT018 - one thing: it can be seen
    await page.get_by_role("button", name="Fit to view").click()
    whole = await page.locator('[data-element-id="begin"] .djs-visual').bounding_box()
    assert whole is not None and whole["width"] < 3  # noqa: PT018


async def test_lanes_and_names_of_every_script_are_drawn_where_a_file_has_no_drawing(world, walk_on):
    await world.app.deploy(("заказ.bpmn", LANES.encode()))
    walk = await walk_on(world)
    page = await walk.go("/processes/заказ")
    await walk.settled()
    boxes = {}
    for name in ("shop", "buyer", "hands", *(each for inner in WITHIN.values() for each in inner)):
        box = await page.locator(f'.diagram [data-element-id="{name}"] .djs-visual').first.bounding_box()
        assert box is not None, name
        boxes[name] = box
    for outer, inner in WITHIN.items():
        for name in inner:
            top, bottom = boxes[outer]["y"], boxes[outer]["y"] + boxes[outer]["height"]
            assert top <= boxes[name]["y"] + 1, (outer, name)
            assert boxes[name]["y"] + boxes[name]["height"] <= bottom + 1, (outer, name)
    await expect(page.locator('.diagram [data-element-id="hands_label"]')).to_have_text("Руками")
    await expect(page.locator('.diagram [data-element-id="nothing"]')).to_be_visible()
    assert boxes["office"]["y"] + boxes["office"]["height"] <= boxes["store"]["y"] + 2
