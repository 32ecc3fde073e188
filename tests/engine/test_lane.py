"""A lane: what has gathered goes together, and what can wait for others does so for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from procession.engine.lane import PATIENT_MAX, Lane


class Sent:
    """Where batches go."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.went = asyncio.Event()

    async def __call__(self, batch: list[str]) -> None:
        self.batches.append(batch)
        self.went.set()

    async def next(self) -> list[str]:
        await self.went.wait()
        self.went.clear()
        return self.batches[-1]


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
async def lane(sent: Sent) -> AsyncGenerator[Lane[str], None]:
    lane: Lane[str] = Lane("test", sent, count_max=2 * PATIENT_MAX)
    lane.start()
    yield lane
    await lane.stop()


async def test_what_can_wait_goes_together_after_a_moment(lane: Lane[str], sent: Sent):
    lane.put_patiently("a")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    lane.put_patiently("b")
    assert await sent.next() == ["a", "b"]
    assert lane.idle


async def test_what_cannot_wait_takes_along_what_can(lane: Lane[str], sent: Sent):
    lane.put_patiently("a")
    lane.put("b")
    lane.put_patiently("c")
    assert await sent.next() == ["a", "b", "c"]
    lane.put_patiently("d")
    assert await sent.next() == ["d"], "the moment of those before is over for nobody else"


async def test_many_that_can_wait_do_not(lane: Lane[str], sent: Sent):
    items = [str(number) for number in range(PATIENT_MAX)]
    for item in items[:-1]:
        lane.put_patiently(item)
    for _ in range(3):
        await asyncio.sleep(0)
    assert not sent.batches
    lane.put_patiently(items[-1])
    for _ in range(3):
        await asyncio.sleep(0)
    assert sent.batches == [items]


async def test_what_still_waits_when_the_lane_stops_is_given_back(lane: Lane[str], sent: Sent):
    lane.put_patiently("a")
    assert await lane.stop() == ["a"]
    assert not sent.batches
    assert lane.idle
