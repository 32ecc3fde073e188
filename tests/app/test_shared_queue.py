"""Two programs with different handlers on one queue of one database: each does what is its own, and none waits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from procession import Limit, Procession

EACH = 500
MakeApp = Callable[..., Procession]


@pytest.fixture
async def programs(make: MakeApp, url: str) -> tuple[dict[str, Procession], list[str]]:
    """A program that handles `a` and one that handles `b`, and what they have run."""
    if url.startswith("memory"):
        pytest.skip("a database in memory is one program's")
    ran: list[str] = []
    made: dict[str, Procession] = {}
    for name in "ab":
        made[name] = make()

        def run(of: str = name) -> None:
            ran.append(of)

        made[name].job(name)(run)
        await made[name].open(run_workers=False, migrate=True)
    return made, ran


async def test_a_thousand_jobs_of_two_types_are_done_while_the_clock_stands_still(
    programs: tuple[dict[str, Procession], list[str]],
) -> None:
    apps, ran = programs
    for name in "ab":
        await apps["a"].enqueue_many(name, [{}] * EACH)
    for app in [*apps.values(), *apps.values()]:
        await app.run_until_idle()
    assert (ran.count("a"), ran.count("b")) == (EACH, EACH)
    assert await apps["a"].count_jobs() == {}


async def test_what_the_other_program_enqueues_gets_to_its_own_past_a_backlog_of_others(
    programs: tuple[dict[str, Procession], list[str]],
) -> None:
    apps, ran = programs
    await apps["b"].enqueue_many("b", [{}] * EACH, priority=5)
    await apps["a"].run_until_idle()
    assert ran == []
    await apps["b"].enqueue_many("a", [{}] * 3)
    claimed = apps["a"].counters.claimed
    await apps["a"].run_until_idle()
    assert ran == ["a"] * 3
    assert apps["a"].counters.claimed == claimed + 3
    record = (await apps["a"].job_records(limit=1))[0]
    assert (record.type, record.state, record.retries) == ("b", "READY", 3)


async def test_limited_jobs_of_the_other_program_keep_their_places(
    programs: tuple[dict[str, Procession], list[str]],
) -> None:
    apps, ran = programs
    for name in "ba":
        await apps["a"].enqueue_many(name, [{}] * 5, limits=Limit("door", most=1))
    for app in [*apps.values()] * 11:
        await app.run_until_idle()
    assert sorted(ran) == ["a"] * 5 + ["b"] * 5
    assert await apps["b"].count_jobs() == {}
