"""What pages look at: instances by any condition, marks of change, problems grouped, the tally."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

import pytest

from procession.core.state import Status
from procession.errors import InvalidValue
from procession.ids import Keys
from procession.store.port import Store
from procession.store.rows.metering import Measure, MeterRow
from procession.store.rows.watching import (
    InstanceSearch,
    TallyCount,
    TallyCursor,
    VariableIs,
    bucket_of,
    duration_of,
)
from procession.testing.conformance.listing import incident_of, user_task_of
from procession.testing.conformance.stage import (
    ManualClock,
    apply,
    claim,
    new_job,
    next_step,
    service_job,
    start_step,
    waiting_for,
)

HORIZON_MS = 60_000  # after so long no store waits for a step that may still come


async def found(store: Store, **which: object) -> list[int]:
    """The keys that a search finds."""
    return [row.key for row in (await store.find_instances(InstanceSearch(**which))).instances]  # type: ignore[arg-type]


class TestFindInstances:
    """Instances by any condition."""

    async def test_every_condition_restricts(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        first = start_step(keys, business_id="A_17", tags=["gold", "x y"], tenant="acme", definition=70)
        second = start_step(keys, parent=first.instance, variables=b'{"n":5,"s":"Ab%c","t":true,"l":[5]}')
        third = start_step(keys, process_id="ship", definition=80, variables=b'{"n":5.0,"s":null}')
        await apply(store, keys, first, second)
        began = clock()
        clock.advance(1_000)
        await apply(store, keys, third)
        await apply(store, keys, next_step(third, status=int(Status.COMPLETED)))
        await apply(store, keys, next_step(first, new_incidents=[incident_of(keys, first, fingerprint="abc")]))
        one, two, three = first.instance, second.instance, third.instance

        assert await found(store) == [three, two, one]
        assert await found(store, process_id="order") == [two, one]
        assert await found(store, process_id="order", definition=70) == [one]
        assert await found(store, statuses=[int(Status.COMPLETED)]) == [three]
        assert await found(store, business_id="A_17") == [one]
        assert await found(store, parent=one) == [two]
        assert await found(store, tag="x y") == [one]
        assert await found(store, tenants=["acme"]) == [one]
        assert await found(store, tenants=[""]) == [three, two]
        assert await found(store, with_incident=True) == [one]
        assert await found(store, incident_element="charge-card") == [one]
        assert await found(store, incident_element="other") == []
        assert await found(store, fingerprint="abc") == [one]
        assert await found(store, started_from=began + 1) == [three]
        assert await found(store, started_until=began + 1) == [two, one]
        assert await found(store, ended_from=began) == [three]
        assert await found(store, ended_until=began + 5_000) == [three]
        assert await found(store, ended_until=began) == []

    async def test_variables_are_compared_as_json(self, store: Store, keys: Keys) -> None:
        whole = start_step(keys, variables=b'{"n":5,"s":"Ab%c","t":true,"e":null}')
        listed = start_step(keys, variables=b'{"n":[5],"s":"ab%c","t":1}')
        await apply(store, keys, whole, listed)

        async def with_value(name: str, value: str) -> list[int]:
            return await found(store, variables=[VariableIs(name, value)])

        assert await with_value("n", "5") == [whole.instance]
        assert await with_value("n", "5.0") == [whole.instance]
        assert await with_value("s", '"Ab%c"') == [whole.instance]
        assert await with_value("t", "true") == [whole.instance]
        assert await with_value("t", "1") == [listed.instance]
        assert await with_value("e", "null") == [whole.instance]
        assert await with_value("absent", "null") == []
        both = [VariableIs("n", "5"), VariableIs("t", "true")]
        assert await found(store, variables=both) == [whole.instance]
        assert await found(store, variables=[VariableIs("n", "5"), VariableIs("t", "false")]) == []
        with pytest.raises(InvalidValue, match="SEARCH_VARIABLES_MAX"):
            await found(store, variables=[VariableIs(f"v{n}", "1") for n in range(4)])

    async def test_a_text_is_found_whatever_its_case(self, store: Store, keys: Keys) -> None:
        steps = [
            start_step(keys, business_id="Order-100%"),
            start_step(keys, variables=b'{"city":"Oslo_X"}'),
            start_step(keys, tags=["Golden"]),
        ]
        await apply(store, keys, *steps)
        one, two, three = (step.instance for step in steps)
        assert await found(store, text="order-100%") == [one]
        assert await found(store, text="oslo_x") == [two]
        assert await found(store, text="o_x") == [two]
        assert await found(store, text="GOLD") == [three]
        assert await found(store, text="r%0") == []

    async def test_pages_follow_each_other_through_the_window(self, store: Store, keys: Keys) -> None:
        steps = [start_step(keys, tags=["odd"] if number % 2 else []) for number in range(10)]
        await apply(store, keys, *steps)
        newest = [step.instance for step in reversed(steps)]
        page = await store.find_instances(InstanceSearch(limit=4))
        assert ([row.key for row in page.instances], page.next_after) == (newest[:4], newest[3])
        rest = await store.find_instances(InstanceSearch(limit=10, after=page.next_after))
        assert ([row.key for row in rest.instances], rest.next_after) == (newest[4:], 0)
        # The window ends before the page is full: the search says where it stands.
        some = await store.find_instances(InstanceSearch(tag="odd", limit=5, look=4, text="odd"))
        more = await store.find_instances(InstanceSearch(tag="odd", limit=5, look=4, text="odd", after=some.next_after))
        seen = [row.key for row in (*some.instances, *more.instances)]
        assert seen == newest[::2][: len(seen)]
        assert len(seen) >= 4
        assert await store.count_found(InstanceSearch(tag="odd"), 3) == 3
        assert await store.count_found(InstanceSearch(tag="odd"), 100) == 5
        assert await store.looks_at_all(InstanceSearch(look=11))
        assert not await store.looks_at_all(InstanceSearch(look=9))

    async def test_states_come_where_they_are_asked_for(self, store: Store, keys: Keys) -> None:
        step = start_step(keys)
        await apply(store, keys, step)
        (bare,) = (await store.find_instances(InstanceSearch())).instances
        (whole,) = (await store.find_instances(InstanceSearch(with_state=True))).instances
        assert (bare.state, bare.variables, whole.state) == (b"", b"", step.state)


class TestWatching:
    """Marks, counts, groups."""

    async def test_the_size_of_a_database_is_known_where_it_has_a_disk(self, store: Store, keys: Keys) -> None:
        await apply(store, keys, start_step(keys))
        size = await store.size()
        assert size == 0 or size > 50_000  # a memory store has none; tables and indexes alone are more elsewhere

    async def test_marks_differ_when_something_changed(self, store: Store, keys: Keys) -> None:
        before = await store.marks()
        assert await store.marks() == before
        step = start_step(keys)
        await apply(store, keys, step)
        after = await store.marks()
        assert (after.history > before.history, after.instances > before.instances) == (True, True)
        await store.enqueue([new_job(keys)])
        assert (await store.marks()).jobs > after.jobs

    async def test_revisions_differ_when_an_instance_or_a_job_of_it_changed(self, store: Store, keys: Keys) -> None:
        step, other = start_step(keys), start_step(keys)
        step.new_jobs = [service_job(keys, step)]
        await apply(store, keys, step, other)
        watched = [step.instance, other.instance, 99]
        before = await store.revisions(watched)
        assert sorted(before) == sorted(watched[:2])
        node = await store.register("a", b"{}")
        await claim(store, node, "$job:charge")
        after = await store.revisions(watched)
        assert (after[step.instance] != before[step.instance], after[other.instance]) == (True, before[other.instance])

    async def test_counts_end_at_their_bound(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        first = new_job(keys)
        await store.enqueue([first])
        waits_since = clock()
        clock.advance(1_000)
        await store.enqueue([new_job(keys, delay_ms=60_000), *(new_job(keys, tenant="acme") for _ in range(3))])
        step = start_step(keys)
        step.new_incidents, step.new_user_tasks = [incident_of(keys, step)], [user_task_of(keys, step)]
        await apply(store, keys, step)
        standing = await store.standing(100)
        assert (standing.ready, standing.running, standing.scheduled) == (4, 0, 1)
        assert (standing.incidents, standing.user_tasks, standing.oldest_at) == (1, 1, waits_since)
        assert (await store.standing(2)).ready == 2
        assert (await store.standing(100, tenants=["acme"])).ready == 3

    async def test_states_are_counted_among_the_newest(self, store: Store, keys: Keys) -> None:
        await apply(store, keys, *(start_step(keys, tenant="acme" if number < 2 else "") for number in range(5)))
        whole = await store.statuses(6)
        assert (whole.counts, whole.is_part) == ({0: 5}, False)
        assert (await store.statuses(6, tenants=["acme", "other"])).counts == {0: 2}
        part = await store.statuses(4, tenants=["acme"])
        assert (part.counts, part.is_part) == ({0: 1}, True)
        assert (await store.statuses(6, tenants=["other"])).counts == {}

    async def test_jobs_are_counted_among_the_newest(self, store: Store, keys: Keys) -> None:
        await store.enqueue([new_job(keys, tenant="acme"), new_job(keys, delay_ms=60_000), new_job(keys)])
        whole = await store.queued(4)
        (queue,) = {queue for queue, _ in whole.counts}
        assert (whole.counts, whole.is_part) == ({(queue, 0): 2, (queue, 2): 1}, False)
        assert (await store.queued(4, tenants=["acme"])).counts == {(queue, 0): 1}
        part = await store.queued(2, tenants=["acme"])
        assert (part.counts, part.is_part) == ({}, True)

    async def test_incidents_are_grouped_by_fingerprint(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        steps = [start_step(keys, tenant="acme" if number == 3 else "") for number in range(4)]
        began = clock()
        for number, step in enumerate(steps):
            alike = "rare" if number == 0 else "often"
            step.new_incidents = [incident_of(keys, step, fingerprint=alike, message=f"card {number}")]
            await apply(store, keys, step)
            clock.advance(1_000)
        often, rare = await store.incident_groups()
        assert (often.fingerprint, often.count, often.first_at, often.last_at) == (
            "often",
            3,
            began + 1_000,
            began + 3_000,
        )
        assert (often.sample.message, often.sample.instance, rare.count) == ("card 3", steps[3].instance, 1)
        assert [group.count for group in await store.incident_groups(tenants=[""])] == [2, 1]
        assert [group.count for group in await store.incident_groups(look=1)] == [1]
        assert await store.incident_places() == {(7, "charge-card"): 4}
        assert await store.incident_places(definition=8) == {}

    async def test_histories_come_for_several_instances(self, store: Store, keys: Keys) -> None:
        one, two = start_step(keys), start_step(keys, events=b'[["decision",1,"50%"]]')
        await apply(store, keys, one, two)
        await apply(store, keys, next_step(one, events=b'[["flow",1]]'))
        rows = await store.histories([two.instance, one.instance])
        assert [row.instance for row in rows] == [one.instance, one.instance, two.instance]
        assert [row.instance for row in await store.histories([one.instance, two.instance], containing="50%")] == [
            two.instance
        ]
        assert await store.histories([one.instance], containing='"decisio_') == []
        assert len(await store.histories([one.instance], before=rows[1].position)) == 1
        assert len(await store.histories([one.instance, two.instance], limit=2)) == 2
        assert await store.histories([]) == []

    async def test_who_waits_for_a_message_is_found_by_name_and_key(self, store: Store, keys: Keys) -> None:
        steps = [start_step(keys, tenant="acme" if number == 2 else "") for number in range(3)]
        for step in steps:
            step.new_subscriptions = [waiting_for(keys, step), waiting_for(keys, step, correlation_key="B-1")]
        await apply(store, keys, *steps)
        found = await store.waiting_for("paid", "A-17")
        assert [row.instance for row in found] == [steps[0].instance, steps[1].instance]
        assert [row.instance for row in await store.waiting_for("paid", "A-17", limit=1)] == [steps[0].instance]
        (theirs,) = await store.waiting_for("paid", "B-1", tenant="acme")
        assert (theirs.instance, theirs.element, theirs.name) == (steps[2].instance, "wait-for-payment", "paid")
        assert await store.waiting_for("paid", "a-17") == []


class TestTally:
    """What the history says, counted once."""

    async def test_history_is_read_on_from_a_cursor(self, store: Store, keys: Keys, clock: ManualClock) -> None:
        steps = [start_step(keys) for _ in range(5)]
        for step in steps:
            await apply(store, keys, step)
        clock.advance(HORIZON_MS)
        cursor = await store.tally_cursor()
        first = await store.history_after(cursor, limit=3)
        last = first[-1]
        rest = await store.history_after(TallyCursor(txid=last.txid, position=last.position), limit=10)
        assert [row.instance for row in (*first, *rest)] == [step.instance for step in steps]
        assert (first[0].definition, first[0].events) == (7, b'[["started",1]]')

    async def test_counts_are_added_once(self, store: Store) -> None:
        start, there = TallyCursor(), TallyCursor(txid=4, position=9)
        counts = [
            TallyCount(definition=7, place=0, measure=0, times=2),
            TallyCount(definition=7, place=-1, measure=1, times=1),
        ]
        assert await store.add_tally(start, there, counts)
        assert not await store.add_tally(start, there, counts)
        cursor = await store.tally_cursor()
        assert (cursor.txid, cursor.position) == (4, 9)
        more = [TallyCount(definition=7, place=0, measure=1_004, times=3), counts[0]]
        assert await store.add_tally(cursor, TallyCursor(txid=5, position=1), more)
        assert {(row.place, row.measure): row.times for row in await store.tally([7, 8])} == {
            (0, 0): 4,
            (-1, 1): 1,
            (0, 1_004): 3,
        }
        assert [(row.measure, row.times) for row in await store.tally([7], totals=True)] == [(0, 4)]
        assert await store.tally([8]) == []

    async def test_counts_by_time_add_up_and_are_forgotten(self, store: Store) -> None:
        def row(at: int, measure: Measure, **more: str) -> MeterRow:
            return MeterRow(at=at, measure=measure, times=2, last_at=at + 5, **more)

        jobs = [row(60_000, Measure.GIVEN, name="mail", worker="wörker", detail=""), row(0, Measure.JOBS_CREATED)]
        usage = row(0, Measure.INSTANCES, tenant="acme")
        await store.add_meter([*jobs, usage])
        assert await store.add_tally(TallyCursor(), TallyCursor(txid=1, position=1), [], [jobs[0], jobs[0]])
        assert not await store.add_tally(TallyCursor(), TallyCursor(txid=1, position=1), [], [usage])
        (given,) = await store.meter(60_000, 120_000, [Measure.GIVEN, Measure.INSTANCES], limit=10)
        assert (given.times, given.last_at, given.name, given.worker) == (6, 60_005, "mail", "wörker")
        assert await store.meter(0, 60_000, [Measure.INSTANCES], limit=10) == [usage]
        assert len(await store.meter(0, 120_000, list(Measure), limit=2)) == 2
        await store.forget_meter(60_000, [Measure.JOBS_CREATED, Measure.GIVEN], limit=10)
        left = await store.meter(0, 120_000, list(Measure), limit=10)
        assert [each.measure for each in left] == [Measure.INSTANCES, Measure.GIVEN]

    def test_a_bucket_knows_its_durations_to_a_fifth(self) -> None:
        for took in (1, 2, 3, 7, 10, 999, 1_000, 65_537, 86_400_000, 10**10):
            assert abs(duration_of(bucket_of(took)) - took) <= max(1, took / 5)
        assert (bucket_of(0), duration_of(0)) == (0, 0.0)
        buckets = [bucket_of(took) for took in range(3_000)]
        assert buckets == sorted(buckets)
