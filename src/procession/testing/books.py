"""The books of a store: every row of an instance stands for something in its state, and the other way round.

It is asked while nothing is under way. It reads; it never changes anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from procession.core.state import State, Status
from procession.jobs.kinds import JobKind, JobState
from procession.limits import PAGE_MAX
from procession.store.port import Store
from procession.store.rows import JobFilter, StoredIncident, StoredJob, UserTaskFilter


class Owned(Protocol):
    """A row that belongs to an instance."""

    @property
    def key(self) -> int:
        """Its own key."""
        ...

    @property
    def instance(self) -> int:
        """The instance's."""
        ...


Row = TypeVar("Row", bound=Owned)


async def check_books(store: Store, states: Mapping[int, State]) -> None:
    """Compare the jobs, timers, subscriptions, incidents and user tasks of these instances with their states.

    ``states`` holds every instance of the store, by key. Raises AssertionError.
    """
    jobs = await every_job(store)
    of_elements = by_instance(job for job in jobs if job.kind != JobKind.FOLLOW_UP and job.instance)
    follow_ups = [job for job in jobs if job.kind == JobKind.FOLLOW_UP]
    incidents = by_instance(await store.list_incidents(limit=PAGE_MAX))
    tasks = by_instance(await store.list_user_tasks(UserTaskFilter(limit=PAGE_MAX)))
    subscriptions = by_instance(row for row in await store.list_subscriptions(limit=PAGE_MAX) if row.instance)
    for key, state in states.items():
        _check_jobs(state, of_elements.pop(key, {}))
        _check_incidents(state, incidents.pop(key, {}))
        held = {node.user_task for node in state.nodes.values() if node.user_task}
        assert set(tasks.pop(key, {})) == held, f"user tasks of instance {key}"
        listening = {wait.key for node in state.nodes.values() for wait in node.waits or () if not wait.due}
        listed = set(subscriptions.pop(key, {}))
        assert listed <= listening, f"subscriptions of instance {key} that it does not know"
        assert listed == listening or follow_ups, f"subscriptions of instance {key} that are missing"
    for what in (of_elements, incidents, tasks, subscriptions):
        assert not what, f"rows of instances that are not there: {dict(what)}"
    undone = [job for job in follow_ups if job.state != JobState.SCHEDULED]
    assert not undone, f"follow-ups that nobody carries out: {undone}"


async def every_job(store: Store) -> list[StoredJob]:
    """All jobs, page by page."""
    found: list[StoredJob] = []
    after = 0
    while page := await store.list_jobs(JobFilter(after=after, limit=PAGE_MAX)):
        found += page
        after = page[-1].key
        if len(page) < PAGE_MAX:
            break
    return found


def by_instance(rows: Iterable[Row]) -> dict[int, dict[int, Row]]:
    """Rows by instance and key."""
    found: dict[int, dict[int, Row]] = defaultdict(dict)
    for row in rows:
        found[row.instance][row.key] = row
    return found


def _check_jobs(state: State, jobs: Mapping[int, StoredJob]) -> None:
    """A row per job and per timer, in the state that the instance says."""
    timers = {wait.key: wait.due for node in state.nodes.values() for wait in node.waits or () if wait.due}
    held = {key for key, owner in state.jobs.items() if state.nodes[owner].job == key}
    assert set(jobs) == held | set(timers), f"jobs and timers of instance {state.key}"
    stuck = {incident.job for incident in state.incidents.values()}
    for key, job in jobs.items():
        failed = job.state == JobState.FAILED
        if state.status == Status.SUSPENDED:
            assert job.state == JobState.SUSPENDED, f"{job} of a suspended instance"
        elif key in timers:
            assert (job.kind, job.state, job.run_at) == (JobKind.TIMER, JobState.SCHEDULED, timers[key]), f"{job}"
        else:
            assert failed == (key in stuck), f"{job} and the incidents of instance {state.key}"
            assert failed or job.state in {JobState.READY, JobState.RUNNING, JobState.SCHEDULED}, f"{job}"


def _check_incidents(state: State, incidents: Mapping[int, StoredIncident]) -> None:
    """A row per incident."""
    assert set(incidents) == set(state.incidents), f"incidents of instance {state.key}"
    for key, incident in incidents.items():
        assert incident.message == state.incidents[key].message
        assert incident.job == state.incidents[key].job
