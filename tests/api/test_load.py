"""The server under load: it says no in time and why, and what ends work goes on."""

from __future__ import annotations

import asyncio

import pytest

from procession import Procession
from procession.api.backpressure import Aimd, Gradient
from tests.api.conftest import MakeServed, Served


async def test_a_refusal_carries_its_reason_its_numbers_and_when_to_come_again(served: Served):
    await served.deploy()
    gate = served.gate
    gate.admission.limit = Aimd(start=1)
    gate.admission.admit(0.0)  # one is under way
    answer = await served.post("/process-instances", {"processDefinitionId": "payment"})
    document = answer.json()
    assert (answer.status_code, document["title"]) == (503, "RESOURCE_EXHAUSTED")
    assert (document["reason"], document["limit"], document["current"]) == ("commands-in-flight", 1.0, 1.0)
    assert int(answer.headers["retry-after"]) >= 1
    page = (await served.client.get("/metrics")).text
    assert 'procession_commands_rejected_total{reason="commands-in-flight"} 1.0' in page
    assert "procession_commands_limit 1.0" in page


async def test_what_ends_work_passes_however_much_is_under_way(served):
    await served.deploy()
    key = await served.start()
    job = await served.take()
    served.gate.admission.limit = Aimd(start=1)
    served.gate.admission.admit(0.0)
    assert (await served.post(f"/jobs/{job['jobKey']}/completion")).status_code == 204
    assert (await served.post(f"/process-instances/{key}/cancellation")).status_code == 204
    assert (await served.post("/process-instances/search")).status_code == 200


async def test_a_disk_that_is_nearly_full_takes_no_new_work(make_served: MakeServed, tmp_path):
    served = await make_served(Procession(f"sqlite:///{tmp_path / 'x.db'}"), disk_free_bytes_min=2**62)
    await served.deploy()
    answer = await served.post("/process-instances", {"processDefinitionId": "payment"})
    assert (answer.status_code, answer.json()["reason"]) == (503, "disk")


async def test_an_awaited_end_does_not_count_as_a_slow_command(served):
    await served.deploy()
    body = {"processDefinitionId": "payment", "awaitCompletion": True, "requestTimeout": 300}
    answer = await served.post("/process-instances", body)
    assert (answer.status_code, answer.json()["title"]) == (504, "DEADLINE_EXCEEDED")
    admission = served.gate.admission
    assert (admission.in_flight, admission.completed, admission.limit.limit) == (0, 1, 100)


async def test_the_rule_of_the_limit_can_be_chosen(make_served):
    assert isinstance((await make_served(limit="gradient")).gate.admission.limit, Gradient)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_too_many_starts_leave_completions_going_and_every_refusal_its_reason(served):
    """Starters that never wait, against workers that do. How much of their rate is left: ``make overload``."""
    await served.deploy()
    served.gate.admission.limit = Aimd(start=4, most=8)  # a small machine: few commands at once are many

    async def work(stop: asyncio.Event) -> int:
        done = 0
        poll = {"type": "charge-card", "timeout": 60_000, "maxJobsToActivate": 16, "requestTimeout": 100}
        while not stop.is_set():
            jobs = (await served.post("/jobs/activation", poll)).json()["jobs"]
            answers = [await served.post(f"/jobs/{job['jobKey']}/completion") for job in jobs]
            assert {answer.status_code for answer in answers} <= {204}
            done += len(jobs)
        return done

    async def start(stop: asyncio.Event, seen: list[int]) -> None:
        while not stop.is_set():
            answer = await served.post("/process-instances", {"processDefinitionId": "payment"})
            seen.append(answer.status_code)
            if answer.status_code == 503:
                assert answer.json()["reason"] == "commands-in-flight"

    async def run(starters: int, seconds: float = 3.0) -> tuple[int, list[int]]:
        stop, seen = asyncio.Event(), []
        working = [asyncio.create_task(work(stop)) for _ in range(2)]
        starting = [asyncio.create_task(start(stop, seen)) for _ in range(starters)]
        await asyncio.sleep(seconds)
        stop.set()
        await asyncio.gather(*starting)
        return sum(await asyncio.gather(*working)), seen

    alone, quiet = await run(starters=2)
    together, crowded = await run(starters=24)
    assert 503 not in quiet
    assert crowded.count(503) > 0
    assert crowded.count(200) > 0
    assert set(crowded) <= {200, 503}
    assert served.gate.admission.in_flight == 0
    assert alone > 0
    # Its clients share this process' loop with the server, so that rates do not compare here.
    assert together > 0
