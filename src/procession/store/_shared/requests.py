"""Jobs that a caller's own transaction asks for, as the one value that every dialect's ``request_jobs`` is given."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from procession.errors import InvalidValue
from procession.jobs.kinds import JobKind
from procession.store._shared.refusals import check_jobs
from procession.store.rows import NewJob


def requested_jobs(jobs: Sequence[NewJob]) -> str:
    """The jobs as JSON, their arguments as text within it. Raises InvalidValue."""
    check_jobs(jobs)
    if any(job.options is not None or job.kind != JobKind.TASK or job.owner for job in jobs):
        message = "Expected plain jobs without options for a transaction of the caller's"
        raise InvalidValue(message)
    rows = [
        {
            "key": job.key,
            "queue": job.queue,
            "type": job.type,
            "priority": job.priority,
            "run_at": job.run_at,
            "delay_ms": job.delay_ms,
            "retries": job.retries,
            "args": (job.args or b"{}").decode(),
            "tenant": job.tenant,
        }
        for job in jobs
    ]
    return msgspec.json.encode(rows).decode()
