"""Stories of methods: several in a row are one step, retried and committed as one."""

from __future__ import annotations

import asyncio

from procession.core.commands import Cancel, SetVariables
from procession.jobs.kinds import JobState
from procession.testing.bpmn import process
from procession.worker import BpmnError, Fail, Job
from tests.engine.stage import MINUTE, SECOND, Stage


async def test_methods_in_a_row_are_one_step(stage: Stage):
    @stage.registry.method("price")
    def price(items: list[int]) -> dict[str, int]:
        return {"total": sum(items)}

    @stage.registry.method("discount")
    async def discount(total: int) -> dict[str, int]:
        return {"total": total - 1}

    await stage.deploy(process("p").start().task("price").task("discount").end(), methods=("price", "discount"))
    key = await stage.start("p", {"items": [1, 2, 3]})
    assert await stage.status(key) == "completed"
    assert (await stage.variables(key))["total"] == 5
    assert await stage.steps(key) == 2, "the start, and both methods together"


async def test_a_failing_method_fails_the_whole_step_which_runs_again_from_its_first_method(stage: Stage):
    calls: list[str] = []

    @stage.registry.method("first", backoff="10s")
    async def first():
        calls.append("first")

    @stage.registry.method("second", retries=2, backoff="10s")
    async def second():
        calls.append("second")
        if calls.count("second") == 1:
            raise OSError("the line is dead")

    await stage.deploy(process("p").start().task("first").task("second").end(), methods=("first", "second"))
    key = await stage.start("p")
    assert calls == ["first", "second"]
    assert await stage.steps(key) == 1
    (job,) = await stage.jobs(instance=key)
    assert (job.element, job.state) == ("first", JobState.SCHEDULED)
    await stage.pass_time(10 * SECOND)
    assert calls == ["first", "second"] * 2
    assert await stage.status(key) == "completed"


async def test_the_incident_of_a_step_names_the_method_that_failed(stage: Stage):
    @stage.registry.method("first")
    async def first(): ...

    @stage.registry.method("second", retries=2, backoff="1s")
    async def second():
        raise OSError("the line is dead")

    await stage.deploy(process("p").start().task("first").task("second").end(), methods=("first", "second"))
    key = await stage.start("p")
    await stage.pass_time(SECOND)
    text = await stage.incident(key)
    assert "method 'second' of 'second'" in text
    assert "OSError: the line is dead" in text


async def test_a_method_that_fails_for_good_is_not_tried_again(stage: Stage):
    calls: list[int] = []

    @stage.registry.method("check")
    async def check(job: Job):
        calls.append(job.attempt)
        return Fail("there is no such customer")

    await stage.deploy(process("p").start().task("check").end(), methods=("check",))
    key = await stage.start("p")
    await stage.pass_time(MINUTE)
    assert calls == [1]
    assert "there is no such customer" in await stage.incident(key)


async def test_a_bpmn_error_of_the_second_method_is_caught_within_the_step(stage: Stage):
    @stage.registry.method("first")
    async def first():
        return {"a": 1}

    @stage.registry.method("second")
    async def second(a: int):
        return BpmnError("odd", f"{a} is odd")

    model = (
        process("p")
        .start()
        .task("first")
        .task("second")
        .end("fine")
        .boundary("odd", on="second", error="odd")
        .end("caught")
    )
    await stage.deploy(model, methods=("first", "second"))
    key = await stage.start("p")
    assert await stage.status(key) == "completed"
    assert await stage.steps(key) == 2


async def test_a_method_without_code_here_ends_the_step_and_waits_as_a_job(stage: Stage):
    @stage.registry.method("first")
    async def first(): ...

    await stage.deploy(process("p").start().task("first").task("elsewhere").end(), methods=("first", "elsewhere"))
    key = await stage.start("p")
    (job,) = await stage.jobs(instance=key)
    assert (job.type, job.state) == ("elsewhere", JobState.READY)


async def test_methods_of_parallel_branches_are_steps_of_their_own(stage: Stage):
    @stage.registry.method("left")
    async def left():
        return {"left": 1}

    @stage.registry.method("right")
    async def right():
        return {"right": 2}

    model = (
        process("p").start().parallel("fork").task("left").parallel("join").end().at("fork").task("right").to("join")
    )
    await stage.deploy(model, methods=("left", "right"))
    key = await stage.start("p")
    assert await stage.status(key) == "completed"
    assert await stage.variables(key) == {"left": 1, "right": 2}


async def test_another_command_does_not_wait_for_a_running_method_and_its_result_is_decided_again(stage: Stage):
    calls: list[str] = []
    reached, go_on = asyncio.Event(), asyncio.Event()

    @stage.registry.method("first")
    async def first():
        calls.append("first")
        return {"first": True}

    @stage.registry.method("second")
    async def second(first: bool):
        calls.append("second")
        reached.set()
        await go_on.wait()
        return {"second": first}

    await stage.deploy(process("p").start().task("first").task("second").end(), methods=("first", "second"))
    key = await stage.engine.start_instance("p")
    await reached.wait()
    await stage.engine.command(key, SetVariables({"note": "meanwhile"}))
    assert (await stage.variables(key)) == {"note": "meanwhile"}
    go_on.set()
    await stage.turn()
    assert calls == ["first", "second"]
    assert await stage.status(key) == "completed"
    assert await stage.variables(key) == {"note": "meanwhile", "first": True, "second": True}


async def test_a_method_whose_instance_was_cancelled_meanwhile_changes_nothing(stage: Stage):
    reached, go_on = asyncio.Event(), asyncio.Event()

    @stage.registry.method("slow")
    async def slow():
        reached.set()
        await go_on.wait()
        return {"late": True}

    await stage.deploy(process("p").start().task("slow").end(), methods=("slow",))
    key = await stage.engine.start_instance("p")
    await reached.wait()
    await stage.engine.command(key, Cancel())
    go_on.set()
    await stage.turn()
    assert await stage.status(key) == "terminated"
    assert await stage.variables(key) == {}


async def test_a_step_that_another_engine_overtook_is_decided_again_without_calling_its_methods_again(stage: Stage):
    calls: list[str] = []
    reached, go_on = asyncio.Event(), asyncio.Event()

    @stage.registry.method("first")
    async def first():
        calls.append("first")

    @stage.registry.method("second")
    async def second():
        calls.append("second")
        reached.set()
        await go_on.wait()
        return {"done": True}

    await stage.deploy(process("p").start().task("first").task("second").end(), methods=("first", "second"))
    other = stage.add_engine()
    await other.open()
    key = await stage.engine.start_instance("p")
    await reached.wait()
    await other.command(key, SetVariables({"note": "elsewhere"}))
    go_on.set()
    await stage.turn()
    assert calls == ["first", "second"]
    assert stage.engine.counters.stale == 1
    assert await stage.variables(key) == {"note": "elsewhere", "done": True}


async def test_a_step_of_very_many_methods_is_committed_in_pieces(stage: Stage):
    calls: list[int] = []

    @stage.registry.method("count")
    async def count(n: int):
        calls.append(n)
        return {"n": n + 1}

    model = (
        process("p").start().task("count").exclusive("more").when("=n < 250").to("count").at("more").otherwise().end()
    )
    await stage.deploy(model, methods=("count",))
    key = await stage.start("p", {"n": 0})
    assert len(calls) == 250
    assert await stage.status(key) == "completed"
    assert await stage.steps(key) == 1 + 3, "100 + 100 + 50"
