"""The rules of the queue for the machine that compares two stores: everything that both halves of the port offer."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from procession.errors import Conflict, NotFound
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import After, JobOptions, Limit, Unique, UniqueMode
from procession.jobs.recurring import plan_firing
from procession.store.port import Store
from procession.store.rows import JobEnd, JobFence, JobOutcome, NewJob, Want
from procession.store.rows.queue import (
    Firing,
    JobChange,
    LogLine,
    Missed,
    NewJobBatch,
    PauseKind,
    RecurringJob,
    RunReport,
)
from procession.store.rows.queue_reading import QueueFilter, StatRow
from procession.testing.conformance.stage import new_job
from tests.store.machine import FEW, PICK, TwoStores, comparable

QUEUES = ("a", "b")
LIMITS = st.sampled_from(
    [
        [],
        [],
        [],
        [Limit("door", most=1)],
        [Limit("door", most=2)],
        [Limit("api", rate=2, per_ms=20, burst=1)],
        [Limit("api", rate=2, per_ms=20, burst=2), Limit("door", most=1)],
    ]
)
UNIQUE = st.sampled_from(
    [
        None,
        None,
        Unique("u"),
        Unique("u", for_ms=20),
        Unique("u", mode=UniqueMode.REPLACE),
        Unique("u", mode=UniqueMode.DEBOUNCE, longest_ms=30),
        Unique("v", mode=UniqueMode.DEBOUNCE, keep_first=True),
    ]
)
OPTIONS = st.builds(
    JobOptions,
    title=st.sampled_from(["", "Send it"]),
    tags=st.sampled_from([[], ["red"], ["red", "blue"]]),
    deadline_ms=st.sampled_from([0, 0, 0, 15]),
    keep_ms=st.sampled_from([0, 0, 30]),
    output=st.booleans(),
    ageing_ms=st.sampled_from([0, 0, 10]),
    fair_key=st.sampled_from(["", "", "x", "y"]),
    unique=UNIQUE,
    limits=LIMITS,
)
ENDS = st.lists(st.sampled_from([*JobEnd, JobEnd.DONE, JobEnd.DONE]), min_size=3, max_size=3)
Submission = tuple[list[JobOptions], str, int, int, bool, list[tuple[int, int, bool]], int]
SUBMISSIONS = st.tuples(
    st.lists(OPTIONS, min_size=1, max_size=3),
    st.sampled_from(QUEUES),
    st.integers(-1, 2),
    st.sampled_from([0, 0, 0, 5, 25]),
    st.booleans(),
    st.lists(st.tuples(PICK, PICK, st.booleans()), max_size=3),
    st.sampled_from([-1, -1, 0, 1, 2]),
)


async def dump_queue(store: Store) -> dict[str, Any]:
    """Everything that the queue's half shows."""
    archived = [
        job
        for state in (JobState.SUCCEEDED, JobState.DELETED)
        for job in await store.jobs(QueueFilter(state=state, limit=1_000))
    ]
    jobs = await store.jobs(QueueFilter(limit=1_000))
    return {
        "queue": jobs,
        "archive": archived,
        "logs": [await store.job_log(job.key) for job in (*jobs, *archived)],
        "parents": [await store.parent_results(job.key) for job in jobs],
        "limits": await store.limits(limit=1_000),
        "job_batches": await store.job_batches(limit=1_000),
        "recurring": await store.recurring_jobs(),
        "pauses": await store.pauses(),
        "queue_stats": await store.queue_stats(),
        "stats": await store.stats(since=0, until=1 << 50),
    }


class QueueRules(TwoStores):
    """Jobs with all their options, and everything that happens to them."""

    def __init__(self) -> None:
        super().__init__()
        self.known: list[int] = []  # keys of jobs that were submitted
        self.batches: list[int] = []
        self.runs: list[tuple[int, int]] = []
        self.seen: dict[int, JobState] = {}

    @initialize()
    def a_batch(self) -> None:
        self.open_batch(0)

    # -- coming in ------------------------------------------------------------------------------------------------
    @rule(submission=SUBMISSIONS, ends=ENDS)
    def submit_and_work(self, submission: Submission, ends: list[JobEnd]) -> None:
        """What most people do most of the time."""
        self.submit(submission)
        self.work(ends)

    @rule(submissions=st.lists(SUBMISSIONS, min_size=2, max_size=3), ends=ENDS)
    def submit_several_and_work(self, submissions: list[Submission], ends: list[JobEnd]) -> None:
        """The same with more in between."""
        for submission in submissions:
            self.submit(submission)
        self.work(ends)

    @rule(submission=SUBMISSIONS)
    def submit(self, submission: Submission) -> None:
        options, queue, priority, delay_ms, owned, links, batch = submission
        owner = self.nodes[-1] if owned else 0
        jobs = [
            new_job(
                self.keys,
                queue=queue,
                priority=priority,
                delay_ms=delay_ms,
                owner=owner,
                args=b'{"n":%d}' % n,
                options=msgspec.structs.replace(each, after=[], batch=0),
            )
            for n, each in enumerate(options)
        ]
        if batch >= 0 and self.batches:
            _options(jobs[0]).batch = self.batches[batch % len(self.batches)]
        parents = [*self.known, *self.batches]
        for child, parent, either in links:
            job = jobs[child % len(jobs)]
            earlier = [each.key for each in jobs if each.key < job.key]
            among = [*parents[-6:], *earlier]
            if among:
                key = among[parent % len(among)]
                links_of = {each.key: each for each in _options(job).after}
                links_of[key] = After(key, either)
                _options(job).after = list(links_of.values())
        answers = self.both(lambda store, _: _or_conflict(store.submit(jobs)))
        if isinstance(answers, list):
            self.known += [answer.key for answer in answers]
            self.runs += [(answer.key, 1) for answer in answers if answer.state == JobState.RUNNING]

    @rule(parent=st.sampled_from([0, 1]))
    def open_batch(self, parent: int) -> None:
        above = self.batches[-1] if parent and self.batches else 0
        batch = NewJobBatch(key=self.keys.take(), parent=above)
        if self.both(lambda store, _: _or_conflict(store.open_job_batch(batch))) is True:
            self.batches.append(batch.key)

    @rule(pick=PICK)
    def seal_batch(self, pick: int) -> None:
        key = self.batches[-1 - pick % len(self.batches)] if self.batches else 1
        self.both(lambda store, _: _or_conflict(store.seal_job_batch(key)))

    # -- running --------------------------------------------------------------------------------------------------
    @rule(pick=PICK, counts=st.lists(FEW, min_size=2, max_size=2))
    def claim_from_queues(self, pick: int, counts: list[int]) -> None:
        wants = [Want(queue=queue, count=2 * count) for queue, count in zip(QUEUES, counts, strict=True)]
        node = self.nodes[pick % len(self.nodes)]

        async def ask(store: Store, _: Keys) -> Any:
            claimed = sorted(await store.claim(node, wants), key=lambda job: job.queue)  # queues in any order
            return [msgspec.structs.replace(job, options=b"") for job in claimed]

        self.runs += [(job.key, job.lease) for job in self.both(ask)]

    @rule(ends=ENDS)
    def work(self, ends: list[JobEnd]) -> None:
        """Claim what is there and end it, so that much comes to its end."""
        self.claim_from_queues(0, [3, 3])
        held = self.runs[-6:]
        outcomes = [
            JobOutcome(
                key=key, lease=lease, end=ends[n % 3], delay_ms=5 * (n % 2), output=b"[2]", keep_ms=50 * (n % 4 // 3)
            )
            for n, (key, lease) in enumerate(dict(held).items())
        ]
        self.both(lambda store, _: store.finish(outcomes))

    @precondition(lambda self: self.runs)
    @rule(
        ends=st.lists(st.tuples(PICK, st.sampled_from(JobEnd), st.sampled_from([0, 0, 5])), min_size=1, max_size=4),
        output=st.sampled_from([b"", b"[1]"]),
    )
    def settle(self, ends: list[tuple[int, JobEnd, int]], output: bytes) -> None:
        outcomes: dict[int, JobOutcome] = {}
        for pick, end, delay_ms in ends:
            key, lease = self.runs[-1 - pick % len(self.runs)]
            outcomes[key] = JobOutcome(key=key, lease=lease, end=end, delay_ms=delay_ms, error="no", output=output)
        self.both(lambda store, _: store.finish(list(outcomes.values())))

    @precondition(lambda self: self.runs)
    @rule(pick=PICK, progress=st.sampled_from([-1.0, 0.5, 1.0, 2.0]), text=st.sampled_from([None, "half\0"]))
    def report(self, pick: int, progress: float, text: str | None) -> None:
        key, lease = self.runs[-1 - pick % len(self.runs)]
        said = RunReport(
            key=key,
            lease=lease,
            progress=progress,
            progress_text=text,
            checkpoint=b"[7]" if text else None,
            log=[LogLine(text="x")] * 2,
        )
        self.both(lambda store, _: store.report([said]))

    @precondition(lambda self: self.runs)
    @rule(pick=PICK)
    def submit_and_close(self, pick: int) -> None:
        key, lease = self.runs[-1 - pick % len(self.runs)]
        job = new_job(self.keys, queue="b", options=JobOptions(title="closes"))
        row = self.runner.run(self.memory.job(key))
        if row is not None and not row.traits:  # only follow-ups close themselves: they have no traits
            self.both(lambda store, _: store.submit([job], closes=JobFence(key=key, lease=lease)))

    # -- operators and duties -------------------------------------------------------------------------------------
    @precondition(lambda self: self.known)
    @rule(picks=st.lists(PICK, min_size=1, max_size=3, unique=True))
    def delete(self, picks: list[int]) -> None:
        keys = sorted({self.known[-1 - pick % len(self.known)] for pick in picks})
        self.both(lambda store, _: store.delete_jobs(keys, "by hand"))

    @precondition(lambda self: self.known)
    @rule(picks=st.lists(PICK, min_size=1, max_size=3, unique=True))
    def requeue(self, picks: list[int]) -> None:
        keys = sorted({self.known[-1 - pick % len(self.known)] for pick in picks})
        self.both(lambda store, _: store.requeue_jobs(keys))

    @rule(tag=st.sampled_from(["", "red"]), state=st.sampled_from([-1, 5]))
    def requeue_where(self, tag: str, state: int) -> None:
        self.both(lambda store, _: store.requeue_where(QueueFilter(tag=tag, state=state)))

    @precondition(lambda self: self.known)
    @rule(
        picks=st.lists(PICK, min_size=1, max_size=3, unique=True),
        priority=st.sampled_from([None, 0, 2]),
        delay_ms=st.sampled_from([None, None, 0, 5]),
    )
    def change(self, picks: list[int], priority: int | None, delay_ms: int | None) -> None:
        keys = sorted({self.known[-1 - pick % len(self.known)] for pick in picks})
        change = JobChange(priority=priority, retries=4, delay_ms=delay_ms)
        self.both(lambda store, _: store.change_jobs(keys, change))

    @rule(
        newest=st.booleans(),
        state=st.sampled_from([-1, 0, 2, 4, 5, 7, 8]),
        tag=st.sampled_from(["", "red"]),
        limit=st.sampled_from([1, 100]),
    )
    def find(self, newest: bool, state: int, tag: str, limit: int) -> None:
        which = QueueFilter(newest=newest, state=state, tag=tag, limit=limit)

        async def ask(store: Store, _: Keys) -> list[int]:
            found = await store.find_jobs(which)
            return [job.key for job in found.jobs] + [found.after, *await store.count_meant(which, 5)]

        self.both(ask)

    @rule()
    def duties(self) -> None:
        self.both(lambda store, _: store.promote(100))
        self.both(lambda store, _: store.expire_jobs(100))
        self.both(lambda store, _: store.expire_archive(100))

    @rule(kind=st.sampled_from(PauseKind), name=st.sampled_from(["a", "send"]), paused=st.booleans())
    def pause(self, kind: PauseKind, name: str, paused: bool) -> None:
        self.both(lambda store, _: store.pause(kind, name) if paused else store.resume(kind, name))

    @rule(most=st.sampled_from([0, 1, 3]), rate=st.sampled_from([0, 5]))
    def set_limit(self, most: int, rate: int) -> None:
        if most or rate:
            self.both(lambda store, _: _or_conflict(store.set_limit("door", most=most, rate=rate, per_ms=20, burst=1)))

    @rule(missed=st.sampled_from(Missed), overlap=st.booleans(), options=OPTIONS)
    def declare(self, missed: Missed, overlap: bool, options: JobOptions) -> None:
        job = new_job(self.keys, queue="a", options=options)
        row = RecurringJob(
            name="often", cycle="R/PT0.01S", job=job, missed=missed, overlap=overlap, next_at=self.clock() + 5
        )
        self.both(lambda store, _: store.put_recurring([row], group=""))

    @rule()
    def fire(self) -> None:
        due, _ = self.both(lambda store, _: store.due_recurring(10))
        firings: list[Firing] = []
        for row in due:
            plan = plan_firing(row.cycle, row.next_at, row.missed, self.clock())
            jobs = [msgspec.structs.replace(row.job, key=self.keys.take()) for _ in plan.due[-3:]]
            self.known += [job.key for job in jobs]
            firings.append(
                Firing(name=row.name, version=row.version, next_at=plan.next_at, last_at=plan.last_at, jobs=jobs)
            )
        self.both(lambda store, _: store.fire(firings))

    @rule()
    def count(self) -> None:
        self.both(lambda store, _: store.add_stats([StatRow(minute=60_000, queue="a", succeeded=1, run_ms=3)]))

    # -- what must always hold ------------------------------------------------------------------------------------
    @invariant()
    def the_queues_are_the_same(self) -> None:
        expected, found = (_comparable(self.runner.run(dump_queue(store))) for store in (self.memory, self.other))
        for table, rows in expected.items():
            assert found[table] == rows, f"{table}:\nexpected {rows}\nfound {found[table]}"

    @invariant()
    def a_sweep_finds_nothing(self) -> None:
        for store in (self.memory, self.other):
            report = self.runner.run(store.sweep())
            assert report.is_clean, (store.name, report)


def _options(job: NewJob) -> JobOptions:
    assert job.options is not None
    return job.options


async def _or_conflict(call: Any) -> Any:
    """The answer, or the kind of refusal."""
    try:
        return await call
    except (Conflict, NotFound) as error:
        return type(error).__name__


def _comparable(rows: Any) -> Any:
    """As in ``machine``, for the rows of this half."""
    return {
        name: [_row(each) if not isinstance(each, list) else [_row(inner) for inner in each] for each in table]
        for name, table in rows.items()
    }


def _row(row: Any) -> Any:
    name, fields = comparable(row)
    for field in ("output", "checkpoint"):
        if fields.get(field):
            fields[field] = msgspec.json.decode(fields[field])
    if isinstance(fields.get("job"), NewJob):
        fields["job"] = comparable(fields["job"])
    return name, fields
