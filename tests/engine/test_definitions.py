"""Which version a name means: asked once for all who start together, and no answer is from before a deployment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from procession.engine.definitions import Definitions
from procession.engine.deploy import build_deployment
from procession.errors import NotFound
from procession.ids import Keys
from procession.store.memory import MemoryStore
from procession.store.rows import StoredDefinition
from procession.testing.bpmn import process

LATEST_S = 60.0


class Slow(MemoryStore):
    """Answers what it knew when it was asked, once ``answer`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.answer = asyncio.Event()

    async def find_definition(self, process_id: str, **which: Any) -> StoredDefinition | None:
        self.asked += 1
        found = await super().find_definition(process_id, **which)
        await self.answer.wait()
        return found


async def deploy(store: MemoryStore, keys: Keys, task: str) -> None:
    model = process("p").start().user(task).end()
    await store.deploy(build_deployment([("p.bpmn", model.xml())], keys, 1))


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_all_who_ask_at_the_same_time_share_one_question():
    store, keys = Slow(), Keys(range(1, 1_000))
    await deploy(store, keys, "a")
    definitions = Definitions(store, 10, latest_s=LATEST_S)
    asking = [asyncio.create_task(definitions.find("p")) for _ in range(8)]
    await turns()
    asking.pop().cancel()  # one who gives up takes the answer from nobody
    store.answer.set()
    assert [found.version for found in await asyncio.gather(*asking)] == [1] * 7
    assert (await definitions.find("p")).version == 1
    assert store.asked == 1


async def test_who_asks_after_a_deployment_gets_no_answer_from_before_it():
    store, keys = Slow(), Keys(range(1, 1_000))
    await deploy(store, keys, "a")
    definitions = Definitions(store, 10, latest_s=LATEST_S)
    before = asyncio.create_task(definitions.find("p"))
    await turns()
    await deploy(store, keys, "b")
    definitions.forget_latest()
    after = asyncio.create_task(definitions.find("p"))
    await turns()
    store.answer.set()
    assert ((await before).version, (await after).version) == (1, 2)
    assert (await definitions.find("p")).version == 2, "the older answer is not what is remembered"
    assert store.asked == 2


async def test_a_name_that_means_nothing_is_told_to_all_and_asked_for_again():
    store = Slow()
    store.answer.set()
    definitions = Definitions(store, 10, latest_s=LATEST_S)
    found = await asyncio.gather(*(definitions.find("p") for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in found] == [NotFound] * 3
    with pytest.raises(NotFound):
        await definitions.find("p")
    assert store.asked == 2
