"""Jobs that are put into the queue again and again: declared by name, paused, triggered, looked at.

When one is due, and what becomes of runs that nobody made in time, the queue's rules say (``jobs.recurring``); the
leading process fires them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Self, cast

import msgspec

from procession.app import arguments
from procession.app.inspection import Inspection
from procession.app.job_options import Limit, Unique
from procession.app.job_rows import EnqueueOptions, new_rows
from procession.app.views import View, readable
from procession.engine.queue_duties import RECURRING
from procession.errors import Conflict, InvalidValue, NotFound
from procession.jobs.codec import Codec
from procession.jobs.recurring import first_firing
from procession.jobs.schedule import to_datetime
from procession.limits import PAGE_MAX
from procession.store.rows.queue import Missed, RecurringJob
from procession.store.rows.queue_reading import StoredRecurring
from procession.worker import Registry

MissedRuns = Literal["once", "all", "skip"]
NOT_AGAIN = frozenset({"at", "delay", "after", "after_finished", "batch"})  # one moment, or certain other jobs
UNIQUE_NAMES = {"for": "for_"}  # as a file says it


class Recurring(msgspec.Struct, frozen=True, kw_only=True):
    """What a recurring job is to be.

    ``cycle``: a cron expression of five or six fields (``0 9 * * MON-FRI``; a zone may stand before it, as
    ``CRON_TZ=Europe/Berlin 0 9 * * *``; ``@daily`` and the like), or an ISO 8601 interval such as ``R/PT15M``.
    ``missed`` says what becomes of runs that were due while no process looked: one for all of them (``once``), each of
    them (``all``), or none (``skip``). ``overlap`` False: a run is passed over while the last one's job is not over.
    ``queue``, ``priority``, ``retries``, ``title`` and ``tags`` are the job's, and ``options`` are all others of
    ``enqueue`` but those that name one moment or other jobs: ``at``, ``delay``, ``after``, ``after_finished``,
    ``batch``.
    """

    name: str
    cycle: str
    type: str
    args: Any = None
    missed: MissedRuns = "once"
    overlap: bool = True
    queue: str = ""
    priority: int = 0
    retries: int = 0
    title: str = ""
    tags: Sequence[str] = ()
    options: EnqueueOptions = {}

    def words(self) -> dict[str, Any]:
        """All of its options, as ``enqueue`` takes them. Raises InvalidValue for what a recurring job cannot have."""
        own = {
            "queue": self.queue,
            "priority": self.priority,
            "retries": self.retries,
            "title": self.title,
            "tags": self.tags,
        }
        said: dict[str, Any] = {**self.options, **{word: value for word, value in own.items() if value}}
        if refused := sorted(said.keys() & NOT_AGAIN):
            message = f"recurring job '{self.name}': expected options that each run can have, found '{refused[0]}'"
            raise InvalidValue(message)
        if isinstance(said.get("deadline"), datetime):
            message = (
                f"recurring job '{self.name}': expected deadline to be a span, found an instant, which passes once"
            )
            raise InvalidValue(message)
        return said


class RecurringJobInfo(View, frozen=True, kw_only=True):
    """A recurring job as it stands."""

    name: str
    cycle: str
    group: str
    type: str
    queue: str
    priority: int
    retries: int
    options: dict[str, Any]  # the others, as they are stored
    args: dict[str, Any]
    missed: str
    overlap: bool
    is_paused: bool
    next_at: datetime | None
    last_at: datetime | None  # the due time that the last firing stood for
    last_job_key: int
    fired: int
    tenant_id: str = ""

    @classmethod
    def of(cls, row: StoredRecurring, codec: Codec | None = None) -> Self:
        """From its row. Arguments that cannot be read without their key are shown as they are stored."""
        return cls(
            name=row.name,
            cycle=row.cycle,
            group=row.group,
            type=row.job.type,
            queue=row.job.queue,
            priority=row.job.priority,
            retries=row.job.retries,
            options=msgspec.to_builtins(row.job.options) if row.job.options is not None else {},
            args=readable(codec, row.job.args or b"{}"),
            missed=Missed(row.missed).name.lower(),
            overlap=row.overlap,
            is_paused=row.paused,
            next_at=to_datetime(row.next_at) if row.next_at else None,
            last_at=to_datetime(row.last_at) if row.last_at else None,
            last_job_key=row.last_job,
            fired=row.fired,
            tenant_id=row.tenant,
        )


class RecurringJobs(Inspection):
    """The recurring half of ``Procession``."""

    handlers: Registry
    codec: Codec | None

    async def put_recurring(self, *jobs: Recurring, group: str | None = None) -> list[str]:
        """Declare recurring jobs; the names of those that are new or changed.

        One that is there as declared stays untouched, with its next run and its pause. With ``group`` the jobs of that
        group that are not among these are removed in the same transaction: say at each start what a program needs.
        Raises InvalidValue for a cycle that cannot be read or is never due, with what is wrong.
        """
        if group is not None:
            arguments.key_text(group, "group")
        names = [job.name for job in jobs]
        if len(set(names)) < len(names):
            message = f"Expected recurring jobs with different names, found {sorted(names)}"
            raise InvalidValue(message)
        now = self._engine.clock.now()
        rows = [self._row(job, group or "", now) for job in jobs]
        if self.codec is not None:
            await self._keep_arguments(rows)
        changed, removed = await self._store.put_recurring(rows, group=group, tenant=self._tenant)
        if changed or removed:
            self._engine.announce(RECURRING)
        return changed

    async def recurring_jobs(
        self, *, group: str | None = None, after: str = "", limit: int = 100
    ) -> list[RecurringJobInfo]:
        """A page of them by name; ``after`` is the last name of the page before."""
        rows = await self._store.recurring_jobs(
            group=group, tenant=self._tenant, after=arguments.text(after, "after"), limit=arguments.page(limit)
        )
        return [RecurringJobInfo.of(row, self.codec) for row in rows]

    async def recurring_job(self, name: str) -> RecurringJobInfo:
        """One of them. Raises NotFound."""
        return RecurringJobInfo.of(await self._stored_recurring(name), self.codec)

    async def pause_recurring(self, name: str) -> None:
        """Fire it no more until it is resumed. Raises NotFound."""
        await self._stored_recurring(name)
        await self._store.pause_recurring(name, paused=True, tenant=self._tenant)

    async def resume_recurring(self, name: str) -> None:
        """Fire it again, from the next due time on: what was due meanwhile is not made up for. Raises NotFound."""
        row = await self._stored_recurring(name)
        next_at = first_firing(row.cycle, self._engine.clock.now())
        await self._store.pause_recurring(name, paused=False, next_at=next_at, tenant=self._tenant)
        self._engine.announce(RECURRING)

    async def trigger_recurring(self, name: str) -> int:
        """Run it now, beside its times; the key of the job. Raises NotFound."""
        row = await self._stored_recurring(name)
        if row.error:
            raise Conflict(f"Expected recurring job '{name}' to have a job that can be read: {row.error}")
        job_key = await self._engine.queue_duties.trigger(row)
        if job_key is None:
            raise NotFound(f"Expected a recurring job with the name '{name}', but it was removed at this very moment")
        return job_key

    async def remove_recurring(self, name: str) -> None:
        """Remove it; jobs that it has put into the queue stay. Raises NotFound."""
        if not await self._store.remove_recurring(arguments.name(name, "name"), tenant=self._tenant):
            raise NotFound(_none(name))
        self._engine.announce(RECURRING)

    # -- internal -------------------------------------------------------------------------------------------------
    async def _stored_recurring(self, name: str) -> StoredRecurring:
        rows = await self._store.recurring_jobs(name=arguments.name(name, "name"), tenant=self._tenant, limit=PAGE_MAX)
        found = next((row for row in rows if row.tenant == self._tenant), None)
        if found is None:
            raise NotFound(_none(name))
        return found

    async def _keep_arguments(self, rows: Sequence[RecurringJob]) -> None:
        """Declare encoded arguments that are as before in the very bytes of before: no two encryptions are alike."""
        for row in rows:
            stored = await self._store.recurring_jobs(name=row.name, tenant=self._tenant, limit=PAGE_MAX)
            before = next((each.job.args for each in stored if each.tenant == self._tenant), b"")
            if before and readable(self.codec, before) == readable(self.codec, row.job.args):
                row.job.args = before

    def _row(self, job: Recurring, group: str, now: int) -> RecurringJob:
        """A declaration as it is stored. Raises InvalidValue."""
        name = arguments.key_text(
            arguments.name(job.name, "the name of a recurring job"), "the name of a recurring job"
        )
        kind = arguments.key_text(arguments.name(job.type, "the type of a job"), "the type of a job")
        if str(job.missed).upper() not in Missed.__members__:
            message = f"Expected missed to be 'once', 'all' or 'skip', found {arguments.shown(job.missed)}"
            raise InvalidValue(message)
        try:
            next_at = first_firing(arguments.text(job.cycle, "cycle"), now)
        except InvalidValue as error:
            raise InvalidValue(f"recurring job '{name}': {error}") from error
        if not next_at:
            message = f"recurring job '{name}': expected a cycle that is due again, found '{job.cycle}', which never is"
            raise InvalidValue(message)
        (row,) = new_rows(
            kind,
            [job.args],
            job.words(),
            handler=self.handlers.jobs.get(kind),
            tenant=self._tenant,
            codec=self.codec,
            what=f"the arguments of recurring job '{name}'",
        )
        if row.delay_ms:
            message = f"recurring job '{name}': expected options that each run can have, found a default of 'delay'"
            raise InvalidValue(message)
        return RecurringJob(
            name=name,
            cycle=job.cycle,
            job=row,
            group=group,
            missed=Missed[job.missed.upper()],
            overlap=arguments.flag(job.overlap, f"overlap of recurring job '{name}'"),
            tenant=self._tenant,
            next_at=next_at,
        )


def _none(name: object) -> str:
    return f"Expected a recurring job named {arguments.shown(name)}, found none"


class _Declared(Recurring, frozen=True, kw_only=True):
    """A recurring job as a file says it, with its options as plain objects."""

    options: dict[str, Any] = {}  # pyright: ignore[reportIncompatibleVariableOverride] - Unique and Limit as objects


def _declared(given: _Declared) -> Recurring:
    """With its options as a program says them. Raises InvalidValue."""
    options: dict[str, Any] = dict(given.options)
    try:
        if isinstance(options.get("unique"), dict):
            unique = cast("dict[str, Any]", options["unique"])
            options["unique"] = Unique(**{UNIQUE_NAMES.get(name, name): each for name, each in unique.items()})
        if isinstance(options.get("limits"), list):
            options["limits"] = [Limit(**each) for each in options["limits"]]
    except TypeError as error:
        message = f"Expected recurring jobs: options of '{given.name}': {error}"
        raise InvalidValue(message) from error
    fields: dict[str, Any] = {name: getattr(given, name) for name in Recurring.__struct_fields__}
    fields["options"] = options
    return Recurring(**fields)


def declarations(values: Sequence[Mapping[str, Any]]) -> list[Recurring]:
    """Recurring jobs from plain objects, such as those of a file. Raises InvalidValue with the place."""
    try:
        return [_declared(each) for each in msgspec.convert(values, list[_Declared])]
    except msgspec.ValidationError as error:
        message = f"Expected recurring jobs: {error}"
        raise InvalidValue(message) from error
