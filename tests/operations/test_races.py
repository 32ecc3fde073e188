"""Stories of operators who do several things at once, with workers that really run, in two processes' places.

On PostgreSQL the two applications have connections of their own, so that their transactions overlap.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from procession import Procession, Settings
from procession.app.batches import Batch
from procession.errors import Conflict, NotFound, Rejected
from procession.testing.bpmn import process

PATIENCE_S = 60
ORDER = process("order").start().user("check").end()
LIVELY = Settings(claim_poll_ms_max=50, retention_ms=0, retention_pause_ms=1, retention_poll_ms=20, retention_chunk=20)

Pair = tuple[Procession, Procession]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return f"sqlite:///{tmp_path / 'test.db'}"


@pytest_asyncio.fixture
async def pair(url: str) -> AsyncIterator[Pair]:
    """Two applications that work on one database."""
    apps = Procession(url), Procession(url)
    for app in apps:
        await app.open(migrate=True)
    yield apps
    for app in apps:
        await app.close()


async def _start(app: Procession, count: int) -> list[int]:
    await app.deploy(("order.bpmn", ORDER.xml()))
    return await asyncio.gather(*(app.start("order") for _ in range(count)))


async def _over(app: Procession, batch: int) -> Batch:
    async with asyncio.timeout(PATIENCE_S):
        while (found := await app.batch_progress(batch)).state == "ACTIVE" or found.open:  # noqa: ASYNC110 - the database says it
            await asyncio.sleep(0.05)
    return found


async def test_two_batches_at_once_end_each_instance_once(pair: Pair):
    one, other = pair
    await _start(one, 300)
    keys = await asyncio.gather(one.batch("cancel"), other.batch("cancel", reason="likewise"))
    first, second = [await _over(one, key) for key in keys]
    assert await one.count_instances() == {"TERMINATED": 300}
    assert first.done + second.done == 300
    for batch in (first, second):
        assert batch.done + batch.failed <= batch.total == 300
        errors = await one.batch_errors(batch.batch_key, limit=1_000)
        assert len(errors) == batch.failed
        assert all("is over already" in error.message for error in errors)


async def test_instances_that_end_while_a_batch_migrates_are_errors_and_nothing_is_lost(pair: Pair):
    one, other = pair
    keys = await _start(one, 200)
    (second,) = await one.deploy(("order.bpmn", process("order").start().user("check").user("pack").end().xml()))
    tasks = await one.user_tasks(limit=1_000)

    async def finish() -> None:
        for task in tasks[::2]:
            await other.complete_user_task(task.user_task_key)

    batch, _ = await asyncio.gather(
        one.batch("migrate", target_process_definition_key=second.process_definition_key), finish()
    )
    found = await _over(one, batch)
    counts = await one.count_instances()
    assert sum(counts.values()) == len(keys)
    for row in await one.instances(limit=1_000):
        if row.state == "ACTIVE":
            assert row.process_definition_key == second.process_definition_key
    assert found.done + found.failed <= found.total
    open_tasks = await one.user_tasks(limit=1_000)
    assert len(open_tasks) == counts["ACTIVE"]
    await asyncio.gather(*(other.complete_user_task(task.user_task_key) for task in open_tasks))


async def test_modifications_that_race_leave_one_token(pair: Pair):
    """Of two that move the same token one finds it."""
    one, other = pair
    await one.deploy(("order.bpmn", process("order").start().user("a").user("b").user("c").end().xml()))
    keys = await asyncio.gather(*(one.start("order") for _ in range(30)))

    async def move(app: Procession, key: int, target: str) -> bool:
        try:
            await app.modify(key, move={"a": target})
        except Rejected:
            return False
        return True

    moves = [(move(one, key, "b"), move(other, key, "c")) for key in keys]
    answers = [await asyncio.gather(*both) for both in moves]
    for key, (to_b, to_c) in zip(keys, answers, strict=True):
        assert to_b != to_c, "one of the two moves the token"
        (task,) = await one.user_tasks(process_instance_key=key)
        assert task.element_id == ("b" if to_b else "c")


async def test_of_two_processes_that_claim_a_task_one_gets_it(pair: Pair):
    one, other = pair
    await _start(one, 40)

    async def claim(app: Procession, task: int, name: str) -> bool:
        try:
            await app.claim_user_task(task, name)
        except Conflict:
            return False
        return True

    for task in await one.user_tasks():
        key = task.user_task_key
        got = await asyncio.gather(claim(one, key, "ada"), claim(other, key, "bob"))
        assert sorted(got) == [False, True]
        assert (await other.user_task(key)).assignee == ("ada" if got[0] else "bob")


async def test_a_batch_is_retried_by_one_of_two(pair: Pair):
    one, other = pair
    await _start(one, 3)
    (second,) = await one.deploy(("order.bpmn", process("order").start().user("look").end().xml()))
    batch = await one.batch("migrate", target_process_definition_key=second.process_definition_key)
    assert (await _over(one, batch)).failed == 3
    answers = await asyncio.gather(one.retry_batch(batch), other.retry_batch(batch), return_exceptions=True)
    assert {type(answer) for answer in answers} == {int, Conflict}
    assert len(await one.batches()) == 2


async def test_a_version_is_not_deleted_under_an_instance(pair: Pair):
    """Whoever starts and whoever deletes at once: each instance that is there can be read and goes on."""
    one, other = pair
    for number in range(8):
        model = process("order").start().user("check").user(f"pack{number}").end().xml()
        (version,) = await one.deploy(("order.bpmn", model))
        await other.start("order")

        async def start_many() -> None:
            for _ in range(10):
                try:
                    await other.start("order")
                except NotFound:
                    return

        async def delete(key: int) -> None:
            while True:
                try:
                    for row in await one.instances(state="ACTIVE", limit=1_000):
                        await one.cancel(row.process_instance_key)
                    await one.delete_definition(key)
                except Conflict:
                    continue
                return

        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(start_many(), delete(version.process_definition_key))
    await one.close()
    await one.open()
    for row in await one.instances(limit=1_000):
        await one.instance(row.process_instance_key)
        if row.state == "ACTIVE":
            await one.cancel(row.process_instance_key)


async def test_retention_deletes_in_chunks_while_instances_end(url: str):
    """What runs stays; what ended goes, with its history, whoever ends it meanwhile."""
    app = Procession(url, settings=LIVELY)
    await app.open(migrate=True)
    try:
        await app.deploy(("order.bpmn", ORDER.xml()))
        stays = await app.start("order")
        for _ in range(5):
            keys = await asyncio.gather(*(app.start("order") for _ in range(40)))
            await asyncio.gather(*(app.cancel(key) for key in keys))
        async with asyncio.timeout(PATIENCE_S):
            while len(await app.instances(limit=1_000)) > 1:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.05)
        assert await app.history(stays)
        assert [row.process_instance_key for row in await app.instances()] == [stays]
    finally:
        await app.close()
