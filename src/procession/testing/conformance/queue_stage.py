"""What tests of the queue are given beyond ``stage``: jobs with options, short ways to run and look. No assertions."""

from __future__ import annotations

from typing import Any

from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.jobs.options import After, JobOptions, Limit
from procession.store.port import Store
from procession.store.rows import Claimed, ClaimedJob, JobEnd, JobOutcome, NewJob, Want
from procession.store.rows.queue import Submitted
from procession.store.rows.queue_reading import JobDetails
from procession.testing.conformance.stage import new_job

QueueStore = Store


def job_with(keys: Keys, **options: Any) -> NewJob:  # noqa: ANN401 - fields of the job, and of its options
    """A plain job with options; names of fields of ``NewJob`` go there, all others to ``JobOptions``."""
    of_job = {name: options.pop(name) for name in list(options) if name in NewJob.__struct_fields__}
    return new_job(keys, **of_job, options=JobOptions(**options) if options else JobOptions())


def mutex(key: str = "door", most: int = 1) -> list[Limit]:
    """A limit on how many run at once."""
    return [Limit(key, most=most)]


def paced(rate: int, per_ms: int = 1_000, burst: int = 1, key: str = "api") -> list[Limit]:
    """A limit on how many start per time."""
    return [Limit(key, rate=rate, per_ms=per_ms, burst=burst)]


def after(*jobs: NewJob | int, either: bool = False) -> list[After]:
    """Dependencies on these."""
    return [After(job if isinstance(job, int) else job.key, either) for job in jobs]


async def submit_one(store: QueueStore, job: NewJob) -> Submitted:
    """Submit one job."""
    (answer,) = await store.submit([job])
    return answer


async def state_of(store: QueueStore, job: NewJob | int) -> JobState | None:
    """The state of a job, in the queue or in the archive; None where there is no trace of it."""
    found = await store.job(job if isinstance(job, int) else job.key)
    return JobState(found.state) if found is not None else None


async def details(store: QueueStore, job: NewJob | int) -> JobDetails:
    """A job that must be there."""
    found = await store.job(job if isinstance(job, int) else job.key)
    assert found is not None
    return found


async def take(store: QueueStore, node: int, count: int = 100, queue: str = "mail") -> Claimed:
    """Claim from a queue."""
    return await store.claim(node, [Want(queue=queue, count=count)])


async def end(store: QueueStore, job: ClaimedJob, how: JobEnd = JobEnd.DONE, **more: Any) -> bool:  # noqa: ANN401
    """End one run."""
    (applied,) = await store.finish([JobOutcome(key=job.key, lease=job.lease, end=how, **more)])
    return applied


async def run_all(store: QueueStore, node: int, queue: str = "mail") -> list[int]:
    """Claim and end well whatever is there, again and again; the keys in the order of their claims."""
    ran: list[int] = []
    while claimed := await take(store, node, queue=queue):
        for job in claimed:
            ran.append(job.key)
            assert await end(store, job)
    return ran


async def is_clean(store: QueueStore) -> bool:
    """Whether a sweep finds nothing."""
    return (await store.sweep()).is_clean
