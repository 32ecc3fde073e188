"""Pictures of pages, small, to compare with those that were looked at by a person.

The browser itself makes them small and compares them, on an empty page. Small, a letter that another machine draws a
little differently does not count, while something that is missing, moved or of another colour does.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path

from playwright.async_api import BrowserContext

PICTURES = Path(__file__).resolve().parents[1] / "ui" / "pictures"
VARIABLE = "PROCESSION_PICTURES"
WIDTH = 480
TONES = 40  # of 255, that a point may differ by in one colour

_SHRINK = """async ([shot, width]) => {
  const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + shot)).blob());
  const height = Math.round(image.height * width / image.width);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, width, height);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}"""
_COMPARE = """async ([one, other, tones]) => {
  const points = async (text) => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + text)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = [await points(one), await points(other)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let differing = 0;
  for (let at = 0; at < a.data.length; at += 4) {
    if ([0, 1, 2].some((colour) => Math.abs(a.data[at + colour] - b.data[at + colour]) > tones)) differing += 1;
  }
  return differing / (a.width * a.height);
}"""


def is_renewing() -> bool:
    """Whether pictures are made anew rather than compared."""
    return os.environ.get(VARIABLE) == "renew"


async def shrunk(context: BrowserContext, shot: bytes) -> bytes:
    """A screenshot, small."""
    page = await context.new_page()
    small: str = await page.evaluate(_SHRINK, [base64.b64encode(shot).decode(), WIDTH])
    await page.close()
    return base64.b64decode(small)


async def differing_share(context: BrowserContext, one: bytes, other: bytes) -> float:
    """The share of points in which two pictures differ; 1 for pictures of different sizes."""
    page = await context.new_page()
    given = [base64.b64encode(one).decode(), base64.b64encode(other).decode(), TONES]
    share: float = await page.evaluate(_COMPARE, given)
    await page.close()
    return share
