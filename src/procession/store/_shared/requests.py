"""Jobs that a caller's own transaction asks for, as the one value that every dialect's ``request_jobs`` is given."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from procession.errors import InvalidValue
from procession.jobs.kinds import SUBMIT_QUEUE, JobKind
from procession.store._shared.queue.checks import check_submission
from procession.store._shared.refusals import check_jobs
from procession.store.rows import NewJob
from procession.store.rows.queue import encode_submission


def requested_jobs(jobs: Sequence[NewJob]) -> str:
    """The rows to insert for jobs, as JSON, their arguments as text within it. Raises InvalidValue.

    Jobs with options cannot be looked after by somebody else's connection: they become one job of SUBMIT_QUEUE, under
    the key of the first of them, which gives way to them when it is carried out (``submit`` with ``closes``).
    """
    check_submission(jobs)
    if any(job.kind != JobKind.TASK or job.owner for job in jobs):
        raise InvalidValue("Expected plain queue jobs for a transaction of the caller's, without an owner")
    plain = [job for job in jobs if job.options is None]
    optional = [job for job in jobs if job.options is not None]
    if optional:
        args = encode_submission(optional)
        plain.append(NewJob(key=optional[0].key, kind=JobKind.TASK, queue=SUBMIT_QUEUE, type="Submit", args=args))
        check_jobs(plain[-1:])
    return msgspec.json.encode([_row(job) for job in plain]).decode()


def _row(job: NewJob) -> dict[str, object]:
    return {
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
