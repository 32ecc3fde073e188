"""A browser that walks through the web page, and what a walk must never meet.

A `Walk` is one tab. It notes every request that leaves the machine, every breach of the content security policy and
every error of the page; at its end there must be none.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Page, Request, expect

from tests.support.pictures import PICTURES, differing_share, is_renewing, shrunk
from tests.support.sources import ROOT

AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MISSING = "no Chromium: apt-get install chromium, or set PROCESSION_CHROMIUM to one"
# Sandboxes and shared memory of containers are not what is tested; text is drawn alike on every machine.
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none", "--disable-lcd-text"]
DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}
# Rules in a sheet of their own: the page's policy allows no styles in elements, which is how Playwright would add them.
HIDE = """(rules) => {
  const sheet = (window.hiding ??= new CSSStyleSheet());
  sheet.replaceSync(rules);
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
}"""
SERIOUS = ("serious", "critical")
PATIENCE_MS = 15_000  # a machine may be busy with other things
ALIKE = 0.02  # share of pixels that may differ: letters, on another machine


def chromium() -> str | None:
    """The path of a browser."""
    wanted = os.environ.get("PROCESSION_CHROMIUM")
    return wanted or next((path for name in PROGRAMS if (path := shutil.which(name))), None)


expect.set_options(timeout=PATIENCE_MS)


class Walk:
    """One tab of the page, from its opening to its end."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.strangers: list[str] = []  # requests that leave the machine
        self.breaches: list[str] = []  # of the content security policy
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", self._requested)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _requested(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.netloc != urlsplit(self.url).netloc:
            self.strangers.append(request.url)

    def _said(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.breaches.append(message.text)
        elif message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    async def go(self, path: str) -> Page:
        """Open an address of the page, and wait until it shows something."""
        await self.page.goto(self.url + path)
        await self.page.locator("main h1, main form").first.wait_for()
        return self.page

    async def settled(self) -> None:
        """Until nothing is loading, and diagrams are drawn."""
        await self.page.wait_for_function(
            "() => !document.querySelector('.spinner') && !document.querySelector('.diagram[data-ready=false]')"
            " && document.fonts.status === 'loaded'"
        )

    async def check_accessible(self, *, but: tuple[str, ...] = ()) -> None:
        """Axe finds no serious problem. ``but``: places that others draw (editors of bpmn.io), as selectors."""
        await self.settled()
        # evaluated by the debugger, which the policy does not concern: the page itself could not do it
        await self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found: dict[str, Any] = await self.page.evaluate(
            "(but) => axe.run({ exclude: but }, { resultTypes: ['violations'] })",
            [[each] for each in (".djs-container", ".uplot", *but)],
        )
        serious = [
            f"{each['id']}: {each['help']}: {node['html'][:160]}"
            for each in found["violations"]
            if each["impact"] in SERIOUS
            for node in each["nodes"][:3]
        ]
        assert serious == []

    async def check_picture(self, name: str, *, hide: tuple[str, ...] = ()) -> None:
        """The page looks like the picture of that name. ``hide``: what differs each time (keys, times)."""
        await self.settled()
        moving = (".navigation", "time", ".key", ".duration", ".liveness", *hide)
        rules = f"* {{ caret-color: transparent !important }} {', '.join(moving)} {{ visibility: hidden !important }}"
        await self.page.evaluate(HIDE, rules)
        shot = await self.page.screenshot(animations="disabled", caret="initial")
        await self.page.evaluate(HIDE, "")
        context, wanted = self.page.context, PICTURES / f"{name}.png"
        small = await shrunk(context, shot)
        if is_renewing():
            wanted.write_bytes(small)
            return
        assert wanted.exists(), f"there is no picture {wanted.name}; PROCESSION_PICTURES=renew makes it"
        share = await differing_share(context, wanted.read_bytes(), small)
        assert share <= ALIKE, f"{share:.1%} of {name} differs from its picture: {keep(name, shot)}"

    def check_quiet(self) -> None:
        """Nothing left the machine, nothing broke the policy, nothing failed."""
        assert self.strangers == [], "requests that leave the machine"
        assert self.breaches == [], "breaches of the content security policy"
        assert self.errors == [], "errors of the page"


def keep(name: str, shot: bytes) -> Path:
    """Leave a screenshot where it can be looked at."""
    place = Path(os.environ.get("PROCESSION_SHOTS", tempfile.gettempdir())) / f"{name}.png"
    place.write_bytes(shot)
    return place


async def open_walk(browser: Browser, url: str, **options: Any) -> Walk:
    """A new tab with no memory: English, UTC, light, without motion, unless told otherwise."""
    settings: dict[str, Any] = {
        "viewport": DESKTOP,
        "locale": "en-US",
        "timezone_id": "UTC",
        "color_scheme": "light",
        "reduced_motion": "reduce",
        **options,
    }
    context = await browser.new_context(**settings)
    return Walk(await context.new_page(), url)
