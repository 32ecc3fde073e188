"""A stage for stories: one memory store, engines with workers on it, and a clock that is turned by hand.

After a story ``check_books`` compares everything that was written with everything else: the fold of the history with
the stored state, jobs, subscriptions, incidents and user tasks with what the states hold.
"""

from __future__ import annotations

from typing import Any

import msgspec

from procession.core import check, decode_state, fold
from procession.core.commands import CompleteUserTask, ResolveIncident
from procession.core.events import AnyEvent
from procession.engine import Engine, History, Settings
from procession.jobs.kinds import JobKind, JobState
from procession.store.memory import MemoryStore
from procession.store.rows import InstanceFilter, JobFilter, StoredInstance, StoredJob, UserTaskFilter
from procession.testing.bpmn import ProcessBuilder, resource
from procession.worker import LocalDispatcher, Registry

START = 1_767_225_600_000  # 2026-01-01T00:00:00Z
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000

decode_events = msgspec.json.Decoder(list[AnyEvent]).decode


class Stage:
    """One store, engines, a clock."""

    def __init__(self, store: MemoryStore | None = None, settings: Settings | None = None) -> None:
        self.now = START
        self.store = store or MemoryStore(clock=self.clock)
        self.settings = settings or Settings(history=History.FULL)
        self.registry = Registry()
        self.engines: list[Engine] = []
        self.dispatcher: LocalDispatcher | None = None
        self._engine: Engine | None = None

    def clock(self) -> int:
        return self.now

    @property
    def engine(self) -> Engine:
        """The first engine; made when it is first needed, with the handlers registered until then."""
        if self._engine is None:
            self._engine = self.add_engine(self.registry)
            self.dispatcher = self._engine.dispatcher
        return self._engine

    def add_engine(self, registry: Registry | None = None, **options: Any) -> Engine:
        dispatcher = LocalDispatcher(registry or Registry(), chance=lambda: 0.0)
        options.setdefault("settings", self.settings)
        engine = Engine(self.store, dispatcher=dispatcher, clock=self.clock, chance=lambda: 0.0, **options)
        dispatcher.attach(engine)
        self.engines.append(engine)
        return engine

    # -- what a story does --------------------------------------------------------------------------------------------
    async def deploy(self, *processes: ProcessBuilder, methods: tuple[str, ...] = ()) -> None:
        await self.engine.open()
        await self.engine.deploy([("test.bpmn", resource(*processes))], methods=methods)

    async def start(self, process_id: str, variables: dict[str, Any] | None = None, **options: Any) -> int:
        await self.engine.open()
        key = await self.engine.start_instance(process_id, variables, **options)
        await self.turn()
        return key

    async def turn(self) -> None:
        """Everything that is due, on every engine."""
        for engine in self.engines:
            await engine.run_until_idle()

    async def pass_time(self, ms: int) -> None:
        self.now += ms
        await self.turn()

    async def complete_task(self, instance: int, element: str, variables: dict[str, Any] | None = None) -> None:
        (task,) = [
            task
            for task in await self.store.list_user_tasks(UserTaskFilter(instance=instance))
            if task.element == element
        ]
        await self.engine.command(instance, CompleteUserTask(task.key, variables or {}))
        await self.turn()

    async def resolve(self, instance: int, retries: int = 1) -> None:
        (incident,) = await self.store.list_incidents(instance=instance)
        await self.engine.command(instance, ResolveIncident(incident.key, retries))
        await self.turn()

    async def stop(self) -> None:
        for engine in self.engines:
            await engine.stop()

    # -- what a story looks at ----------------------------------------------------------------------------------------
    async def instance(self, key: int) -> StoredInstance:
        (row,) = await self.store.load([key])
        return row

    async def status(self, key: int) -> str:
        return ["active", "completed", "terminated", "suspended"][(await self.instance(key)).status]

    async def variables(self, key: int) -> dict[str, Any]:
        return msgspec.json.decode((await self.instance(key)).variables)

    async def jobs(self, **which: Any) -> list[StoredJob]:
        return await self.store.list_jobs(JobFilter(**which, limit=1000))

    async def events(self, key: int) -> list[AnyEvent]:
        return [event for row in await self.store.history(key) for event in decode_events(row.events)]

    async def steps(self, key: int) -> int:
        return len(await self.store.history(key))

    async def incident(self, key: int) -> str:
        (incident,) = await self.store.list_incidents(instance=key)
        return f"{incident.kind}: {incident.message}"

    # -- the books --------------------------------------------------------------------------------------------------
    async def check_books(self) -> None:
        """Everything that is stored agrees with everything else."""
        rows = await self.store.list_instances(InstanceFilter(limit=1000))
        stored = await self.store.load([row.key for row in rows])
        for row in stored:
            if row.rev > 0:
                await self.engine.definitions.ensure([row.definition])
                await self._check_instance(row)
        known = {row.key for row in stored}
        assert all(
            job.instance in known or not job.instance or job.kind == JobKind.FOLLOW_UP for job in await self.jobs()
        )

    async def _check_instance(self, row: StoredInstance) -> None:
        state = decode_state(row.state, msgspec.json.decode(row.variables))
        check(self.engine.definitions.get(row.definition), state)
        if self.settings.history == History.FULL:
            folded = fold(await self.events(row.key))
            assert folded.nodes == state.nodes
            assert folded.variables == state.variables
            assert folded.status == state.status == row.status
        jobs = {job.key: job for job in await self.jobs(instance=row.key) if job.kind != JobKind.FOLLOW_UP}
        timers = {wait.key for node in state.nodes.values() for wait in node.waits or () if wait.due}
        held = {key for key, owner in state.jobs.items() if state.nodes[owner].job == key}
        assert set(jobs) == held | timers, f"jobs of instance {row.key}"
        assert all(job.state != JobState.FAILED or state.incidents for job in jobs.values())
        subscriptions = await self.store.list_subscriptions(instance=row.key)
        assert {subscription.key for subscription in subscriptions} <= set(state.waits) - timers
        assert {incident.key for incident in await self.store.list_incidents(instance=row.key)} == set(state.incidents)
        tasks = {task.key for task in await self.store.list_user_tasks(UserTaskFilter(instance=row.key))}
        assert tasks == {node.user_task for node in state.nodes.values() if node.user_task}
