"""What is no key, no text, no number, no span of time is refused by its own name, alike on every database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from procession import Procession
from procession.app import arguments
from procession.errors import InvalidValue, NotFound, Rejected
from procession.testing.bpmn import process

MODEL = process("order").start().user("approve").end()
RUBBISH: list[Any] = [
    None,
    True,
    b"x",
    1.5,
    float("nan"),
    float("inf"),
    -1,
    0,
    2**63,
    -(2**70),
    "",
    "abc",
    "a\0b",
    "\ud800",
    "x" * 100_000,
    [],
    ["a"],
    {},
    (1, 2),
    object(),
    timedelta(days=-1),
    timedelta.max,
]

Call = Callable[[Procession, Any], Awaitable[object]]
KEYS: dict[str, Call] = {
    "definition_xml": lambda app, it: app.definition_xml(it),
    "decision_xml": lambda app, it: app.decision_xml(it),
    "instance": lambda app, it: app.instance(it),
    "history": lambda app, it: app.history(it),
    "wait": lambda app, it: app.wait(it, timeout=30),
    "cancel": lambda app, it: app.cancel(it),
    "modify": lambda app, it: app.modify(it, activate=["approve"]),
    "suspend": lambda app, it: app.suspend(it),
    "resume": lambda app, it: app.resume(it),
    "migrate_instance": lambda app, it: app.migrate_instance(it, 8),
    "migrate_instance, target": lambda app, it: app.migrate_instance(7, it),
    "delete_instance": lambda app, it: app.delete_instance(it),
    "delete_definition": lambda app, it: app.delete_definition(it),
    "batch_progress": lambda app, it: app.batch_progress(it),
    "batch_errors": lambda app, it: app.batch_errors(it),
    "cancel_batch": lambda app, it: app.cancel_batch(it),
    "set_variables": lambda app, it: app.set_variables(it, {"a": 1}),
    "resolve": lambda app, it: app.resolve(it),
    "complete_user_task": lambda app, it: app.complete_user_task(it),
    "assign_user_task": lambda app, it: app.assign_user_task(it, "ada"),
}
OTHERS: dict[str, Call] = {
    "deploy": lambda app, it: app.deploy(it),
    "deploy, name": lambda app, it: app.deploy((it, MODEL.xml())),
    "deploy, bytes": lambda app, it: app.deploy(("a.bpmn", it)),
    "definitions": lambda app, it: app.definitions(it),
    "decisions": lambda app, it: app.decisions(it),
    "start": lambda app, it: app.start(it),
    "start, variables": lambda app, it: app.start("order", it),
    "start, variable": lambda app, it: app.start("order", {"a": it}),
    "start, business id": lambda app, it: app.start("order", business_id=it),
    "start, version": lambda app, it: app.start("order", version=it),
    "start, version tag": lambda app, it: app.start("order", version_tag=it),
    "start, tags": lambda app, it: app.start("order", tags=it),
    "start, tag": lambda app, it: app.start("order", tags=[it]),
    "prepare_start": lambda app, it: app.prepare_start("order", business_id=it, tags=[it]),
    "set_variables, scope": lambda app, it: app.set_variables(7, {"a": 1}, element_instance_key=it),
    "set_variables, values": lambda app, it: app.set_variables(7, it),
    "cancel, reason": lambda app, it: app.cancel(7, reason=it),
    "modify, activate": lambda app, it: app.modify(7, activate=it),
    "modify, move": lambda app, it: app.modify(7, move={it: "approve"} if isinstance(it, str) else it),
    "modify, target": lambda app, it: app.modify(7, move={"approve": it}),
    "modify, terminate": lambda app, it: app.modify(7, terminate=[it]),
    "migrate_instance, mapping": lambda app, it: app.migrate_instance(7, 8, it),
    "batch": lambda app, it: app.batch(it),
    "batch, which": lambda app, it: app.batch("cancel", which={"process_id": "none", "tag": it}),
    "batch, parent": lambda app, it: app.batch("cancel", which={"process_id": "none", "parent": it}),
    "batch, rate": lambda app, it: app.batch("cancel", which={"process_id": "none"}, per_second=it),
    "batch, reason": lambda app, it: app.batch("cancel", which={"process_id": "none"}, reason=it),
    "batch, retries": lambda app, it: app.batch("resolve", which={"process_id": "none"}, retries=it),
    "batch, target": lambda app, it: app.batch("migrate", target_process_definition_key=it),
    "batches, limit": lambda app, it: app.batches(limit=it),
    "resolve, retries": lambda app, it: app.resolve(7, retries=it),
    "publish": lambda app, it: app.publish(it, ttl=1),
    "publish, key": lambda app, it: app.publish("paid", correlation_key=it, ttl=1),
    "publish, variables": lambda app, it: app.publish("paid", variables=it, ttl=1),
    "publish, ttl": lambda app, it: app.publish("paid", ttl=it),
    "publish, message id": lambda app, it: app.publish("paid", ttl=1, message_id=it),
    "broadcast": lambda app, it: app.broadcast(it),
    "broadcast, variables": lambda app, it: app.broadcast("closing", it),
    "complete_user_task, variables": lambda app, it: app.complete_user_task(7, it),
    "assign_user_task, assignee": lambda app, it: app.assign_user_task(7, it),
    "instances": lambda app, it: app.instances(it),
    "instances, state": lambda app, it: app.instances(state=it),
    "instances, business id": lambda app, it: app.instances(business_id=it),
    "instances, tag": lambda app, it: app.instances(tag=it),
    "instances, parent": lambda app, it: app.instances(parent=it),
    "instances, after": lambda app, it: app.instances(after=it),
    "instances, limit": lambda app, it: app.instances(limit=it),
    "count_instances": lambda app, it: app.count_instances(it),
    "jobs": lambda app, it: app.jobs(process_instance_key=it),
    "jobs, state": lambda app, it: app.jobs(state=it),
    "jobs, kind": lambda app, it: app.jobs(kind=it),
    "jobs, queue": lambda app, it: app.jobs(queue=it),
    "jobs, type": lambda app, it: app.jobs(type=it),
    "jobs, after": lambda app, it: app.jobs(after=it),
    "incidents": lambda app, it: app.incidents(process_instance_key=it),
    "incidents, process": lambda app, it: app.incidents(process_id=it),
    "user_tasks": lambda app, it: app.user_tasks(process_instance_key=it),
    "user_tasks, assignee": lambda app, it: app.user_tasks(assignee=it),
    "user_tasks, candidate_group": lambda app, it: app.user_tasks(candidate_group=it),
    "messages": lambda app, it: app.messages(it),
    "messages, limit": lambda app, it: app.messages(limit=it),
    "subscriptions": lambda app, it: app.subscriptions(process_instance_key=it),
    "subscriptions, name": lambda app, it: app.subscriptions(name=it),
}


@pytest.fixture
async def shop(app: Procession) -> Procession:
    await app.deploy(("order.bpmn", MODEL.xml()))
    return app


async def answer_of(call: Awaitable[object]) -> str:
    """What came of it: "done", or the message of a refusal. Anything else is raised."""
    try:
        await call
    except Rejected as error:
        return str(error)
    return "done"


@pytest.mark.parametrize("name", KEYS)
async def test_what_is_no_key_is_refused_and_an_unknown_key_is_not_found(shop: Procession, name: str) -> None:
    for value in RUBBISH:
        with pytest.raises(InvalidValue, match="_key to be a whole number from 1 to 9223372036854775807, found"):
            await KEYS[name](shop, value)
    with pytest.raises(NotFound, match=r"[78]"):
        await KEYS[name](shop, 7)


async def test_no_rubbish_is_more_than_refused(shop: Procession) -> None:
    for name, call in OTHERS.items():
        for value in RUBBISH:
            answer = await answer_of(call(shop, value))
            assert len(answer) < 500, f"{name}: {answer[:100]}"
            assert "refuses" not in answer, f"{name}, {value!r}: told by the driver: {answer}"
    assert {task.process_definition_id for task in await shop.user_tasks()} == {"order"}  # all goes on


async def test_what_is_refused_starts_and_buffers_nothing(shop: Procession) -> None:
    for options in ({"business_id": 7}, {"tags": "red"}, {"tags": [""]}, {"tags": ["t"] * 33}, {"version": -1}):
        with pytest.raises(InvalidValue):
            await shop.start("order", **options)
    for options in ({"ttl": float("nan")}, {"correlation_key": "k" * 201}, {"message_id": 7}, {"ttl": "P99999999Y"}):
        with pytest.raises(InvalidValue):
            await shop.publish("paid", **{"ttl": 1, **options})
    with pytest.raises(InvalidValue, match="the name of a message to be a text of at least one character"):
        await shop.publish("", ttl=1)
    assert not await shop.instances()
    assert not await shop.messages()


async def test_a_batch_whose_filter_is_misspelt_means_nobody_instead_of_everybody(shop: Procession) -> None:
    await shop.start("order", business_id="A-1")
    for which in ({"businessId": "A-2"}, {"business_ids": "A-2"}, "A-2", ["A-2"]):
        with pytest.raises(InvalidValue, match=r"filters of instances|which to be an object"):
            await shop.batch("cancel", which=which)  # pyright: ignore[reportArgumentType]
    await shop.run_until_idle()
    assert not await shop.batches()
    assert [it.state for it in await shop.instances()] == ["ACTIVE"]


@pytest.mark.parametrize("limit", [float("nan"), -1, -0.001, "1", True])
async def test_a_limit_of_time_that_is_none_is_refused_before_it_reaches_the_loop(shop: Procession, limit: Any) -> None:
    key = await shop.start("order")
    with pytest.raises(InvalidValue, match="Expected timeout to be seconds from 0 on"):
        await shop.wait(key, timeout=limit)
    with pytest.raises(TimeoutError):  # the loop's timers are in order
        await shop.wait(key, timeout=0.01)


@pytest.mark.parametrize(
    ("ttl", "ms"),
    [
        (0, 0),
        (1.5, 1_500),
        ("500ms", 500),
        ("30s", 30_000),
        ("1h", 3_600_000),
        ("1h 30m", 5_400_000),
        ("PT1H", 3_600_000),
        ("P1M", 30 * 86_400_000),
        (timedelta(minutes=2), 120_000),
    ],
)
def test_a_time_to_live_is_written_in_several_ways(ttl: Any, ms: int) -> None:
    assert arguments.ttl_ms(ttl) == ms


@pytest.mark.parametrize("ttl", ["", "PT", "P", "abc", "-5", "1e9s", "-PT1S", "P2Y", "P99999999Y", True, None, 1e300])
def test_what_is_no_time_to_live_is_refused_with_what_would_be(ttl: Any) -> None:
    with pytest.raises(InvalidValue, match=r"'30s', '1h' or 'PT1H'|ISO 8601|year 9999"):
        arguments.ttl_ms(ttl)
