"""Stories of whole instances: from a model to the end, on the memory store, with a clock that is turned by hand."""

from __future__ import annotations

import pytest

from procession.core.commands import Cancel, SetVariables
from procession.errors import Conflict, NotFound
from procession.jobs.kinds import JobKind, JobState
from procession.store.rows import InstanceFilter, NewJob
from procession.testing.bpmn import process
from procession.worker import BpmnError, Job, Registry, Retry, Snooze
from tests.engine.stage import HOUR, MINUTE, SECOND, Stage


async def test_two_jobs_run_one_after_the_other_and_the_instance_completes(stage: Stage):
    seen: list[str] = []

    @stage.registry.job("pay")
    async def pay(order_id: str, total: float) -> dict[str, object]:
        seen.append(f"pay {order_id} {total}")
        return {"paid": True}

    @stage.registry.job("ship")
    async def ship(job: Job, paid: bool):
        seen.append(f"ship {job.process_instance_key} {paid}")

    await stage.deploy(process("order").start().service("pay").service("ship").end())
    key = await stage.start("order", {"orderId": "A-17", "total": 12.5})
    assert seen == ["pay A-17 12.5", f"ship {key} True"]
    assert await stage.status(key) == "completed"
    assert await stage.variables(key) == {"orderId": "A-17", "total": 12.5, "paid": True}


async def test_jobs_are_claimed_on_insert_so_that_nothing_is_polled_or_read(stage: Stage):
    @stage.registry.job("pay")
    async def pay(): ...

    await stage.deploy(process("order").start().service("pay").service("again", type="pay").end())
    key = await stage.engine.start_instance("order")
    while (await stage.status(key)) != "completed":
        await stage.engine._come_to_rest()
    counters = stage.engine.counters
    assert (counters.handed_over, counters.claimed, counters.loads) == (2, 0, 0)


async def test_a_job_without_a_handler_waits_for_a_process_that_has_one(stage: Stage):
    await stage.deploy(process("order").start().service("pay").end())
    key = await stage.start("order", {"orderId": 7})
    assert [job.state for job in await stage.jobs(instance=key)] == [JobState.READY]
    registry = Registry()

    @registry.job("pay")
    async def pay(order_id: int) -> dict[str, int]:
        return {"receipt": order_id}

    stage.add_engine(registry)
    await stage.turn()
    assert await stage.status(key) == "completed"
    assert await stage.variables(key) == {"orderId": 7, "receipt": 7}


async def test_a_failing_job_is_tried_again_after_its_pause_and_then_raises_an_incident(stage: Stage):
    """Scenario 114."""
    attempts: list[int] = []

    @stage.registry.job("pay", backoff=["10s", "20s"])
    async def pay(job: Job):
        attempts.append(job.attempt)
        raise ValueError("no connection")

    await stage.deploy(process("order").start().service("pay", retries=3).end())
    key = await stage.start("order")
    assert attempts == [1]
    await stage.pass_time(9 * SECOND)
    assert attempts == [1]
    await stage.pass_time(1 * SECOND)
    assert attempts == [1, 2]
    await stage.pass_time(20 * SECOND)
    assert attempts == [1, 2, 3]
    text = await stage.incident(key)
    assert text.startswith("JOB_NO_RETRIES: Job of 'pay'")
    assert "ValueError: no connection" in text
    (job,) = await stage.jobs(instance=key)
    assert job.state == JobState.FAILED


async def test_a_resolved_incident_gives_the_job_new_attempts(stage: Stage):
    broken = True

    @stage.registry.job("pay", retries=1)
    async def pay():
        if broken:
            raise ValueError("no connection")

    await stage.deploy(process("order").start().service("pay").end())
    key = await stage.start("order")
    assert "no connection" in await stage.incident(key)
    broken = False
    await stage.resolve(key, retries=2)
    assert await stage.status(key) == "completed"


async def test_a_retry_asked_for_by_the_handler_waits_as_long_as_it_says(stage: Stage):
    attempts: list[int] = []

    @stage.registry.job("poll")
    async def poll(job: Job):
        attempts.append(job.attempt)
        return Retry("1m") if job.attempt == 1 else None

    await stage.deploy(process("p").start().service("poll").end())
    key = await stage.start("p")
    await stage.pass_time(59 * SECOND)
    assert attempts == [1]
    await stage.pass_time(1 * SECOND)
    assert attempts == [1, 2]
    assert await stage.status(key) == "completed"


async def test_a_snoozed_job_uses_up_no_attempt(stage: Stage):
    runs: list[int] = []

    @stage.registry.job("poll", retries=1)
    async def poll(job: Job):
        runs.append(job.retries)
        return Snooze("1m") if len(runs) < 4 else None

    await stage.deploy(process("p").start().service("poll").end())
    key = await stage.start("p")
    for _ in range(3):
        await stage.pass_time(MINUTE)
    assert len(runs) == 4
    assert len(set(runs)) == 1
    assert await stage.status(key) == "completed"


async def test_a_bpmn_error_takes_the_error_boundary(stage: Stage):
    @stage.registry.job("pay")
    async def pay():
        raise BpmnError("declined", "card expired", {"reason": "expired"})

    model = process("order").start().service("pay").end().boundary("no", on="pay", error="declined").user("call").end()
    await stage.deploy(model)
    key = await stage.start("order")
    await stage.complete_task(key, "call")
    assert await stage.status(key) == "completed"


async def test_arguments_that_do_not_decode_raise_an_incident_at_once(stage: Stage):
    calls: list[int] = []

    @stage.registry.job("pay")
    async def pay(total: int):
        calls.append(total)

    await stage.deploy(process("order").start().service("pay").end())
    key = await stage.start("order", {"total": "twelve"})
    text = await stage.incident(key)
    assert "parameter 'total'" in text
    assert "'twelve'" in text
    assert calls == []
    await stage.engine.command(key, SetVariables({"total": 12}))
    await stage.resolve(key)
    assert calls == [12]


async def test_a_result_that_is_no_json_raises_an_incident_naming_the_path(stage: Stage):
    @stage.registry.job("pay")
    async def pay():
        return {"receipt": {"lines": [1, float("nan")]}}

    await stage.deploy(process("order").start().service("pay").end())
    key = await stage.start("order")
    assert "result of 'pay'.receipt.lines[1]" in await stage.incident(key)


async def test_a_timer_fires_when_it_is_due_and_never_early(stage: Stage):
    await stage.deploy(process("p").start().catch("wait", timer="PT1H").end())
    key = await stage.start("p")
    await stage.pass_time(HOUR - 1)
    assert await stage.status(key) == "active"
    await stage.pass_time(1)
    assert await stage.status(key) == "completed"


async def test_a_boundary_timer_ends_the_work_and_its_job(stage: Stage):
    await stage.deploy(
        process("p").start().service("slow").end("done").boundary("late", on="slow", timer="PT5M").end("expired")
    )
    key = await stage.start("p")
    assert len(await stage.jobs(instance=key)) == 2
    await stage.pass_time(5 * MINUTE)
    assert await stage.status(key) == "completed"
    assert await stage.jobs(instance=key) == []


async def test_completed_work_takes_its_boundary_timer_with_it(stage: Stage):
    await stage.deploy(
        process("p").start().user("decide").end("done").boundary("late", on="decide", timer="PT5M").end("expired")
    )
    key = await stage.start("p")
    await stage.complete_task(key, "decide")
    assert await stage.jobs(instance=key) == []


async def test_a_start_timer_with_a_cycle_starts_one_instance_per_firing(stage: Stage):
    await stage.deploy(process("tick").start(cycle="R3/PT10S").user("look").end())
    for expected in (1, 2, 3, 3):
        await stage.pass_time(10 * SECOND)
        assert sum((await stage.store.count_instances("tick")).values()) == expected


async def test_a_message_reaches_the_instance_that_waits_for_its_key(stage: Stage):
    await stage.deploy(process("p").start().catch("paid", message="paid", key="=orderId").end())
    first = await stage.start("p", {"orderId": "A"})
    second = await stage.start("p", {"orderId": "B"})
    await stage.engine.publish("paid", "B", {"amount": 3})
    await stage.turn()
    assert await stage.status(first) == "active"
    assert await stage.status(second) == "completed"
    assert (await stage.variables(second))["amount"] == 3


async def test_a_message_waits_for_its_subscription_within_its_time_to_live(stage: Stage):
    await stage.deploy(process("p").start().catch("paid", message="paid", key="=orderId").end())
    assert (await stage.engine.publish("paid", "A", ttl_ms=HOUR)).buffered
    assert (await stage.engine.publish("paid", "B", ttl_ms=MINUTE)).buffered
    await stage.pass_time(30 * MINUTE)
    first = await stage.start("p", {"orderId": "A"})
    second = await stage.start("p", {"orderId": "B"})
    assert await stage.status(first) == "completed"
    assert await stage.status(second) == "active"


async def test_a_message_start_event_starts_an_instance(stage: Stage):
    await stage.deploy(process("p").start(message="ordered").user("pack").end())
    await stage.engine.publish("ordered", "", {"what": "tea"})
    await stage.turn()
    (row,) = await stage.store.list_instances(which("p"))
    assert await stage.variables(row.key) == {"what": "tea"}


def which(process_id: str) -> InstanceFilter:
    return InstanceFilter(process_id=process_id)


async def test_a_process_publishes_a_message_that_another_waits_for(stage: Stage):
    await stage.deploy(
        process("seller").start().throw("tell", message="sold", key="=orderId").end(),
        process("buyer").start().catch("told", message="sold", key="=orderId").end(),
    )
    buyer = await stage.start("buyer", {"orderId": "A"})
    seller = await stage.start("seller", {"orderId": "A"})
    assert await stage.status(seller) == "completed"
    assert await stage.status(buyer) == "completed"


async def test_a_signal_reaches_everyone_who_waits(stage: Stage):
    await stage.deploy(process("p").start().catch("alarm", signal="fire").end())
    keys = [await stage.start("p") for _ in range(3)]
    assert sorted(await stage.engine.broadcast("fire")) == keys
    await stage.turn()
    assert [await stage.status(key) for key in keys] == ["completed"] * 3


async def test_a_called_process_runs_and_gives_its_variables_back(stage: Stage):
    @stage.registry.job("add")
    async def add(a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    await stage.deploy(
        process("outer").start().call("inner", process="inner").end(), process("inner").start().service("add").end()
    )
    key = await stage.start("outer", {"a": 2, "b": 3})
    assert await stage.status(key) == "completed"
    assert (await stage.variables(key))["sum"] == 5


async def test_a_missing_called_process_is_an_incident_and_goes_on_once_it_is_deployed(stage: Stage):
    await stage.deploy(process("outer").start().call("inner", process="inner").end())
    key = await stage.start("outer")
    text = await stage.incident(key)
    assert text.startswith("CALLED_ELEMENT_ERROR")
    assert "'inner'" in text
    await stage.deploy(process("inner").start().end())
    await stage.resolve(key)
    assert await stage.status(key) == "completed"


async def test_cancelling_the_caller_ends_the_called_instance(stage: Stage):
    await stage.deploy(
        process("outer").start().call("inner", process="inner").end(), process("inner").start().user("wait").end()
    )
    outer = await stage.start("outer")
    (inner,) = await stage.store.list_instances(which("inner"))
    with pytest.raises(Conflict, match="was called by instance"):
        await stage.engine.command(inner.key, Cancel())
    await stage.engine.command(outer, Cancel())
    await stage.turn()
    assert await stage.status(outer) == await stage.status(inner.key) == "terminated"


async def test_commands_for_what_does_not_exist_are_refused(stage: Stage):
    await stage.deploy(process("p").start().user("wait").end())
    with pytest.raises(NotFound, match="'q'"):
        await stage.engine.start_instance("q")
    with pytest.raises(NotFound, match="instance 12345"):
        await stage.engine.command(12345, Cancel())
    key = await stage.start("p")
    await stage.engine.command(key, Cancel())
    with pytest.raises(Conflict):
        await stage.engine.command(key, Cancel())


async def test_plain_jobs_run_without_a_process(stage: Stage):
    seen: list[str] = []

    @stage.registry.job("mail", queue="mail")
    async def mail(to: str):
        seen.append(to)

    await stage.engine.open()
    keys = await stage.engine.take_keys(2)
    jobs = [
        NewJob(
            key=key, kind=JobKind.TASK, queue="mail", type="mail", args=b'{"to":"%d"}' % number, delay_ms=number * 1000
        )
        for number, key in enumerate(keys)
    ]
    await stage.engine.enqueue(jobs)
    await stage.turn()
    assert seen == ["0"]
    await stage.pass_time(SECOND)
    assert seen == ["0", "1"]
    assert await stage.jobs() == []
