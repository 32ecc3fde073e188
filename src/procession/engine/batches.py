"""Operations over many instances, a chunk at a time: a turn emits the next items as follow-ups, each of which is once.

A turn is a job that comes back until all items have ended. It knows from the batch's row where it stands, so that it
goes on wherever a process died. What an instance refuses is kept as the item's error; another batch may do those items
again. It decides nothing itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import msgspec

from procession.core.commands import AnyCommand, ResolveIncident, Resume
from procession.engine.definitions import Definitions
from procession.engine.delivery import Delivery
from procession.engine.job_updates import JobUpdate, update_jobs
from procession.engine.keys import KeyStock
from procession.engine.outbox import Announcer
from procession.engine.restarts import Plan, Restart, plan_restart
from procession.engine.system import Later
from procession.engine.values import encode_json
from procession.engine.writer import FOLLOW_UP_RETRIES
from procession.errors import Conflict, NotFound, Rejected
from procession.jobs.kinds import FOLLOW_UP_QUEUE, JobKind
from procession.limits import PAGE_MAX
from procession.store.port import Store
from procession.store.rows import InstanceFilter, JobFence, NewJob, StoredInstance
from procession.store.rows.operating import BatchAdvance, BatchState, NewBatch, StoredBatch

TURN, ITEM = "BatchTurn", "BatchItem"  # types of the jobs
CHUNK = 500  # items emitted by one turn
PACE_MS = 50  # between two turns
GONE = "It is not there any more"


class Giving(Protocol):
    """Whoever carries out an item and closes its job in the same step."""

    async def give(self, instance: int, command: AnyCommand, job: Delivery) -> None:
        """Give a command to an instance."""
        ...

    async def begin(self, plan: Plan, job: Delivery) -> None:
        """Start an instance anew."""
        ...

    async def refusal(self, instance: int, command: AnyCommand) -> str:
        """Why an instance would refuse a command now; empty if it would not."""
        ...


class BatchRequest(msgspec.Struct, omit_defaults=True):
    """What to do with which instances, or jobs. ``command`` None: delete them; with ``update``: change these jobs."""

    which: InstanceFilter
    command: AnyCommand | Restart | None = None
    per_second: float = 0  # items emitted a second at most; 0: as fast as they are done
    update: JobUpdate | None = None


class BatchItem(msgspec.Struct):
    """One item: a command to an instance. ``item``: the instance, or the incident to resolve."""

    batch: int
    item: int
    instance: int
    command: AnyCommand | Restart


class Page(msgspec.Struct):
    """The next items: (item, instance), where the batch stands after them, whether that was all."""

    items: list[tuple[int, int]]
    to: int
    last: bool


class Moment(NamedTuple):
    """When a batch was made: what is younger is not meant, above all what the batch itself has brought about.

    Keys alone do not say what is younger: each process has its own block of them.
    """

    at: float = math.inf
    key: int = 0

    def is_after(self, at: int, key: int) -> bool:
        """Whether something that began then was there already."""
        return at < self.at or (at == self.at and key < self.key)


ALWAYS = Moment()
_decode_request = msgspec.json.Decoder(BatchRequest).decode
_decode_item = msgspec.json.Decoder(BatchItem).decode


class Batches:
    """Carries out the jobs of batches."""

    def __init__(
        self, store: Store, keys: KeyStock, definitions: Definitions, announcer: Announcer, giving: Giving
    ) -> None:
        self._store = store
        self._keys = keys
        self._definitions = definitions
        self._announcer = announcer
        self._giving = giving

    # -- what operators ask ---------------------------------------------------------------------------------------
    async def begin(self, kind: str, request: BatchRequest, tenant: str, retry_of: int = 0) -> int:
        """Make a batch of what the filter means now; its key. Raises Conflict where a batch is done again already."""
        await self._keys.enough()
        key, turn = self._keys.keys.take(), self._keys.keys.take()
        total, cursor, last = 0, 0, False
        while not last:
            page = await self._page(request, cursor, PAGE_MAX, retry_of)
            total, cursor, last = total + len(page.items), page.to, page.last
        job = _job(turn, TURN, encode_json(key), tenant=tenant)
        row = NewBatch(key=key, kind=kind, request=encode_json(request), total=total, tenant=tenant, retry_of=retry_of)
        if not await self._store.create_batch(row, job):
            message = f"The failed items of batch {retry_of} are done again by another batch already: retry that one"
            raise Conflict(message)
        self._announcer.announce(FOLLOW_UP_QUEUE)
        return key

    async def retry(self, batch: int, tenant: str) -> int:
        """Do the failed items of a batch that is over again; the key of the batch that does. Raises Rejected."""
        rows = await self._store.batches(keys=[batch], tenant=tenant)
        if not rows:
            message = f"Expected a batch with key {batch}, found none"
            raise NotFound(message)
        row = rows[0]
        if row.state in {BatchState.ACTIVE, BatchState.SUSPENDED} or row.open:
            message = f"Batch {batch} is under way: cancel it, or wait for its end, before its failed items are retried"
            raise Conflict(message)
        if not row.failed:
            message = f"Batch {batch} has no failed items to retry"
            raise Conflict(message)
        return await self.begin(row.kind, _decode_request(row.request), row.tenant, retry_of=batch)

    async def resume(self, batch: int, tenant: str) -> bool:
        """Let a suspended batch go on; False if it is not suspended."""
        await self._keys.enough()
        turn = _job(self._keys.keys.take(), TURN, encode_json(batch), tenant=tenant)
        if not await self._store.resume_batch(batch, turn):
            return False
        self._announcer.announce(FOLLOW_UP_QUEUE)
        return True

    async def try_out(self, request: BatchRequest, limit: int) -> tuple[int, list[tuple[int, str]]]:
        """How many items there are, and why some of the first ``limit`` would fail. Changes nothing."""
        total, cursor, last, tried = 0, 0, False, 0
        wrong: list[tuple[int, str]] = []
        while not last:
            page = await self._page(request, cursor, PAGE_MAX, 0)
            for item, instance in page.items[: max(0, limit - tried)]:
                tried += 1
                if why := await self._refusal(request, item, instance):
                    wrong.append((item, why))
            total, cursor, last = total + len(page.items), page.to, page.last
        return total, wrong

    async def _refusal(self, request: BatchRequest, item: int, instance: int) -> str:
        """Why one item would fail."""
        command = request.command
        if command is None:
            return ""
        if isinstance(command, Restart):
            try:
                await plan_restart(self._store, self._definitions, instance, command, tenant=request.which.tenant)
            except Rejected as error:
                return str(error)
            return ""
        if isinstance(command, ResolveIncident):
            command = ResolveIncident(item, command.retries)
        return await self._giving.refusal(instance, command)

    # -- jobs -----------------------------------------------------------------------------------------------------
    async def __call__(self, job: Delivery) -> bool:
        """One job: True where it is closed already. Raises Later, Unavailable."""
        if job.type == TURN:
            return await self._turn(job)
        item = _decode_item(job.args)
        try:
            await self._do(item, job)
        except Rejected as error:
            closes = JobFence(key=job.key, lease=job.lease)
            await self._store.fail_batch_item(item.batch, item.item, str(error), closes)
        return True

    async def _do(self, item: BatchItem, job: Delivery) -> None:
        """Carry out one item, closing its job in the same step. Raises Rejected."""
        if not item.instance:
            raise NotFound(GONE)
        if isinstance(item.command, Restart):
            plan = await plan_restart(self._store, self._definitions, item.instance, item.command, tenant=job.tenant)
            await self._giving.begin(plan, job)
        else:
            await self._giving.give(item.instance, item.command, job)
            if isinstance(item.command, Resume):  # what has waited for that is tried now and not at its next time
                self._announcer.announce_all(await self._store.hasten(item.instance))

    async def _turn(self, job: Delivery) -> bool:
        """Emit the next items if not too many are under way; the batch is over when none is left.

        A turn ends where the batch is suspended: resuming it makes another one. Where two meet after that, one of them
        finds the cursor moved on, and ends.
        """
        rows = await self._store.batches(keys=[msgspec.json.decode(job.args, type=int)])
        if not rows or rows[0].state != BatchState.ACTIVE:
            return False
        row = rows[0]
        request = _decode_request(row.request)
        size = min(CHUNK, max(1, math.ceil(request.per_second * PACE_MS / 1000))) if request.per_second else CHUNK
        page = Page([], row.cursor, last=False)
        if len(row.open) <= CHUNK // 2:
            moment = Moment(row.created_at, row.key)
            page = await self._page(request, row.cursor, size, row.retry_of, moment)
        advance = await self._advance(row, request, page)
        if not await self._store.advance_batch(advance):
            return False
        if advance.jobs:
            self._announcer.announce(FOLLOW_UP_QUEUE)
        if advance.ended:
            return False
        pace = 1000 * len(page.items) / request.per_second if request.per_second else 0
        raise Later(max(PACE_MS, int(pace)))

    async def _advance(self, row: StoredBatch, request: BatchRequest, page: Page) -> BatchAdvance:
        """The rows of the next items."""
        advance = BatchAdvance(key=row.key, cursor=row.cursor, to=page.to, open=row.open)
        if request.update is not None:
            advance.done = [item for item, _ in page.items]
            advance.errors = await update_jobs(self._store, request.update, advance.done)
        elif request.command is None:
            advance.deletes = [item for item, _ in page.items]
        else:
            await self._keys.enough()
            advance.jobs = [self._item_job(row, request.command, *item) for item in page.items]
        advance.ended = page.last and not advance.jobs and not row.open
        return advance

    def _item_job(self, row: StoredBatch, command: AnyCommand | Restart, item: int, instance: int) -> NewJob:
        """The job of one item."""
        if isinstance(command, ResolveIncident):
            command = ResolveIncident(item, command.retries)
        args = encode_json(BatchItem(row.key, item, instance, command))
        return _job(self._keys.keys.take(), ITEM, args, instance=instance, tenant=row.tenant)

    async def _page(
        self, request: BatchRequest, cursor: int, size: int, retry_of: int, moment: Moment = ALWAYS
    ) -> Page:
        """The next items after a cursor."""
        which = request.which
        if retry_of:
            return await self._page_of_errors(request, cursor, size, retry_of)
        if request.update is not None:
            keys = request.update.after(cursor, size)
            return Page([(key, 0) for key in keys], keys[-1] if keys else cursor, len(keys) < size)
        if isinstance(request.command, ResolveIncident):
            incidents = await self._store.list_incidents(
                process_id=which.process_id, tenant=which.tenant, after=cursor, limit=size
            )
            to = incidents[-1].key if incidents else cursor
            meant = [(row.key, row.instance) for row in incidents if moment.is_after(row.created_at, row.key)]
            return Page(meant, to, len(incidents) < size)
        rows = await self._store.list_instances(msgspec.structs.replace(which, after=cursor, limit=size))
        to = rows[-1].key if rows else cursor
        meant = [
            (row.key, row.key) for row in rows if _is_meant(which, row) and moment.is_after(row.started_at, row.key)
        ]
        return Page(meant, to, len(rows) < size)

    async def _page_of_errors(self, request: BatchRequest, cursor: int, size: int, retry_of: int) -> Page:
        """The next of the items that another batch could not do."""
        errors = await self._store.batch_errors(retry_of, after=cursor, limit=size)
        items = [(error.item, error.item) for error in errors]
        if isinstance(request.command, ResolveIncident):
            items = [(item, await self._store.find("incident", item)) for item, _ in items]
        return Page(items, errors[-1].item if errors else cursor, len(errors) < size)


def _is_meant(which: InstanceFilter, row: StoredInstance) -> bool:
    """A called instance ends, and goes, with its caller."""
    return not row.parent or bool(which.parent)


def _job(key: int, kind: str, args: bytes, *, instance: int = 0, tenant: str) -> NewJob:
    return NewJob(
        key=key,
        kind=JobKind.FOLLOW_UP,
        queue=FOLLOW_UP_QUEUE,
        type=kind,
        instance=instance,
        retries=FOLLOW_UP_RETRIES,
        args=args,
        tenant=tenant,
    )
