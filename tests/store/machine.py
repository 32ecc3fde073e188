"""A machine that does the same to two stores and expects the same answers and the same rows. The memory store is right.

Bounds are never reached: which rows a bounded duty takes first is the business of each store. Keys come out alike
because both stores number their own rows from the same counter in the same order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.store.memory import MemoryStore
from procession.store.port import Store
from procession.store.rows import (
    InstanceFilter,
    JobChange,
    JobEnd,
    JobFence,
    JobFilter,
    JobOutcome,
    NewJob,
    NewMessage,
    Row,
    Step,
    StepOutcome,
    StepResult,
    UserTaskChange,
    UserTaskFilter,
    Want,
)
from procession.testing.conformance import ManualClock
from procession.testing.conformance.listing import incident_of, user_task_of
from procession.testing.conformance.stage import (
    MESSAGE,
    SIGNAL,
    definition,
    deploy,
    message,
    new_job,
    service_job,
    waiting_for,
)
from tests.store.oracle import Counted

PROCESSES = st.sampled_from(["order", "order", "invoice"])
NAMES = st.sampled_from(["paid", "paid", "paid", "shipped"])
CORRELATION_KEYS = st.sampled_from(["A-17", "A-17", "A-17", ""])
TENANTS = st.sampled_from(["", "", "", "", "", "acme"])
PICK = st.integers(0, 7)
FEW = st.integers(0, 3)
TEXTS = st.sampled_from(["x"] * 12 + ["Ω 🦊", "a\0b", "\ud800", "n" * 300])


class OwnKeys(Keys):
    """Follow-up keys from the store's own counter, as a store whose transactions run on a thread takes them."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__()
        self._store = store

    def take(self) -> int:
        """The next key of the counter."""
        return self._store._tables.take_key()


async def dump(store: Store) -> dict[str, Any]:
    """Everything that listings show."""
    instances = await store.list_instances(InstanceFilter(limit=1_000))
    keys = [each.key for each in instances]
    return {
        "definitions": await store.list_definitions(),
        "instances": instances,
        "whole": sorted(await store.load(keys), key=lambda each: each.key),
        "jobs": await store.list_jobs(JobFilter(limit=1_000)),
        "messages": await store.list_messages(limit=1_000),
        "subscriptions": await store.list_subscriptions(),
        "incidents": await store.list_incidents(limit=1_000),
        "user_tasks": await store.list_user_tasks(UserTaskFilter(limit=1_000)),
        "nodes": await store.list_nodes(),
        "history": {key: await store.history(key) for key in keys},
        "counts": (await store.count_instances(), await store.count_jobs()),
    }


def comparable(answer: Any) -> Any:
    """An answer with its JSON read, which may be kept in another form, and without positions, which may have gaps."""
    if isinstance(answer, Row):
        fields = msgspec.structs.asdict(answer)
        fields.pop("position", None)
        if isinstance(answer, StepResult):
            fields["error"] = bool(answer.error)  # a database has its own words for what it refuses
        for name in ("variables", "args", "details"):
            if fields.get(name):
                fields[name] = msgspec.json.decode(fields[name])
        return type(answer).__name__, fields
    if isinstance(answer, list):
        return [comparable(each) for each in answer]
    if isinstance(answer, dict):
        return {key: comparable(value) for key, value in answer.items()}
    return answer


class TwoStores(Counted):
    """Time and nodes. Subclasses add what else is asked, and say which store is compared (``open_other``)."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.memory = MemoryStore(clock=self.clock)
        self.memory_keys: Keys = OwnKeys(self.memory)
        self.other_keys: Keys = Keys()
        self.other = self.open_other()
        self.keys = Keys(range(1_000, 1_000_000))  # of the rows that the machine makes
        self.revs: dict[int, Step] = {}  # the last applied step of each instance
        self.leases: list[tuple[int, int]] = []  # claimed jobs, held or not any more
        self.messages: list[tuple[NewMessage, int]] = []  # with the end of their time
        self.nodes: list[int] = []
        self.terms: dict[int, int] = {0: 0}

    def open_other(self) -> Store:
        """An empty store on ``self.clock``."""
        raise NotImplementedError

    def teardown(self) -> None:
        self.runner.run(self.other.close())
        self.runner.close()

    def both(self, ask: Callable[[Store, Keys], Coroutine[Any, Any, Any]]) -> Any:
        """Ask both stores; their common answer, or the common refusal."""
        answers: list[Any] = []
        for store, keys in ((self.memory, self.memory_keys), (self.other, self.other_keys)):
            try:
                answers.append(self.runner.run(ask(store, keys)))
            except InvalidValue as error:
                answers.append((InvalidValue, str(error)))
        expected, found = map(comparable, answers)
        assert found == expected, f"expected {expected}\nfound {found}"
        return answers[0]

    @invariant()
    def the_rows_are_the_same(self) -> None:
        expected, found = (comparable(self.runner.run(dump(store))) for store in (self.memory, self.other))
        for table, rows in expected.items():
            assert found[table] == rows, f"{table}:\nexpected {rows}\nfound {found[table]}"

    # -- time and nodes -------------------------------------------------------------------------------------------
    @initialize()
    def two_nodes(self) -> None:
        self.nodes = [self.both(lambda store, _: store.register("early", b"{}")) for _ in range(2)]

    @rule(milliseconds=st.sampled_from([1, 5, 50, 20_000]))
    def time_passes(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)

    @rule(pick=PICK)
    def beat(self, pick: int) -> None:
        self.both(lambda store, _: store.beat(self.nodes[pick % len(self.nodes)]))

    @rule(pick=PICK)
    def leave(self, pick: int) -> None:
        self.both(lambda store, _: store.leave(self.nodes[pick % len(self.nodes)]))
        self.nodes.append(self.both(lambda store, _: store.register("late", b"{}")))

    @rule(pick=PICK)
    def lead(self, pick: int) -> None:
        node = self.nodes[pick % len(self.nodes)]
        expected, found = (self.runner.run(store.lead(node, 10)) for store in (self.memory, self.other))
        assert bool(found) == bool(expected)
        self.terms[expected] = found
        assert list(self.terms.values()) == sorted(set(self.terms.values()))  # alike but for gaps

    @rule(budget=FEW)
    def rescue(self, budget: int) -> None:
        self.both(lambda store, _: store.rescue(10_000, 100, crash_budget=budget, backoff_ms=5))

    def remember_jobs(self, jobs: list[NewJob]) -> None:
        """Jobs that were inserted, some of them leased."""
        self.leases += [(job.key, 1) for job in jobs if job.owner]


class Jobs(TwoStores):
    """Jobs and their runs."""

    @rule(
        queue=st.sampled_from(["a", "b"]),
        count=st.integers(1, 4),
        priority=st.integers(-1, 1),
        delay_ms=st.sampled_from([0, 0, 5]),
        owned=st.booleans(),
        retries=st.sampled_from([0, 1, 3]),
        text=TEXTS,
    )
    def enqueue(
        self, queue: str, count: int, priority: int, delay_ms: int, owned: bool, retries: int, text: str
    ) -> None:
        more = {"queue": queue, "priority": priority, "delay_ms": delay_ms, "retries": retries, "type": text}
        jobs = [new_job(self.keys, owner=self.nodes[-1] if owned else 0, **more) for _ in range(count)]
        if self.both(lambda store, _: store.enqueue(jobs)) is None:
            self.remember_jobs(jobs)

    @rule(pick=PICK, counts=st.lists(FEW, min_size=4, max_size=4))
    def claim(self, pick: int, counts: list[int]) -> None:
        queues = ("a", "b", "$follow-up", "$timer")
        wants = [Want(queue=queue, count=count) for queue, count in zip(queues, counts, strict=True)]
        node = self.nodes[pick % len(self.nodes)]

        async def ask(store: Store, _: Keys) -> Any:
            return sorted(await store.claim(node, wants), key=lambda job: job.queue)  # queues in any order

        claimed = self.both(ask)
        self.leases += [(job.key, job.lease) for job in claimed]

    @precondition(lambda self: self.leases)
    @rule(
        ends=st.lists(
            st.tuples(PICK, st.sampled_from(JobEnd), st.sampled_from([0, 5]), st.integers(-1, 2)),
            min_size=1,
            max_size=4,
        ),
        error=TEXTS,
    )
    def finish(self, ends: list[tuple[int, JobEnd, int, int]], error: str) -> None:
        outcomes: list[JobOutcome] = []
        for pick, end, delay_ms, retries in ends:
            key, lease = self.leases[-1 - pick % len(self.leases)]
            if key not in [each.key for each in outcomes]:
                outcomes.append(
                    JobOutcome(key=key, lease=lease, end=end, delay_ms=delay_ms, retries=retries, error=error)
                )
        self.both(lambda store, _: store.finish(outcomes))

    @rule()
    def promote(self) -> None:
        self.both(lambda store, _: store.promote(100))


class Steps(TwoStores):
    """Instances and their steps."""

    @rule(
        process_id=PROCESSES,
        tenant=TENANTS,
        text=TEXTS,
        start_channel=st.sampled_from(["", "", "A-17"]),
        parts=st.data(),
    )
    def start(self, process_id: str, tenant: str, text: str, start_channel: str, parts: st.DataObject) -> None:
        step = Step(
            instance=self.keys.take(),
            rev=-1,
            definition=7,
            process_id=process_id,
            status=0,
            state=b"\x80",
            variables=b'{"a":1}',
            events=b"[[1]]",
            business_id=text,
            tenant=tenant,
            start_channel=start_channel,
        )
        self._fill(step, tenant, parts)
        self._commit([step])

    @precondition(lambda self: self.revs)
    @rule(
        picks=st.lists(PICK, min_size=1, max_size=3),
        late=st.booleans(),
        status=st.sampled_from([0, 0, 1, 3]),
        release=st.booleans(),
        parts=st.data(),
    )
    def step(self, picks: list[int], late: bool, status: int, release: bool, parts: st.DataObject) -> None:
        steps: dict[int, Step] = {}
        for pick in picks:
            before = list(self.revs.values())[-1 - pick % len(self.revs)]
            step = Step(
                instance=before.instance,
                rev=max(before.rev, 0) + (0 if late else 1),
                definition=7,
                process_id=before.process_id,
                status=status,
                state=b"\x81",
                variables=b'{"b":2}' if release else None,
                events=b"[[2]]",
                release_channel="A-17" if release else "",
            )
            self._fill(step, before.tenant, parts)
            steps[step.instance] = step
        self._commit(list(steps.values()))

    def _fill(self, step: Step, tenant: str, parts: st.DataObject) -> None:
        """Give a step some of what steps have."""
        draw, keys = parts.draw, self.keys
        for _ in range(draw(FEW)):
            step.new_jobs.append(
                service_job(keys, step, queue="a", tenant=tenant, owner=draw(st.sampled_from([0, self.nodes[-1]])))
            )
        for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
            opened = waiting_for(
                keys,
                step,
                draw(NAMES),
                trigger=draw(st.sampled_from([MESSAGE, MESSAGE, SIGNAL])),
                correlation_key=draw(CORRELATION_KEYS),
                once=draw(st.booleans()),
                tenant=tenant,
            )
            step.new_subscriptions = [*step.new_subscriptions, opened]
        if draw(st.booleans()):
            step.new_incidents = [incident_of(keys, step, message=draw(TEXTS))]
            step.new_user_tasks = [user_task_of(keys, step, assignee=draw(TEXTS), candidate_groups=["sales"])]
        if step.rev >= 0:
            self._close_some(step, parts)

    def _close_some(self, step: Step, parts: st.DataObject) -> None:
        draw = parts.draw
        rows = self.runner.run(dump(self.memory))
        jobs = [each for each in rows["jobs"] if each.instance == step.instance]
        if jobs and draw(st.booleans()):
            job = jobs[draw(PICK) % len(jobs)]
            lease = draw(st.sampled_from([0, job.lease, 9]))
            if draw(st.booleans()):
                step.closed_jobs = [JobFence(key=job.key, lease=lease)]
            else:
                state = draw(st.sampled_from([JobState.READY, JobState.FAILED, JobState.SUSPENDED]))
                retries = draw(st.integers(-1, 3))
                step.changed_jobs = [
                    JobChange(key=job.key, state=state, lease=lease, retries=retries, error=draw(TEXTS))
                ]
        if rows["subscriptions"] and draw(st.booleans()):
            step.closed_subscriptions = [each.key for each in rows["subscriptions"] if each.instance == step.instance]
        if draw(st.booleans()):
            step.closed_incidents = [each.key for each in rows["incidents"] if each.instance == step.instance]
        tasks = [each.key for each in rows["user_tasks"] if each.instance == step.instance]
        if tasks and draw(st.booleans()):
            step.closed_user_tasks = tasks[:1]
        elif tasks:
            changes: dict[str, object] = {"assignee": draw(TEXTS), "candidate_users": ["bob"], "priority": draw(FEW)}
            step.changed_user_tasks = [UserTaskChange(key=tasks[0], changes=changes)]

    def _commit(self, steps: list[Step]) -> None:
        results = self.both(lambda store, keys: store.commit(steps, keys))
        for step, result in zip(steps, results, strict=True):
            if result.outcome == StepOutcome.APPLIED:
                step.tenant = step.tenant or getattr(self.revs.get(step.instance), "tenant", "")
                self.revs[step.instance] = step
                self.remember_jobs(step.new_jobs)


class Mail(TwoStores):
    """Definitions, messages and signals."""

    @rule(
        process_id=PROCESSES,
        messages=st.lists(NAMES, unique=True),
        signals=st.lists(NAMES, unique=True),
        timers=st.lists(st.sampled_from([-5, 0, 20]), max_size=2, unique=True),
        checksum=st.sampled_from(["a" * 64, "b" * 64]),
        tenant=TENANTS,
    )
    def deploy(
        self,
        process_id: str,
        messages: list[str],
        signals: list[str],
        timers: list[int],
        checksum: str,
        tenant: str,
    ) -> None:
        start = self.keys.take()
        due = [self.clock() + each for each in timers]

        async def ask(store: Store, _: Keys) -> Any:
            keys = Keys(range(start, start + 10))
            new = definition(keys, process_id, messages=messages, signals=signals, timers=due)
            return await deploy(store, keys, new, checksum=checksum, tenant=tenant)

        self.both(ask)
        for _ in range(10):
            self.keys.take()

    @rule(
        name=NAMES,
        correlation_key=CORRELATION_KEYS,
        ttl_ms=st.sampled_from([0, 10, 10_000]),
        message_id=st.sampled_from(["", "", "m-1"]),
        buffer=st.sampled_from([True, True, False]),
        tenant=TENANTS,
        count=st.integers(1, 2),
    )
    def publish(
        self,
        name: str,
        correlation_key: str,
        ttl_ms: int,
        message_id: str,
        buffer: bool,
        tenant: str,
        count: int,
    ) -> None:
        new = [
            message(
                self.keys,
                name,
                correlation_key=correlation_key,
                ttl_ms=ttl_ms,
                message_id=message_id,
                buffer=buffer,
                tenant=tenant,
                variables=b'{"n":%d}' % number,
            )
            for number in range(count)
        ]
        self.messages += [(each, self.clock() + ttl_ms) for each in new]
        self.both(lambda store, keys: store.publish(new, keys))

    @precondition(lambda self: self.messages)
    @rule(pick=PICK, process_id=PROCESSES)
    def offer_again(self, pick: int, process_id: str) -> None:
        """An instance could not take a message: it comes back with its key and the end of its time, without its id."""
        message, expires_at = self.messages[-1 - pick % len(self.messages)]
        again = msgspec.structs.replace(
            message, ttl_ms=0, expires_at=expires_at, message_id="", buffer=True, process_id=process_id
        )
        self.both(lambda store, keys: store.publish([again], keys))

    @rule(name=NAMES, tenant=TENANTS)
    def broadcast(self, name: str, tenant: str) -> None:
        self.both(lambda store, keys: store.broadcast(name, b'{"s":1}', keys, tenant=tenant))

    @rule()
    def expire(self) -> None:
        self.both(lambda store, _: store.expire_messages(100))
