"""Stories of a cluster: dead processes, leaders, timers that one sets and another fires. The clock is turned."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from procession.core.commands import CompleteJob, Send, StartInstance
from procession.engine import Engine, History, Settings
from procession.errors import Conflict
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobKind, JobState
from procession.store.rows import NewJob, StoredInstance, UserTaskFilter
from procession.testing.bpmn import process
from procession.worker import Registry
from tests.engine.stage import HOUR, SECOND, Stage

WORK = process("p").start().service("work").end()


async def dead_engine(stage: Stage, registry: Registry) -> Engine:
    """An engine that is killed later: nobody stops it, nobody lets it beat."""
    engine = stage.add_engine(registry)
    stage.engines.remove(engine)
    await engine.open()
    return engine


async def kill(engine: Engine) -> None:
    """Take its tasks away without a word to the store."""
    for task in [task for task in asyncio.all_tasks() if task.get_name().startswith("procession $job")]:
        task.cancel()
    engine.outcomes.fenced = engine._commit.fenced = True
    await asyncio.sleep(0)


async def test_the_work_of_a_dead_process_is_given_back_and_done_by_another(stage: Stage):
    """Scenario 112."""
    await stage.deploy(WORK)
    registry = Registry()
    began = asyncio.Event()

    @registry.job("work")
    async def hang():
        began.set()
        await asyncio.Event().wait()

    doomed = await dead_engine(stage, registry)
    key = await doomed.start_instance("p")
    await began.wait()
    (job,) = await stage.jobs(instance=key)
    assert (job.state, job.owner) == (JobState.RUNNING, doomed.node)
    await kill(doomed)

    stage.now += 5 * SECOND
    assert await stage.engine._duties.rescue_once() == 0, "it may still be alive"
    stage.now += 6 * SECOND
    await stage.store.beat(stage.engine.node)
    assert await stage.engine._duties.rescue_once() == 1
    ran: list[int] = []
    healthy = Registry()

    @healthy.job("work")
    async def work():
        ran.append(1)

    stage.add_engine(healthy)
    await stage.turn()
    assert ran == [1]
    assert await stage.status(key) == "completed"


async def test_the_late_answer_of_a_process_that_was_declared_dead_changes_nothing(stage: Stage):
    """Scenario 113."""
    await stage.deploy(process("p").start().service("work").user("wait").end())
    registry = Registry()
    began = asyncio.Event()

    @registry.job("work")
    async def hang():
        began.set()
        await asyncio.Event().wait()

    doomed = await dead_engine(stage, registry)
    key = await doomed.start_instance("p")
    await began.wait()
    (job,) = await stage.jobs(instance=key)
    await kill(doomed)
    doomed._commit.fenced = False  # it never noticed
    stage.now += 11 * SECOND
    await stage.store.beat(stage.engine.node)
    await stage.engine._duties.rescue_once()
    with pytest.raises(Conflict, match=f"job {job.key} under lease {job.lease}"):
        await doomed.command(key, CompleteJob(job.key, {"late": True}), fences={job.key: job.lease})
    assert await stage.variables(key) == {}
    assert [job.state for job in await stage.jobs(instance=key)] == [JobState.READY]


async def test_a_job_that_kills_its_process_again_and_again_ends_as_an_incident(stage: Stage):
    """Scenario 112."""
    stage.settings = Settings(history=History.FULL, crash_budget=2, crash_backoff_ms=1000)
    await stage.deploy(WORK)
    key = await stage.start("p")
    for _ in range(3):
        registry = Registry()
        began = asyncio.Event()

        @registry.job("work")
        async def crash(began: asyncio.Event = began):
            began.set()
            await asyncio.Event().wait()

        doomed = await dead_engine(stage, registry)
        await doomed._duties.promote_once()
        if not await doomed._claims.once():
            break
        await began.wait()
        await kill(doomed)
        stage.now += 11 * SECOND
        await stage.store.beat(stage.engine.node)
        await stage.engine._duties.rescue_once()
        stage.now += 2 * SECOND
        await stage.store.beat(stage.engine.node)
    await stage.engine._come_to_rest()
    assert "crash budget" in await stage.incident(key)
    (job,) = await stage.jobs(instance=key)
    assert job.state == JobState.FAILED


async def test_one_process_leads_until_its_term_is_over(stage: Stage):
    await stage.engine.open()
    other = stage.add_engine()
    await other.open()
    await stage.engine._duties._lead_once()
    await other._duties._lead_once()
    first = stage.engine._duties.term
    assert first > 0
    assert other._duties.term == 0
    stage.now += 11 * SECOND
    await other._duties._lead_once()
    assert other._duties.term > first
    await stage.engine._duties._lead_once()
    assert stage.engine._duties.term == 0


async def test_only_the_leader_promotes_and_sleeps_no_longer_than_the_next_timer(stage: Stage):
    await stage.deploy(process("p").start().catch("wait", timer="PT0.3S").end())
    other = stage.add_engine()
    await other.open()
    await stage.engine._duties._lead_once()
    key = await stage.engine.start_instance("p")
    assert await other._duties._promote_round() == 1.0
    assert await stage.engine._duties._promote_round() == pytest.approx(0.3)
    stage.now += 300
    await stage.engine._duties._promote_round()
    assert [job.state for job in await stage.jobs(instance=key)] == [JobState.READY]


async def test_a_timer_set_by_one_process_is_announced_to_the_leader(stage: Stage):
    await stage.deploy(process("p").start().catch("wait", timer="PT0.3S").end())
    other = stage.add_engine()
    await other.open()
    heard: list[str] = []
    await stage.store.listen(heard.append)
    await stage.engine._duties._lead_once()
    await other.start_instance("p")
    await stage.engine.start_instance("p")
    await asyncio.sleep(0)
    assert heard == ["$timer"], "the leader's own timer needs no word"


async def test_messages_are_deleted_when_their_time_to_live_is_over(stage: Stage):
    await stage.engine.open()
    await stage.engine.publish("paid", "A", ttl_ms=HOUR)
    await stage.pass_time(HOUR - 1)
    assert len(await stage.store.list_messages()) == 1
    await stage.pass_time(1)
    assert await stage.store.list_messages() == []


async def test_an_instance_that_a_callers_transaction_asked_for_is_started(stage: Stage):
    """What ``connection=`` leaves in the database: the instance at revision 0 and the follow-up that starts it."""
    await stage.deploy(process("p").start().user("wait").end())
    await stage.engine.open()
    definition = await stage.engine.definitions.find("p")
    instance, job = await stage.engine.take_keys(2)
    await ask_for_instance(stage, instance, job, definition.key)
    await stage.turn()
    row = await stage.instance(instance)
    assert (row.rev, row.business_id, await stage.variables(instance)) == (1, "B-1", {"a": 1})
    assert [task.element for task in await stage.store.list_user_tasks(UserTaskFilter(instance=instance))] == ["wait"]


async def ask_for_instance(stage: Stage, instance: int, job: int, definition: int) -> None:
    """The rows that the statements of ``Store.start_request`` write."""
    command = StartInstance(instance=instance, variables={"a": 1}, business_id="B-1")
    stage.store._tables.instances[instance] = StoredInstance(
        key=instance,
        rev=0,
        definition=definition,
        process_id="p",
        status=0,
        state=b"",
        variables=b"{}",
        business_id="B-1",
    )
    args = msgspec.json.encode(Send(instance, command))
    row = NewJob(key=job, kind=JobKind.FOLLOW_UP, queue=FOLLOW_UP_QUEUE, type="Send", instance=instance, args=args)
    await stage.store.enqueue([row])
