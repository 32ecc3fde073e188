"""A phone with fingers and no mouse: a diagram is moved and scaled, an instance opened, a task completed."""

from __future__ import annotations

import re

from playwright.async_api import CDPSession, Page, expect

from procession.testing.bpmn import process
from tests.support.page import PHONE

Point = tuple[float, float]


async def slide(fingers: CDPSession, *ways: tuple[Point, Point], steps: int = 5) -> None:
    """Fingers go down, each along its way, and up."""
    for step in range(steps + 1):
        share = step / steps
        points = [
            {"x": start[0] + (end[0] - start[0]) * share, "y": start[1] + (end[1] - start[1]) * share, "id": number}
            for number, (start, end) in enumerate(ways)
        ]
        kind = "touchMove" if step else "touchStart"
        await fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    await fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


async def box_of(page: Page, element: str) -> dict[str, float]:
    box = await page.locator(f'.diagram [data-element-id="{element}"] .djs-visual').first.bounding_box()
    assert box is not None
    return dict(box)


async def test_fingers_move_and_scale_a_diagram_open_an_instance_and_complete_its_task(world, walk_on):
    model = (
        process("touch", name="By hand").start("begin").user("check", name="Check it").user("sign").end("done").xml()
    )
    await world.app.deploy(("touch.bpmn", model))
    key = await world.app.start("touch", {}, business_id="TOUCH-1")
    await world.until_waits(key, "check")
    walk = await walk_on(world, viewport=PHONE, has_touch=True, is_mobile=True)
    page = await walk.go("/processes/touch")
    await walk.settled()
    fingers = await page.context.new_cdp_session(page)
    place = await page.locator(".diagram").bounding_box()
    assert place is not None
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    before = await box_of(page, "check")
    await slide(fingers, ((x, y), (x - 60, y)))
    moved = await box_of(page, "check")
    assert moved["x"] < before["x"] - 30, "one finger moves it sideways"
    await slide(fingers, ((x - 20, y), (x - 90, y)), ((x + 20, y), (x + 90, y)))
    scaled = await box_of(page, "check")
    assert scaled["width"] > moved["width"] * 1.5, "two fingers scale it"
    await page.get_by_role("link", name="TOUCH-1").tap()
    await expect(page).to_have_url(re.compile(rf"/instances/{key}$"))
    await page.get_by_role("link", name="Open the task").tap()
    await page.get_by_role("button", name="Who I am").tap()
    await page.get_by_label("I work as").fill("ann")
    await page.get_by_role("button", name="Save").tap()
    await page.get_by_role("button", name="Take it").tap()
    await page.get_by_role("button", name="Complete").tap()
    await world.until_waits(key, "sign")
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
