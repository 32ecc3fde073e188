"""Jobs come in, with whatever options: keys that must be unique, limits, parents, batches, places in line.

Locks are taken in the order of the port: unique keys, limits, batches, jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from procession.errors import Conflict, InvalidValue, NotFound, Unavailable
from procession.ids import FIRST_PARTITION, key_of
from procession.jobs.flows import Effect, effect_of, order_of
from procession.jobs.kinds import JobState
from procession.jobs.limits import LimitState, place
from procession.jobs.options import JobOptions, Trait, due_of, traits_of
from procession.jobs.transitions import waiting_state
from procession.jobs.unique import Meeting, meet, pushed_back
from procession.limits import BATCH_DEPTH_MAX
from procession.store._shared.queue.batching import open_flow, seal_flow
from procession.store._shared.queue.ending import End, doom_reason, end_jobs, outcome_of, unpark
from procession.store._shared.queue.fairness import take_turns
from procession.store._shared.queue.limiting import newest_limits
from procession.store._shared.queue.rows import (
    NO_OPTIONS,
    BatchRow,
    JobRow,
    lock_batches,
    lock_jobs,
    options_json,
    read_jobs,
    write_batches,
    write_limits,
)
from procession.store._shared.queue.script import Script, ask_for
from procession.store.rows import JobFence, NewJob
from procession.store.rows.queue import JobBatchState, NewJobBatch, Submission, Submitted

_TRIES = 5  # somebody frees a unique key just while we look at who holds it


class Draft(msgspec.Struct):
    """A job on its way in."""

    job: NewJob
    options: JobOptions
    traits: int
    due: int
    state: JobState = JobState.READY
    waits_for: str = ""
    unresolved: list[tuple[int, bool]] = []  # parents that have not ended: (key, either)
    resolved: list[tuple[int, bool]] = []
    doom: str | None = None
    priority: int = 0

    @property
    def key(self) -> int:
        """The job's key."""
        return self.job.key


class Plan(msgspec.Struct):
    """What a submission comes to."""

    now: int
    answers: dict[int, Submitted]
    drafts: dict[int, Draft]
    stands_for: dict[int, int]  # duplicate -> the job that holds its key
    flows: set[int] = set()  # that come to be in this call

    def drop(self, draft: Draft, holder: int, outcome: Submission, state: int) -> None:
        """The job is not inserted; the holder stands for it."""
        del self.drafts[draft.key]
        self.stands_for[draft.key] = holder
        self.answers[draft.key] = Submitted(key=holder, outcome=outcome, state=state)


def submit(jobs: Sequence[NewJob], now: int, closes: JobFence | None = None) -> Script[list[Submitted]]:
    """Insert jobs, all or nothing; one answer per job, in order. ``check_submission`` has been passed before."""
    if closes is not None and not (yield from ask_for("close_run", [closes.key], closes.lease)):
        return []
    plan = Plan(now, {}, {}, {})
    known = {key: job.state for key, job in (yield from read_jobs(job.key for job in jobs)).items()}
    for row in (yield from ask_for("find_archived", sorted(job.key for job in jobs))):
        known[row[0]] = row[1]
    for job in jobs:
        if job.key in known:
            plan.answers[job.key] = Submitted(key=job.key, state=known[job.key])
        else:
            plan.drafts[job.key] = _draft(job, now)
    yield from _meet_holders(plan)
    limits = yield from newest_limits((rule for each in plan.drafts.values() for rule in each.options.limits), now)
    batches = yield from _hold_batches(plan, _flows_of(jobs))
    yield from _find_parents(plan, batches)
    _place_all(plan, limits)
    yield from take_turns(plan.drafts.values(), now)
    yield from write_limits(limits.values())
    yield from _insert(plan)
    yield from _join_batches(plan, batches)
    yield from _doom(plan)
    return [plan.answers[job.key] for job in jobs]


def _draft(job: NewJob, now: int) -> Draft:
    options = job.options or NO_OPTIONS
    deadlines = [at for at in (options.deadline_at, options.deadline_ms and now + options.deadline_ms) if at]
    options = msgspec.structs.replace(
        options,
        deadline_at=min(deadlines, default=0),
        priority=job.priority if options.ageing_ms else 0,
        flow_title="",
    )
    return Draft(job, options, traits_of(options), job.run_at or now + job.delay_ms, priority=job.priority)


# --- unique keys ------------------------------------------------------------------------------------------------------


def _meet_holders(plan: Plan) -> Script[None]:
    """Take unique keys, or give way to those who hold them."""
    firsts: dict[tuple[str, str], Draft] = {}
    for draft in list(plan.drafts.values()):
        unique = draft.options.unique
        if unique is None:
            continue
        first = firsts.setdefault((draft.job.tenant, unique.key), draft)
        if first is not draft:
            _meet_in_call(plan, first, draft)
    if not firsts:
        return
    holders = yield from _take_keys(firsts, plan.now)
    rows = yield from lock_jobs(job for job, _ in holders.values() if job)
    taken: list[dict[str, object]] = []
    for name, draft in sorted(firsts.items()):
        job, until = holders[name]
        if job == draft.key:
            continue
        yield from _meet(plan, draft, job, until, rows.get(job), taken)
    yield from ask_for("take_unique", taken)


def _meet_in_call(plan: Plan, first: Draft, draft: Draft) -> None:
    """A key that comes twice in a call: the second meets the first, which has not started."""
    unique = draft.options.unique
    assert unique is not None
    match meet(unique, JobState.SCHEDULED, 0, plan.now):
        case Meeting.REFRESHES:
            first.job = _with_key(draft.job, first.key)
            first.options, first.traits, first.due, first.priority = (
                *(draft.options, draft.traits, draft.due),
                draft.priority,
            )
            outcome = Submission.REFRESHED
        case Meeting.PUSHES_BACK:
            first.due = pushed_back(unique, plan.now, draft.due)
            if not unique.keep_first:
                first.job = msgspec.structs.replace(first.job, args=draft.job.args)
            outcome = Submission.PUSHED_BACK
        case _:
            outcome = Submission.DUPLICATE
    plan.drop(draft, first.key, outcome, first.state)


def _with_key(job: NewJob, key: int) -> NewJob:
    return msgspec.structs.replace(job, key=key)


def _take_keys(firsts: dict[tuple[str, str], Draft], now: int) -> Script[dict[tuple[str, str], tuple[int, int]]]:
    """Take the keys that are free; of all of them, held from here on: (the job that holds it, until when or 0)."""
    wanted = [_unique_row(name, draft, now) for name, draft in sorted(firsts.items())]
    holders: dict[tuple[str, str], tuple[int, int]] = {}
    for _ in range(_TRIES):
        yield from ask_for("hold_unique", wanted)
        for tenant, key, job, until in (yield from ask_for("lock_unique", wanted)):
            holders[tenant, key] = (job, until or 0)
        wanted = [row for row in wanted if (row["tenant"], row["key"]) not in holders]
        if not wanted:
            return holders
    raise Unavailable("Expected to hold the unique keys of new jobs, but others took and freed them again and again")


def _unique_row(name: tuple[str, str], draft: Draft, now: int) -> dict[str, object]:
    unique = draft.options.unique
    assert unique is not None
    until = now + unique.for_ms if unique.for_ms else None
    return {"tenant": name[0], "key": name[1], "job": draft.key, "until": until}


def _meet(
    plan: Plan, draft: Draft, holder: int, until: int, row: JobRow | None, taken: list[dict[str, object]]
) -> Script[None]:
    unique = draft.options.unique
    assert unique is not None
    match meet(unique, JobState(row.state) if row is not None else None, until, plan.now):
        case Meeting.TAKES_OVER:
            taken.append(_unique_row((draft.job.tenant, unique.key), draft, plan.now))
        case Meeting.IS_DUPLICATE:
            state = row.state if row is not None else JobState.SUCCEEDED
            plan.drop(draft, holder, Submission.DUPLICATE, state)
        case Meeting.REFRESHES:
            assert row is not None
            yield from _refresh(row, draft, plan.now)
            plan.drop(draft, holder, Submission.REFRESHED, row.state)
        case Meeting.PUSHES_BACK:
            assert row is not None
            draft.due = pushed_back(unique, row.created_at, draft.due)
            if not unique.keep_first:
                yield from ask_for("refresh_args", [{"key": holder, "args": draft.job.args.decode()}])
            yield from _reschedule(row, draft.due, plan.now)
            plan.drop(draft, holder, Submission.PUSHED_BACK, row.state)


def _refresh(row: JobRow, draft: Draft, now: int) -> Script[None]:
    """Give a holder what the new job brings; what it comes after and is a member of stays as it is."""
    old = row.options
    options = msgspec.structs.replace(draft.options, after=old.after, batch=old.batch, limits=old.limits)
    kept = row.traits & (Trait.PARENT | Trait.CHILD | Trait.MEMBER | Trait.LIMITED)
    row.traits = traits_of(options) | kept
    fields: dict[str, object] = {
        "key": row.key,
        "args": draft.job.args.decode(),
        "options": options_json(options),
        "traits": row.traits,
        "deadline_at": options.deadline_at or None,
        "type": draft.job.type,
        "queue": draft.job.queue,
    }
    yield from ask_for("refresh_jobs", [fields])
    row.options_json = options_json(options)
    row.priority, row.retries, row.queue = draft.job.priority, draft.job.retries, draft.job.queue
    yield from _reschedule(row, draft.due, now)


def _reschedule(row: JobRow, due: int, now: int) -> Script[None]:
    """Give a holder another due time; one that waits for parents or a limit goes on doing so."""
    row.run_at = due
    if row.state == JobState.THROTTLED and due > now and not row.waits_for:
        yield from unpark({limit.key: 1 for limit in row.options.limits})  # it leaves the line: the next one tries
    if row.state == JobState.THROTTLED and due <= now:
        row.run_at = now
    elif row.state != JobState.AWAITING:
        row.state, row.waits_for = waiting_state(row.traits, due=due <= now), ""
    if row.state == JobState.READY and row.has(Trait.AGEING):
        row.priority, row.run_at = due_of(row.options, row.run_at)
    yield from ask_for("update_jobs", [row.as_change()])


# --- batches and parents ----------------------------------------------------------------------------------------------


def _flows_of(jobs: Sequence[NewJob]) -> dict[int, NewJobBatch]:
    """The flows that come to be with jobs of this call, by key."""
    return {
        job.options.batch: NewJobBatch(key=job.options.batch, title=job.options.flow_title, tenant=job.tenant)
        for job in jobs
        if job.options is not None and job.options.flow_title
    }


def _hold_batches(plan: Plan, flows: dict[int, NewJobBatch]) -> Script[dict[int, BatchRow]]:
    """Lock the batches that new jobs join or come after. Raises Conflict where one to join is not open."""
    joined = {draft.options.batch for draft in plan.drafts.values()} - {0}
    named = {after.key for draft in plan.drafts.values() for after in draft.options.after}
    batches = yield from lock_batches(joined | flows.keys() | (named - plan.drafts.keys()))
    for key in sorted(flows.keys() - batches.keys()):
        batches[key] = yield from open_flow(flows[key], plan.now)
        plan.flows.add(key)
    for key in sorted(joined):
        batch = batches.get(key)
        if batch is None or batch.state != JobBatchState.OPEN:
            found = "no such batch" if batch is None else f"it {JobBatchState(batch.state).name}"
            raise Conflict(f"Expected batch {key} to be open for new jobs, found {found}")
    yield from _check_circles(plan, batches)
    return batches


def _check_circles(plan: Plan, batches: dict[int, BatchRow]) -> Script[None]:
    """Raises InvalidValue where a job would come after the batch that it is in: neither would ever be over."""
    for draft in plan.drafts.values():
        around = draft.options.batch
        named = {after.key for after in draft.options.after} & batches.keys() if around else set[int]()
        for _ in range(BATCH_DEPTH_MAX):
            if not named or not around:
                break
            if around in named:
                raise InvalidValue(f"Expected a job of batch {draft.options.batch} not to come after batch {around}")
            rows = yield from ask_for("batch_parent", [around])
            around = rows[0][0] if rows else 0


def _find_parents(plan: Plan, batches: dict[int, BatchRow]) -> Script[None]:
    """What each new job has to wait for, and which are doomed from the start."""
    drafts = plan.drafts
    wanted = {
        key: [(plan.stands_for.get(after.key, after.key), after.either) for after in draft.options.after]
        for key, draft in drafts.items()
    }
    outside = {parent for after in wanted.values() for parent, _ in after} - drafts.keys() - batches.keys()
    states = {key: job.state for key, job in (yield from lock_jobs(outside)).items()}
    reasons: dict[int, str] = {}
    for row in (yield from ask_for("find_archived", sorted(outside - states.keys()))):
        states[row[0]], reasons[row[0]] = row[1], row[3] or ""
    yield from _expect_given(outside - states.keys())
    states |= {key: _state_of(batch) for key, batch in batches.items()}
    for key in order_of({key: [parent for parent, _ in after] for key, after in wanted.items()}):
        draft = drafts[key]
        for parent, either in wanted[key]:
            if parent in drafts:
                state = JobState.DELETED if drafts[parent].doom is not None else JobState.READY
                reasons[parent] = drafts[parent].doom or ""
            else:
                state = states.get(parent, JobState.SUCCEEDED)
            reason = doom_reason(parent, reasons.get(parent, ""), is_batch=parent in batches)
            _weigh(draft, parent, either=either, state=state, reason=reason)
    parents = {parent for draft in drafts.values() for parent, _ in draft.unresolved}
    for parent in parents & drafts.keys():
        drafts[parent].traits |= Trait.PARENT
    yield from ask_for("mark_parents", sorted(parents - drafts.keys() - batches.keys()))


def _expect_given(keys: set[int]) -> Script[None]:
    """Whoever had one of these keys has ended long ago, if ever there was somebody. Raises NotFound."""
    if not keys:
        return
    ((counter,),) = yield from ask_for("next_key", [0])
    for key in sorted(keys):
        if not key_of(FIRST_PARTITION, 0) < key < key_of(FIRST_PARTITION, counter):
            message = f"Expected the key of a job, or of a batch of jobs, to come after, found {key}, which nobody had"
            raise NotFound(message)


def _weigh(draft: Draft, parent: int, *, either: bool, state: int, reason: str) -> None:
    match effect_of(state, either=either):
        case Effect.RESOLVED:
            draft.resolved = [*draft.resolved, (parent, either)]
        case Effect.WAITS:
            draft.unresolved = [*draft.unresolved, (parent, either)]
        case Effect.DOOMED:
            draft.doom = reason


def _state_of(batch: BatchRow) -> JobState:
    """A batch as something that others come after."""
    if batch.state != JobBatchState.FINISHED:
        return JobState.RUNNING
    return outcome_of(batch)


def _join_batches(plan: Plan, batches: dict[int, BatchRow]) -> Script[None]:
    joined = Counter(draft.options.batch for draft in plan.drafts.values() if draft.options.batch)
    for key, count in joined.items():
        batches[key].total += count
    for key in plan.flows:
        seal_flow(batches[key], plan.now)
    yield from write_batches(batches[key] for key in sorted(joined.keys() | plan.flows))


def _doom(plan: Plan) -> Script[None]:
    doomed = {key: draft.doom for key, draft in plan.drafts.items() if draft.doom is not None}
    if doomed:
        rows = yield from lock_jobs(doomed)
        yield from end_jobs([End(rows[key], JobState.DELETED, doomed[key]) for key in sorted(doomed)], plan.now)


# --- insertion --------------------------------------------------------------------------------------------------------


def _place_all(plan: Plan, limits: dict[str, LimitState]) -> None:
    """The state of each new job, its time, and what it waits for."""
    for draft in plan.drafts.values():
        if draft.unresolved or draft.doom is not None:
            draft.state = JobState.AWAITING
            continue
        draft.state = waiting_state(draft.traits, due=draft.due <= plan.now)
        if draft.state == JobState.THROTTLED:
            rules = [limits[limit.key] for limit in draft.options.limits]
            draft.due, draft.waits_for = place(rules, plan.now)
        elif draft.state == JobState.READY and draft.options.ageing_ms:
            draft.priority, draft.due = due_of(draft.options, draft.due)


def _insert(plan: Plan) -> Script[None]:
    drafts = [plan.drafts[key] for key in sorted(plan.drafts)]
    yield from ask_for("insert_jobs", [_row(draft, plan.now) for draft in drafts])
    links: list[dict[str, object]] = []
    for draft in drafts:
        links += _links(draft)
        outcome = Submission.DOOMED if draft.doom is not None else Submission.INSERTED
        state = JobState.DELETED if draft.doom is not None else _first_state(draft)
        plan.answers[draft.key] = Submitted(key=draft.key, outcome=outcome, state=state)
    yield from ask_for("add_dependencies", links)


def _links(draft: Draft) -> list[dict[str, object]]:
    """What a job comes after. A parent may be named twice, once by a duplicate of it: the stricter link counts."""
    strict: dict[int, tuple[bool, bool]] = {}
    for found, resolved in ((draft.unresolved, False), (draft.resolved, True)):
        for parent, either in found:
            before = strict.get(parent, (True, True))
            strict[parent] = (before[0] and either, before[1] and resolved)
    return [_link(draft.key, parent, either=either, resolved=resolved) for parent, (either, resolved) in strict.items()]


def _link(child: int, parent: int, *, either: bool, resolved: bool) -> dict[str, object]:
    return {"child": child, "parent": parent, "either": int(either), "resolved": int(resolved)}


def _first_state(draft: Draft) -> JobState:
    """Claim on insert: a job that is READY may belong to the process that inserts it."""
    return JobState.RUNNING if draft.job.owner and draft.state == JobState.READY else draft.state


def _row(draft: Draft, now: int) -> dict[str, object]:
    job, options = draft.job, draft.options
    state = _first_state(draft)
    return {
        "key": job.key,
        "kind": int(job.kind),
        "state": int(state),
        "owner": job.owner if state == JobState.RUNNING else None,
        "queue": job.queue,
        "type": job.type,
        "priority": draft.priority,
        "run_at": draft.due,
        "retries": job.retries,
        "created_at": now,
        "tenant": job.tenant or None,
        "args": job.args.decode(),
        "traits": draft.traits or None,
        "options": options_json(options) if job.options is not None else None,
        "batch": options.batch or None,
        "deadline_at": options.deadline_at or None,
        "waits_for": draft.waits_for or None,
    }
