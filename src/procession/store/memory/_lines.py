"""Where limited jobs wait in memory: the index of lines. It finds the first of a line without a look at all the others.

A line is of a queue and a priority (their start is due, or will be), or of a limit (they wait for a slot of it). Its
entries may be out of date, which is seen when they come to the front; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush

from procession.jobs.kinds import JobState
from procession.store.rows import StoredJob

Entry = tuple[int, int, int]  # negative priority, time, key
Line = tuple[str, int, str]  # queue and priority, or a limit


class Lines:
    """Limited jobs that wait, by what for."""

    def __init__(self, jobs: Mapping[int, StoredJob], limit_of: Callable[[int], str]) -> None:
        self._jobs = jobs
        self._limit_of = limit_of  # what a job waits for a slot of; empty where it waits for its start
        self._lines: dict[Line, list[Entry]] = {}
        self._priorities: dict[str, set[int]] = {}

    def __bool__(self) -> bool:
        """Whether anybody may wait."""
        return bool(self._lines)

    def add(self, key: int) -> None:
        """Put a job where it belongs, if it is there and waits."""
        job = self._jobs.get(key)
        if job is None or job.state != JobState.THROTTLED:
            return
        line = self._line_of(job)
        heappush(self._lines.setdefault(line, []), _entry_of(job))
        if not line[2]:
            self._priorities.setdefault(job.queue, set()).add(job.priority)

    def priorities_of(self, queue: str) -> list[int]:
        """In which priorities there may be some that wait for their start, from the highest down."""
        return sorted(self._priorities.get(queue, ()), reverse=True)

    def first_due(
        self, queue: str, priority: int, count: int, now: int, is_passed: Callable[[StoredJob], bool]
    ) -> list[StoredJob]:
        """The first that are due, but for those that are passed over."""
        return self._first((queue, priority, ""), count, lambda job: job.run_at <= now, is_passed)

    def first_for(self, limit: str, count: int) -> list[StoredJob]:
        """The first that wait for a slot of a limit."""
        return self._first(("", 0, limit), count, lambda _: True, lambda _: False)

    def _first(
        self,
        line: Line,
        count: int,
        is_wanted: Callable[[StoredJob], bool],
        is_passed: Callable[[StoredJob], bool],
    ) -> list[StoredJob]:
        heap = self._lines.get(line)
        if heap is None:
            return []
        found = first_of(heap, count, lambda entry: self._job_of(line, entry), is_wanted, is_passed)
        if not heap:
            del self._lines[line]
            self._priorities.get(line[0], set()).discard(line[1])
        return found

    def _job_of(self, line: Line, entry: Entry) -> StoredJob | None:
        job = self._jobs.get(entry[2])
        if job is None or job.state != JobState.THROTTLED:
            return None
        return job if self._line_of(job) == line and _entry_of(job) == entry else None

    def _line_of(self, job: StoredJob) -> Line:
        limit = self._limit_of(job.key)
        return ("", 0, limit) if limit else (job.queue, job.priority, "")


def first_of(
    heap: list[Entry],
    count: int,
    job_of: Callable[[Entry], StoredJob | None],
    is_wanted: Callable[[StoredJob], bool],
    is_passed: Callable[[StoredJob], bool],
) -> list[StoredJob]:
    """The first jobs of a heap, up to one that is not wanted. What is out of date leaves it, the others stay."""
    found: list[StoredJob] = []
    kept: dict[int, Entry] = {}
    while heap and len(found) < count:
        entry = heappop(heap)
        job = job_of(entry)
        if job is None or job.key in kept:
            continue
        kept[job.key] = entry
        if not is_wanted(job):
            break
        if not is_passed(job):
            found.append(job)
    for entry in kept.values():
        heappush(heap, entry)
    return found


def _entry_of(job: StoredJob) -> Entry:
    return -job.priority, job.run_at, job.key
