"""Jobs of the queue while a worker of an earlier version and this program share a database.

Limits, batches, flows with titles (which the earlier one does not know) and unique keys hold across both.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from procession import Unique
from procession.app.flows import FlowJob
from procession.testing.conformance.limiting import most_in
from tests.upgrade.queue_program import DOOR, OWN, PACE, application
from tests.upgrade.test_rolling import BEFORE_ATTEMPTS, LONGEST_S, Earlier, earlier, migrate_by, running, url

__all__ = ["earlier", "url"]
PROGRAM = Path(__file__).with_name("queue_program.py")
OURS = 40


@pytest.fixture
def version() -> Earlier:
    """The earlier version: one that has the queue, on all databases."""
    return BEFORE_ATTEMPTS


async def test_limits_batches_flows_and_unique_keys_hold_across_two_versions(earlier: Path, url: str):
    await asyncio.to_thread(migrate_by, earlier, url)
    ran: list[tuple[str, str, float, float]] = []
    async with running(earlier, url, "earlier", PROGRAM) as old:
        await old.until("enqueued")
        app = application(url, "later", ran)
        await app.migrate()
        await app.open()
        many = {"queue": "shared"}
        await app.enqueue_many("work", [{"of": "door"}] * OURS, limits=[DOOR], **many)
        await app.enqueue_many("work", [{"of": "pace"}] * OURS, limits=[PACE], **many)
        again = await app.enqueue("work", {"of": "unique"}, unique=Unique("once", for_="1h"), **many)
        assert again.outcome == "DUPLICATE"
        batch = await app.open_batch(title="members")
        await app.enqueue_many("work", [{"of": "member"}] * OURS, batch=batch, **many)
        await app.enqueue("work", {"of": "after the batch"}, after=batch, **many)
        await app.seal_batch(batch)
        flows = [await app.enqueue_flow(_flow(), title=f"flow {n}") for n in range(5)]
        async with asyncio.timeout(LONGEST_S):
            while await app.count_jobs():  # noqa: ASYNC110 - the other program gives no signal
                await asyncio.sleep(0.05)
        old.process.terminate()
        await old.until("stopped")
        found = {flow.flow_key: (flow.state, flow.succeeded, flow.total) for flow in await app.flows()}
        assert found == {flow.flow_key: ("FINISHED", 4, 4) for flow in flows}
        assert (await app.job_batch(batch)).state == "FINISHED"
        assert not any((await app.sweep()).values())
        await app.close()
    ran += [(name, of, float(began), float(ended)) for name, of, began, ended in map(_words, old.said) if name]
    counts = Counter(of for _, of, _, _ in ran)
    assert counts["unique"] == counts["after the batch"] == 1
    assert (counts["door"], counts["pace"], counts["member"]) == (OURS + OWN, OURS + OWN, OURS)
    assert {name for name, _, _, _ in ran} == {"earlier", "later"}, "both have worked"
    assert _most_at_once([(began, ended) for _, of, began, ended in ran if of == "door"]) <= DOOR.most
    starts = sorted(round(began * 1_000) for _, of, began, _ in ran if of == "pace")
    assert most_in(starts, 990) <= PACE.rate + PACE.burst


def _flow() -> list[FlowJob]:
    def job(name: str, *after: str) -> FlowJob:
        return FlowJob(name, "work", {"of": "flow"}, after=after, options={"queue": "shared"})

    return [job("first"), job("left", "first"), job("right", "first"), job("last", "left", "right")]


def _words(line: str) -> tuple[str, str, str, str]:
    """A line about a run: who ran what, from when to when."""
    words = line.split(" ")
    if words[0] != "ran":
        return "", "", "0", "0"
    return words[1], " ".join(words[2:-2]), words[-2], words[-1]


def _most_at_once(runs: list[tuple[float, float]]) -> int:
    events = sorted([(began, 1) for began, _ in runs] + [(ended, -1) for _, ended in runs])
    most = now = 0
    for _, change in events:
        now += change
        most = max(most, now)
    return most
