"""The world of the stories on the engine and a real store: the verbs and the observations of ``CoreWorld``.

    world = StoreWorld("sqlite:///story.db")
    world.deploy(process("order").start().service("pay").end())
    order = world.start("order", {"total": 12})
    order.complete("pay")
    assert order.ended
    world.close()

Commands go through ``Engine``, the follow-ups and timers through the job table, and what a story does as a worker is
done under a lease that was claimed. After every verb the engine comes to rest and the books are checked: the fold of
the history is the stored state, and every row stands for something in a state. Nobody but this turns the clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import msgspec

from procession.app.wiring import store_factory
from procession.core import check, decode_state, encode_state, fold
from procession.core.commands import AnyCommand, CompleteJob, FailJob, FireTimer, ThrowError
from procession.core.events import AnyEvent, JobCreated
from procession.engine import Engine, History, Settings
from procession.errors import Conflict, NotFound
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.limits import PAGE_MAX
from procession.model.definition import Definition
from procession.store.rows import (
    HistoryRow,
    InstanceFilter,
    JobEnd,
    JobFilter,
    JobOutcome,
    StoredInstance,
    StoredJob,
    Want,
)
from procession.testing.books import check_books
from procession.testing.bpmn import ProcessBuilder, resource
from procession.testing.core import DAY_ONE, CoreRun

Result = TypeVar("Result")

CLAIM_MAX = 1_000  # what the story's worker leases of a queue at once

_decode_events = msgspec.json.Decoder(list[AnyEvent]).decode


class StoreRun(CoreRun):
    """One instance of a world, as the store has it after the last verb."""

    def __init__(self, world: StoreWorld, definition: Definition, instance: int) -> None:
        super().__init__(definition, instance=instance, keys=Keys(range(1, 1)))  # it makes no keys of its own
        self.world = world
        self.revision = 0
        self.position = 0  # of the last row of its history that was read

    def send(self, command: AnyCommand) -> Self:
        """Give a command to the engine; everything that follows from it happens."""
        self.world.command(self.instance, command)
        return self

    def migrate(self, target: Definition, mapping: Mapping[str, str] | None = None) -> Self:
        """Go on under another definition."""
        self.world.migrate(self.instance, target, mapping or {})
        return self

    def advance(self, milliseconds: int) -> Self:
        """Turn the world's clock."""
        self.world.advance(milliseconds)
        return self

    def fire(self, element_id: str) -> Self:
        """The oldest timer of a catching element is due: turn the world's clock to its instant."""
        index = self.definition.index_of[element_id]
        wait = next(wait for _, wait in self.waits() if wait.element == index and wait.due)
        self.world.now = max(self.world.now, wait.due)
        return self.send(FireTimer(wait.key))

    def try_again(self, element_id: str, *, after: int) -> Self:
        """A worker's attempt at the oldest job of an element failed; the next is due ``after`` so many milliseconds."""
        self.world.try_again(self.instance, self.job(element_id).key, after)
        return self

    def row(self, element_id: str) -> StoredJob:
        """The row of the oldest open job of an element."""
        return self.world.job_row(self.instance, self.job(element_id).key)

    def called(self, element_id: str) -> StoreRun:
        """The instance that a call activity called and waits for."""
        return self.world.instances[self.node(element_id).called]

    def read(self, row: StoredInstance, definition: Definition, history: list[HistoryRow]) -> None:
        """What is stored: it keeps the rules, and the history leads to it."""
        self.definition, self.revision, self.now = definition, row.rev, self.world.now
        state = decode_state(row.state, msgspec.json.decode(row.variables))
        check(definition, state)
        self.last = [event for step in history for event in _decode_events(step.events)]
        self.position = history[-1].position if history else self.position
        self.events += self.last
        self._jobs.update({event.key: event for event in self.last if isinstance(event, JobCreated)})
        self._folded = fold(self.last, self._folded)
        told = decode_state(encode_state(self._folded), self._folded.variables)  # no caches
        assert told == state, "the history leads to another state than the stored"
        assert row.status == state.status
        assert (row.parent, row.parent_element_instance) == (state.parent, state.parent_element_instance)
        self.state = state


class StoreWorld:
    """Definitions, instances, messages and the clock, all in a store."""

    def __init__(self, url: str, *, now: int = DAY_ONE, migrate: bool = True) -> None:
        self.now = now
        self.instances: dict[int, StoreRun] = {}
        self.store = store_factory(url, clock=lambda: self.now)()
        self.engine = self._make_engine()
        self._client = self._make_engine()  # another process, which only gives commands: nothing follows by itself
        self._runner = asyncio.Runner()
        self._held = False
        self.by_another = False  # whether commands come from another process than the one that carries out the rest
        self._leases: dict[int, int] = {}
        self._worker = self._do(self._open(migrate=migrate))

    def close(self) -> None:
        """Stop the engine and close the store."""
        self._do(self._close())
        self._runner.close()

    # -- commands -------------------------------------------------------------------------------------------------
    def deploy(self, *models: ProcessBuilder | bytes, methods: tuple[str, ...] = (), tenant: str = "") -> None:
        """Deploy processes together: each becomes the latest version of its id, unless that has the same bytes."""
        contents = [model for model in models if isinstance(model, bytes)]
        builders = [model for model in models if isinstance(model, ProcessBuilder)]
        if builders:
            contents.append(resource(*builders))
        files = [(f"{number}.bpmn", content) for number, content in enumerate(contents, 1)]
        self._do(self._asked.deploy(files, methods=methods, tenant=tenant))

    def start(
        self,
        process_id: str,
        variables: dict[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - whatever Engine.start_instance takes
    ) -> StoreRun:
        """Start an instance of the latest version."""
        key = self._do(self._asked.start_instance(process_id, variables, **options))
        self.settle()
        return self.instances[key]

    def start_by_conditions(self, process_id: str, variables: dict[str, Any] | None = None) -> list[StoreRun]:
        """Start an instance of the latest version at each conditional start event that holds."""
        keys = self._do(self._asked.start_by_conditions(process_id, variables))
        self.settle()
        return [self.instances[key] for key in keys]

    def publish(
        self,
        name: str,
        key: str = "",
        variables: dict[str, Any] | None = None,
        *,
        ttl_ms: int = 0,
        message_id: str = "",
        buffer: bool = True,
        tenant: str = "",
    ) -> int:
        """Publish a message; who took it, or 0. Raises Conflict for a message id that was published already."""
        options: dict[str, Any] = {"ttl_ms": ttl_ms, "message_id": message_id, "buffer": buffer, "tenant": tenant}
        published = self._do(self._asked.publish(name, key, variables, **options))
        self.settle()
        if published.duplicate:
            message = f"A message '{name}' with the id '{message_id}' was published already"
            raise Conflict(message)
        return published.instances[0] if published.instances else 0

    def correlate(self, name: str, key: str = "", variables: dict[str, Any] | None = None) -> int:
        """Correlate a message now or not at all. Raises NotFound."""
        taker = self.publish(name, key, variables, buffer=False)
        if not taker:
            message = f"Nothing waits for the message '{name}' with the key '{key}'"
            raise NotFound(message)
        return taker

    def broadcast(self, name: str, variables: dict[str, Any] | None = None, *, tenant: str = "") -> None:
        """Broadcast a signal: to everything that waits for it now, and the start events of latest versions."""
        self._do(self._asked.broadcast(name, variables, tenant=tenant))
        self.settle()

    def advance(self, milliseconds: int) -> None:
        """Turn the clock, firing every timer at its instant, in order."""
        until = self.now + milliseconds
        while (due := self._do(self._next_due())) and due <= until:
            self.now = max(self.now, due)
            self.settle()
        self.now = until
        self.settle()

    def command(self, instance: int, command: AnyCommand) -> None:
        """Give a command to an instance; one about a job comes from a worker that holds its lease."""
        self._do(self._command(instance, command))
        self.settle()

    def migrate(self, instance: int, target: Definition, mapping: Mapping[str, str]) -> None:
        """Let an instance go on under another definition."""
        self._do(self._asked.migrate_instance(instance, target.key, mapping))
        self.settle()

    def try_again(self, instance: int, job: int, after: int) -> None:
        """An attempt at a job failed: another one is due later."""
        self._do(self._try_again(instance, job, after))
        self.settle()

    def restart(self, *, after: int = 0) -> None:
        """Stop the engines; others begin on the same data, ``after`` so many milliseconds."""
        self._do(self._stop_engines())
        self.now += after
        self.engine, self._client = self._make_engine(), self._make_engine()
        self._do(self._open_engines())
        self.settle()

    @contextmanager
    def held(self) -> Generator[None]:
        """Carry out nothing between commands, so that several fall in one moment."""
        self._held = True
        yield
        self._held = False
        self.settle()

    def settle(self) -> None:
        """Let the engine do everything that is due; read and check what is stored."""
        if self._held:
            self.now += 1  # what follows is carried out in the order of the commands
        else:
            self._do(self.engine.run_until_idle())
        self._do(self._read())

    # -- what is to be seen ---------------------------------------------------------------------------------------
    def latest(self, process_id: str) -> Definition:
        """The latest version of a process. Raises NotFound."""
        return self._do(self.engine.definitions.find(process_id))

    def runs(self, process_id: str) -> list[StoreRun]:
        """The instances of a process, oldest first."""
        return [run for run in self.instances.values() if run.definition.process_id == process_id]

    def buffered(self) -> list[str]:
        """Names of the messages that wait, oldest first."""
        return [message.name for message in self._do(self.store.list_messages(limit=PAGE_MAX))]

    def job_row(self, instance: int, job: int) -> StoredJob:
        """A job as the store has it."""
        return self._do(self._job(instance, job))

    # -- internal -------------------------------------------------------------------------------------------------
    def _make_engine(self) -> Engine:
        settings = Settings(history=History.FULL)
        return Engine(self.store, settings=settings, clock=lambda: self.now, chance=lambda: 0.0)

    @property
    def _asked(self) -> Engine:
        """The engine that commands are given to now."""
        return self._client if self._held or self.by_another else self.engine

    def _do(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(work)

    async def _open(self, *, migrate: bool) -> int:
        """Open everything; the node number of the story's worker."""
        if migrate:
            await self.store.migrate()
        await self.store.open()
        await self._open_engines()
        return await self.store.register("worker of the story", b"{}")

    async def _close(self) -> None:
        await self._stop_engines()
        await self.store.close()

    async def _open_engines(self) -> None:
        await self.engine.open()
        await self._client.open(works=False)

    async def _stop_engines(self) -> None:
        await self._client.stop()
        await self.engine.stop()

    async def _try_again(self, instance: int, key: int, after: int) -> None:
        lease = await self._lease(instance, key)
        outcome = JobOutcome(key=key, lease=lease, end=JobEnd.RETRY, delay_ms=after, error="it broke")
        (applied,) = await self.store.finish([outcome])
        assert applied, f"job {key} is not held by the worker of the story"

    async def _job(self, instance: int, key: int) -> StoredJob:
        jobs = await self.store.list_jobs(JobFilter(instance=instance, limit=PAGE_MAX))
        return next(job for job in jobs if job.key == key)

    async def _command(self, instance: int, command: AnyCommand) -> None:
        fences: dict[int, int] | None = None
        if isinstance(command, CompleteJob | FailJob | ThrowError):
            lease = await self._lease(instance, command.job)
            fences = {command.job: lease} if lease else None
        await self._asked.command(instance, command, fences=fences)

    async def _lease(self, instance: int, key: int) -> int:
        """The lease of a job, claimed where it is ready; 0 where it is not to be had."""
        jobs = await self.store.list_jobs(JobFilter(instance=instance, limit=PAGE_MAX))
        found = next((job for job in jobs if job.key == key), None)
        if found is None or found.state not in {JobState.READY, JobState.RUNNING}:
            return 0
        if found.state == JobState.READY:
            claimed = await self.store.claim(self._worker, [Want(queue=found.queue, count=CLAIM_MAX)])
            self._leases |= {job.key: job.lease for job in claimed}
        return self._leases.get(key, 0)

    async def _next_due(self) -> int:
        """The instant of the next timer, 0 if there is none."""
        jobs = await self.store.list_jobs(JobFilter(state=JobState.SCHEDULED, limit=PAGE_MAX))
        return min((job.run_at for job in jobs), default=0)

    async def _read(self) -> None:
        """Read what has changed, and check that all rows agree."""
        page = InstanceFilter(limit=PAGE_MAX)
        listed = sorted(await self.store.list_instances(page), key=lambda row: row.key)
        changed = [row.key for row in listed if row.rev > 0 and self._revision(row.key) != row.rev]
        for row in sorted(await self.store.load(changed), key=lambda row: row.key) if changed else []:
            definition = await self.engine.definitions.obtain(row.definition)
            run = self.instances.setdefault(row.key, StoreRun(self, definition, row.key))
            run.read(row, definition, await self._history(row.key, run.position))
        if not self._held:
            await check_books(self.store, {run.instance: run.now_state for run in self.instances.values()})

    def _revision(self, instance: int) -> int:
        run = self.instances.get(instance)
        return run.revision if run is not None else 0

    async def _history(self, instance: int, after: int) -> list[HistoryRow]:
        found: list[HistoryRow] = []
        while page := await self.store.history(instance, after=after, limit=PAGE_MAX):
            found += page
            after = page[-1].position
            if len(page) < PAGE_MAX:
                break
        return found


__all__ = ["StoreRun", "StoreWorld"]
