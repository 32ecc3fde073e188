"""Flows as a graph: jobs and batches of jobs as nodes, what comes after what as edges. It changes nothing.

A flow has no row of its own. It is found from any of its jobs: along what jobs come after, which every job remembers,
and along who waits for them. What ended without being kept stands in the graph as far as others name it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from procession.app.views import View
from procession.jobs.kinds import JobState
from procession.jobs.options import JobOptions
from procession.limits import FLOW_NODES_MAX, PAGE_MAX
from procession.store.port import Store
from procession.store.rows.queue import JobBatchState
from procession.store.rows.queue_reading import JobDetails, QueueFilter, StoredJobBatch

GONE = "GONE"  # it ended without a trace: usually well


class FlowNode(View, frozen=True, kw_only=True):
    """A job or batch of a flow."""

    job_key: int
    type: str
    title: str
    queue: str
    state: str  # of a job; OPEN, SEALED or FINISHED of a batch; GONE for what ended without being kept
    is_batch: bool = False
    progress: float = 0.0


class FlowEdge(View, frozen=True, kw_only=True):
    """``child_key`` comes after ``parent_key``: when that succeeded, or (``either``) is over in any way."""

    parent_key: int
    child_key: int
    either: bool


class FlowGraph(View, frozen=True, kw_only=True):
    """The jobs that are connected to one, each level before those that come after it."""

    nodes: list[FlowNode]
    edges: list[FlowEdge]
    is_cut: bool  # there is more than FLOW_NODES_MAX
    flow_key: int = 0  # of a flow that has a title
    title: str = ""


class Walk(msgspec.Struct):
    """What has been found so far."""

    jobs: dict[int, JobDetails] = {}
    batches: dict[int, StoredJobBatch] = {}
    edges: dict[tuple[int, int], bool] = {}  # (parent, child) -> either
    seen: set[int] = set()
    is_cut: bool = False


async def walk_flow(store: Store, start: int | Iterable[int], tenant: str) -> Walk:
    """Everything that is connected to a job, or to several."""
    walk = Walk()
    front = {start} if isinstance(start, int) else set(start)
    while front:
        room = FLOW_NODES_MAX - len(walk.seen)
        if len(front) > room:
            walk.is_cut = True
        keys = sorted(front)[: max(0, room)]
        if not keys:
            break
        walk.seen.update(keys)
        front = await _step(store, walk, keys, tenant) - walk.seen
    walk.edges = {ends: either for ends, either in walk.edges.items() if walk.seen.issuperset(ends)}
    return walk


async def members_of(store: Store, batch: int) -> list[int]:
    """The members of a batch that have left a trace, at most FLOW_NODES_MAX."""
    found: list[int] = []
    for state in (-1, JobState.SUCCEEDED, JobState.DELETED):
        which = QueueFilter(batch=batch, state=state, limit=PAGE_MAX)
        while len(found) < FLOW_NODES_MAX:
            page = await store.find_jobs(which)
            found += [job.key for job in page.jobs]
            if not page.after:
                break
            which.after = page.after
    return found[:FLOW_NODES_MAX]


async def named_flow(store: Store, walk: Walk) -> StoredJobBatch | None:
    """The flow with a title that the jobs of a walk are of."""
    keys = {job.options.batch for job in walk.jobs.values() if job.options is not None and job.options.batch}
    found = await store.job_batches(keys=sorted(keys), limit=len(keys)) if keys else []
    return next((batch for batch in found if batch.is_flow), None)


async def _step(store: Store, walk: Walk, keys: list[int], tenant: str) -> set[int]:
    """Look at some jobs; the keys of their neighbours."""
    jobs = [job for job in await store.jobs_of(keys) if tenant in ("", job.tenant)]
    walk.jobs |= {job.key: job for job in jobs}
    missing = [key for key in keys if key not in walk.jobs]
    if missing:
        found = await store.job_batches(keys=missing, tenant=tenant, limit=len(missing))
        walk.batches |= {batch.key: batch for batch in found}
    for job in jobs:
        for after in (job.options or JobOptions()).after:
            walk.edges[after.key, job.key] = after.either
    for link in await store.job_links(keys):
        walk.edges[link.parent, link.child] = link.either
    near = {end for ends in walk.edges for end in ends if not walk.seen.isdisjoint(ends)}
    return {key for key in near if key > 0}


def graph_of(walk: Walk, flow: StoredJobBatch | None) -> FlowGraph:
    """What was found, in the order in which it runs."""
    return FlowGraph(
        nodes=[_node(walk, key) for key in _ordered(walk.seen, walk.edges)],
        edges=[
            FlowEdge(parent_key=parent, child_key=child, either=either)
            for (parent, child), either in sorted(walk.edges.items())
        ],
        is_cut=walk.is_cut,
        flow_key=flow.key if flow is not None else 0,
        title=flow.title if flow is not None else "",
    )


def _node(walk: Walk, key: int) -> FlowNode:
    job, batch = walk.jobs.get(key), walk.batches.get(key)
    if job is not None:
        title = job.options.title if job.options is not None else ""
        state = JobState(job.state).name
        return FlowNode(job_key=key, type=job.type, title=title, queue=job.queue, state=state, progress=job.progress)
    if batch is not None:
        over = batch.succeeded + batch.failed + batch.deleted
        return FlowNode(
            job_key=key,
            type="",
            title=batch.title,
            queue="",
            state=JobBatchState(batch.state).name,
            is_batch=True,
            progress=over / batch.total if batch.total else 0.0,
        )
    return FlowNode(job_key=key, type="", title="", queue="", state=GONE)


def _ordered(keys: Iterable[int], edges: dict[tuple[int, int], bool]) -> list[int]:
    """Parents before their children, by level and key."""
    level = dict.fromkeys(sorted(keys), 0)
    for _ in level:
        moved = False
        for parent, child in sorted(edges):
            if level[child] <= level[parent]:
                level[child] = level[parent] + 1
                moved = True
        if not moved:
            break
    return sorted(level, key=lambda key: (level[key], key))
