"""Leases: claim, finish, promote, leave, rescue."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from heapq import heappop, heappush

from procession.jobs.kinds import REMOTE, JobState
from procession.store._shared.refusals import clean_text
from procession.store._shared.texts import crash_error
from procession.store.memory._tables import Tables
from procession.store.rows import ClaimedJob, JobAdjustment, JobEnd, JobFence, JobOutcome, Rescue, StoredJob, Want


def claim_jobs(
    tables: Tables, node: int, wants: Sequence[Want], *, paused_types: Container[str] = ()
) -> list[ClaimedJob]:
    """Lease ready jobs, by priority and age within each queue."""
    claimed: list[ClaimedJob] = []
    jobs = tables.jobs
    for want in wants:
        heap, room = tables.ready.get(want.queue), want.count
        passed: list[tuple[int, int, int]] = []
        while heap and room > 0:
            priority, run_at, key = heappop(heap)
            job = jobs.get(key)
            if job is None or job.state or (job.run_at, -job.priority, job.queue) != (run_at, priority, want.queue):
                continue  # the entry is out of date (state 0 is READY)
            is_passed = job.type in paused_types or job.type in want.strangers
            if is_passed or (want.tenants is not None and job.tenant not in want.tenants):
                passed.append((priority, run_at, key))
                continue
            job.lease += 1
            job.attempt += 1
            if want.lease_ms:
                job.owner, job.run_at = REMOTE, tables.clock() + want.lease_ms
                tables.schedule(job)
            else:
                job.state, job.owner = JobState.RUNNING, node
            room -= 1
            claimed.append(claimed_job(job))
        if heap is not None:
            for entry in passed:
                heappush(heap, entry)
            if not heap:
                del tables.ready[want.queue]
    return claimed


def finish_job(tables: Tables, outcome: JobOutcome, now: int) -> bool:
    """End one run if its lease is held."""
    job = tables.jobs.get(outcome.key)
    if job is None or job.lease != outcome.lease or not is_held(job):
        return False
    end = outcome.end
    if end == JobEnd.DONE:
        del tables.jobs[outcome.key]
        return True
    if end in (JobEnd.RETRY, JobEnd.FAILED):
        job.retries = outcome.retries if outcome.retries >= 0 else max(0, job.retries - 1)
    else:
        job.attempt -= 1
    if outcome.error:
        job.error = clean_text(outcome.error)
    if end in (JobEnd.RELEASE, JobEnd.FAILED) and job.owner == REMOTE:
        job.run_at = now
    job.owner = 0
    if end == JobEnd.RELEASE:
        tables.make_ready(job)
        return True
    job.crashes = 0
    if end == JobEnd.FAILED:
        job.state = JobState.FAILED
        return True
    job.run_at = now + outcome.delay_ms
    tables.put_back(job, now)
    return True


def is_held(job: StoredJob) -> bool:
    """Whether a job is leased: to a node, or to a remote worker."""
    return job.state == JobState.RUNNING or (job.state == JobState.SCHEDULED and job.owner == REMOTE)


def adjust_job(tables: Tables, change: JobAdjustment, now: int) -> bool:
    """Change a job where it is."""
    job = tables.jobs.get(change.key)
    if job is None or (change.lease and (job.lease != change.lease or not is_held(job))):
        return False
    is_remote = job.state == JobState.SCHEDULED and job.owner == REMOTE
    if change.lease_ms >= 0 and not is_remote:
        return False
    if change.retries >= 0:
        job.retries = change.retries
    if change.lease_ms >= 0:
        job.run_at = now + change.lease_ms
        tables.schedule(job)
    if change.priority is not None:
        job.priority = change.priority
        if job.state == JobState.READY:
            tables.make_ready(job)
    return True


def close_job(tables: Tables, fence: JobFence) -> bool:
    """Delete a job if its lease is held."""
    return finish_job(tables, JobOutcome(key=fence.key, lease=fence.lease, end=JobEnd.DONE), 0)


def promote_jobs(tables: Tables, limit: int, make_ready: Callable[[StoredJob], None]) -> tuple[list[str], int]:
    """Make due jobs ready; ``make_ready`` knows what that means for a job."""
    now, heap = tables.clock(), tables.scheduled
    queues: set[str] = set()
    while heap:
        run_at, key = heap[0]
        job = tables.jobs.get(key)
        if job is None or job.state != JobState.SCHEDULED or job.run_at != run_at:
            heappop(heap)
            continue
        if run_at > now or limit <= 0:
            return sorted(queues), run_at
        heappop(heap)
        limit -= 1
        job.owner = 0
        make_ready(job)
        queues.add(job.queue)
    return sorted(queues), 0


def give_back(tables: Tables, node: int) -> None:
    """Jobs of a node that leaves become ready; their attempt is not used."""
    for job in tables.jobs.values():
        if job.state == JobState.RUNNING and job.owner == node:
            job.owner = 0
            job.attempt -= 1
            tables.make_ready(job)


def remove_dead_nodes(tables: Tables, dead_after_ms: int) -> list[int]:
    """Forget nodes that have not beaten for so long: which."""
    dead = [each.node for each in tables.nodes.values() if each.beat_at <= tables.clock() - dead_after_ms]
    for node in dead:
        del tables.nodes[node]
    return dead


def rescue_jobs(
    tables: Tables, limit: int, *, crash_budget: int, backoff_ms: int, passed_over: Callable[[int], bool]
) -> Rescue:
    """Give back the jobs of nodes that have no row, but for those that are ``passed_over``."""
    now = tables.clock()
    rescue = Rescue()
    lost = [job for job in tables.jobs.values() if job.state == JobState.RUNNING and job.owner not in tables.nodes]
    woken: set[str] = set()
    for job in sorted((job for job in lost if not passed_over(job.key)), key=lambda job: job.key)[:limit]:
        rescue.jobs += 1
        job.crashes += 1
        job.owner = 0
        if job.crashes > crash_budget:
            job.state = JobState.FAILED
            job.error = crash_error(job.crashes)
            rescue.failed.append(job.key)
        elif job.crashes > 1 and backoff_ms > 0:
            job.run_at = now + backoff_ms
            tables.put_back(job, now)
        else:
            tables.make_ready(job)
            woken.add(job.queue)
    rescue.woken = sorted(woken)
    return rescue


def claimed_job(job: StoredJob) -> ClaimedJob:
    """A job as its node gets it."""
    return ClaimedJob(
        key=job.key,
        lease=job.lease,
        kind=job.kind,
        queue=job.queue,
        type=job.type,
        instance=job.instance,
        element_instance=job.element_instance,
        element=job.element,
        definition=job.definition,
        priority=job.priority,
        attempt=job.attempt,
        retries=job.retries,
        args=job.args,
        tenant=job.tenant,
        crashes=job.crashes,
    )
