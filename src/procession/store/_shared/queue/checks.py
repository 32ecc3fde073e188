"""What every store refuses of the queue's calls before it sends a statement. It raises InvalidValue, writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from procession import limits
from procession.errors import InvalidValue
from procession.jobs.flows import order_of
from procession.jobs.options import refusal_of_options
from procession.store._shared.refusals import check_jobs, check_text
from procession.store.rows import NewJob
from procession.store.rows.queue import Firing, NewJobBatch, RecurringJob


def check_submission(jobs: Sequence[NewJob]) -> None:
    """Raise InvalidValue for jobs that no store can insert together."""
    if len(jobs) > limits.ENQUEUE_MAX:
        raise InvalidValue(f"Expected at most {limits.ENQUEUE_MAX} jobs in a call (ENQUEUE_MAX), found {len(jobs)}")
    check_jobs(jobs)
    keys: set[int] = set()
    for job in jobs:
        if job.key in keys:
            raise InvalidValue(f"Expected each job once in a call, found the key {job.key} twice")
        keys.add(job.key)
        if job.options is None:
            continue
        try:
            why = refusal_of_options(job.options)
        except (TypeError, AttributeError) as error:
            why = f"Expected texts and numbers as JobOptions declares them: {error}"
        if why:
            raise InvalidValue(f"{why}, in job {job.key} of type {job.type!r}")
    order_of({job.key: [after.key for after in job.options.after] for job in jobs if job.options is not None})


def check_plain(jobs: Sequence[NewJob]) -> None:
    """Raise InvalidValue for a job that only ``submit`` can insert."""
    for job in jobs:
        if job.options is not None:
            raise InvalidValue(f"Expected job {job.key} without options: one with options goes through submit")


def check_batch(batch: NewJobBatch) -> None:
    """Raise InvalidValue for a batch that no store can keep."""
    check_text(batch.title, "a batch's title")
    check_text(batch.tenant, "tenant")


def check_recurring(jobs: Sequence[RecurringJob]) -> None:
    """Raise InvalidValue for recurring jobs that no store can keep."""
    names: set[tuple[str, str]] = set()
    for each in jobs:
        for what, text in (("name", each.name), ("group", each.group), ("tenant", each.tenant)):
            check_text(text, f"a recurring job's {what}", limits.KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX")
        check_text(each.cycle, "a cycle")
        if not each.name or (each.tenant, each.name) in names:
            raise InvalidValue(f"Expected recurring jobs with names, each once, found {each.name!r}")
        names.add((each.tenant, each.name))
    check_submission([_numbered(each.job, number) for number, each in enumerate(jobs, 1)])


def check_firing(firing: Firing) -> None:
    """Raise InvalidValue for a firing whose jobs no store can insert."""
    check_submission(firing.jobs)


def _numbered(job: NewJob, number: int) -> NewJob:
    """A template with a key of its own, only to be looked at."""
    return NewJob(
        key=number,
        kind=job.kind,
        queue=job.queue,
        type=job.type,
        priority=job.priority,
        retries=job.retries,
        args=job.args,
        tenant=job.tenant,
        options=job.options,
    )
