"""Each action that the page offers: which role it names, and which one the server wants for it.

What the page asks is read from its source, what is served from the table of endpoints; that the server refuses each
operation to every other role is tried with each of them in ``tests/api/test_roles.py``.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from procession import FlowJob, Limit, Recurring
from procession.api.endpoints import Endpoint
from procession.api.roles import Role
from procession.api.tables import endpoints
from procession.testing.bpmn import process
from tests.support.sources import ROOT
from tests.ui.world import World, open_world

OPERATIONS = [(prefix, row) for prefix, row in endpoints() if row.documented]
ADDRESS = re.compile(r"""["'`](/(?:api|v2)/[^"'`?\s]*)""")
REFUSED = {
    "status": 409,
    "content_type": "application/problem+json",
    "body": '{"title": "INVALID_STATE", "detail": ""}',
}
ROUNDS = 3
# Whether there is a dialog; it is filled in, and agreed to, as fast as it is drawn.
AGREE = """async () => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await drawn();
  const dialog = document.querySelector('dialog[open]');
  if (!dialog) return false;
  for (const field of dialog.querySelectorAll('input:not([type=checkbox]):not(:disabled), select')) {
    if (field.value || !field.checkVisibility()) continue;
    if (field.tagName === 'SELECT') field.selectedIndex = Math.min(1, field.options.length - 1);
    else field.value = field.type === 'number' ? '1' : 'x';
    field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
  }
  await drawn();
  const buttons = [...dialog.querySelectorAll('footer button:not(:disabled)')];
  for (const each of buttons.slice(1)) each.click();
  await drawn();
  return true;
}"""
LEAST = 20  # operations that the walk is known to reach; fewer: it lost its way


def pattern_of(path: str) -> re.Pattern[str]:
    """What fits an address with names in it."""
    return re.compile("/".join("[^/]+" if "{" in part else re.escape(part) for part in path.split("/")))


def operation_of(method: str, path: str) -> Endpoint | None:
    """The operation that a request means: fixed paths stand before those with names."""
    return next(
        (row for prefix, row in OPERATIONS if row.method == method and pattern_of(prefix + row.path).fullmatch(path)),
        None,
    )


def addresses() -> set[str]:
    """Every address that the page's source asks, with `x` where something is filled in."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "ui" / "src").rglob("*.ts*")]
    found = {re.sub(r"\$\{.*?\}(?=/|$)", "x", path) for text in texts for path in ADDRESS.findall(text)}
    return {path.rstrip("/") for path in found}


def test_the_page_asks_only_what_is_tried_with_each_role():
    served = [pattern_of(prefix + row.path) for prefix, row in OPERATIONS]
    begun = [prefix + row.path for prefix, row in OPERATIONS]
    asked = addresses()
    assert len(asked) > 50
    unknown = {
        path
        for path in asked
        if not any(each.fullmatch(path) for each in served)
        and not any(re.match("[^/]+".join(map(re.escape, path.split("x"))), each) for each in begun)
    }
    assert unknown == set()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def everything(browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Something of each kind that can be acted on."""
    async with open_world(f"sqlite:///{tmp_path_factory.mktemp('rights') / 'page.db'}") as world:
        app = world.app
        await app.deploy(("asks.bpmn", process("asks").start("begin").user("check", name="Check it").end("done").xml()))
        await app.start("asks", {})
        await app.enqueue("nobody-does", queue="idle", limits=[Limit("press", most=1)])
        await app.enqueue_flow([FlowJob("a", "nobody-does", options={"queue": "idle"})], title="A flow")
        await app.open_batch(title="letters")
        await app.put_recurring(Recurring(name="daily", cycle="@daily", type="nobody-does", queue="idle"))
        await app.pause_queue("rests", reason="for good")
        await app.pause_type("sleeps", reason="for good")
        yield world


class Actions:
    """Presses what needs a role, and hears what the server is asked for it. Nothing of it is carried out."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.role = ""  # that the button pressed last has named
        self.label = ""
        self.heard: dict[str, str] = {}  # operations, and the roles that the page named for them
        self.wrong: list[str] = []
        self.pressed: set[tuple[str, str]] = set()

    async def hear(self, route: Route) -> None:
        """Actions are answered here; what only looks goes to the server."""
        path = urlsplit(route.request.url).path
        row = operation_of(route.request.method, path)
        if row is None or row.role in (None, Role.READER) or row.any_role:
            await route.continue_()
            return
        self.heard[row.operation_id] = self.role
        if row.role.value != self.role:
            self.wrong.append(
                f"'{self.label}' names {self.role or 'no role'}, {row.operation_id} wants {row.role.value}"
            )
        await route.fulfill(**REFUSED)

    async def try_all(self, address: str, opener: str = "") -> None:
        """Every action of a page, or of a menu of it."""
        place = re.sub(r"\d{6,}", "…", address)
        await self.open(address, opener)
        found = self.page.locator("main [data-role]:not(:disabled):visible")
        names = [
            ((await each.get_attribute("aria-label")) or await each.inner_text()).strip() for each in await found.all()
        ]
        for index, name in enumerate(names):
            if (place, name) in self.pressed:
                continue
            self.pressed.add((place, name))
            button = found.nth(index)
            if (index and opener) or await found.count() != len(names):
                await self.open(address, opener)
            self.role, self.label = await button.get_attribute("data-role") or "", f"{place}: {name}"
            await button.click()
            await self.confirm()

    async def open(self, address: str, opener: str) -> None:
        await self.page.goto(address)
        await self.page.locator("main h1").first.wait_for()
        await self.page.wait_for_function("() => !document.querySelector('.spinner')")
        if opener:
            await self.page.locator(opener).first.click()

    async def confirm(self) -> None:
        """Fill in what a dialog wants to know, agree, and leave it; one may try something out before it is done."""
        for _ in range(ROUNDS):
            if not await self.page.evaluate(AGREE):
                return
        await self.page.keyboard.press("Escape")


async def test_every_action_names_the_role_that_the_server_wants(everything, walk_on):
    app = everything.app
    waits = await everything.order("RIGHT-1")
    await everything.until_waits(waits, "wait-for-stock")
    fails, over = await everything.fail(), await everything.order("RIGHT-2", card="declined")
    await app.wait(over, timeout=20)
    job = (await app.find_jobs(type="nobody-does")).jobs[0].job_key
    task = (await app.user_tasks())[0].user_task_key
    walk = await walk_on(everything)
    page = await walk.go("/")
    actions = Actions(page)
    await page.route(re.compile(r"/(?:api|v2)/"), actions.hear)
    more, pick = "main button[aria-haspopup]", "main td.pick input"
    for address, opener in (
        ("/processes/order", ""),
        ("/processes/order", more),
        ("/instances?state=ACTIVE", pick),
        (f"/instances/{waits}", ""),
        (f"/instances/{waits}", f"main .page-head {more.removeprefix('main ')}"),
        (f"/instances/{waits}?tab=variables", ""),
        (f"/instances/{fails}", ""),
        (f"/instances/{over}", ""),
        (f"/instances/{over}", f"main .page-head {more.removeprefix('main ')}"),
        ("/jobs?queue=idle", pick),
        (f"/jobs/{job}", ""),
        ("/jobs/queues", ""),
        ("/jobs/recurring/daily", ""),
        ("/jobs/limits", ""),
        ("/jobs/batches", ""),
        (f"/tasks?whose=all&task={task}", ""),
    ):
        await actions.try_all(everything.url + address, opener)
    assert actions.wrong == []
    assert len(actions.heard) >= LEAST, sorted(actions.heard)
    await expect(page.locator("main h1").first).to_be_visible()
