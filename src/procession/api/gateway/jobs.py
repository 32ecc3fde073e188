"""Jobs to workers that wait: in chunks that clients can receive, or pushed one by one as they come.

What was claimed and not yet written to the worker when the call ends is given back at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from procession.api.endpoints import Call
from procession.api.gateway import answers
from procession.api.gateway.messages import Message, new
from procession.api.verbs.jobs import ActivateJobs, records_of, take
from procession.app.working import ActivatedJob
from procession.limits import CLAIM_MAX

CHUNK_BYTES_MAX = 2 * 1024 * 1024  # clients receive messages of up to 4 MiB unless told otherwise
PUSHED_AT_ONCE = 16  # jobs claimed for a worker that may be slow to read
ROUND_MS = 20_000  # a stream looks so often whether its worker is still welcome


class Worker(msgspec.Struct):
    """Whoever waits."""

    call: Call
    write: Callable[[bytes], Awaitable[None]]  # returns when the transport has taken it: a slow reader slows us down
    is_welcome: Callable[[], Awaitable[bool]]


async def activate(worker: Worker) -> None:
    """Up to so many jobs, in as many messages as they need; waits for the first only. Raises Problem, Unavailable."""
    body: ActivateJobs = worker.call.body
    left = body.max_jobs_to_activate
    while left > 0:
        count = min(left, CLAIM_MAX)
        found = await take(worker.call, msgspec.structs.replace(body, max_jobs_to_activate=count))
        await _deliver(worker, found, _chunks)
        left -= len(found)
        if len(found) < count:
            return
        body = msgspec.structs.replace(body, request_timeout=-1)


async def push(worker: Worker) -> None:
    """Jobs as they come, until the worker goes, the server stops, or the worker's time is over. Raises alike."""
    body: ActivateJobs = worker.call.body
    body = msgspec.structs.replace(body, max_jobs_to_activate=PUSHED_AT_ONCE, request_timeout=ROUND_MS)
    while await worker.is_welcome():
        await _deliver(worker, await take(worker.call, body), _singly)


Pack = Callable[[list[Message]], list[tuple[bytes, int]]]  # messages to send, and how many jobs are in each


async def _deliver(worker: Worker, found: list[ActivatedJob], pack: Pack) -> None:
    """Write them; what is not written is given back."""
    call = worker.call
    call.undo.clear()
    written = 0
    try:
        for job in found:
            call.desk.remember_owner(job.element_instance_key, job.process_instance_key)
        records = await records_of(call, call.body, found) if found else []
        for raw, count in pack([answers.job(record) for record in records]):
            await worker.write(raw)
            written += count
    finally:
        if written < len(found):
            call.desk.app.return_jobs(found[written:])


def _singly(jobs: list[Message]) -> list[tuple[bytes, int]]:
    return [(job.SerializeToString(), 1) for job in jobs]


def _chunks(jobs: list[Message]) -> list[tuple[bytes, int]]:
    """As few messages as the size allows; a job that is too large alone goes alone."""
    chunks: list[list[Message]] = []
    size = CHUNK_BYTES_MAX
    for job in jobs:
        length = job.ByteSize()
        if size + length > CHUNK_BYTES_MAX:
            chunks.append([])
            size = 0
        chunks[-1].append(job)
        size += length
    return [(new("ActivateJobsResponse", jobs=chunk).SerializeToString(), len(chunk)) for chunk in chunks]
