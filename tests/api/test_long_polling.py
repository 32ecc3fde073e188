"""Workers that wait over HTTP: woken by what they wait for, cheap while nothing happens, no job lost with a client."""

from __future__ import annotations

import asyncio
import contextlib
import resource

import msgspec
import pytest

from procession.jobs.kinds import JobState
from tests.api.conftest import Served

POLL = {"type": "charge-card", "timeout": 3_600_000, "maxJobsToActivate": 1, "requestTimeout": 30_000}


async def waiting(served: Served, count: int = 1) -> None:
    """Until so many workers wait."""
    while served.app.remote.waiting != count:  # noqa: ASYNC110 - a client's request is on its way
        await asyncio.sleep(0.005)


async def poll_raw(served: Served, job_type: str) -> asyncio.StreamWriter:
    """A poll on a connection of its own, which nothing but the test closes."""
    body = msgspec.json.encode({**POLL, "type": job_type})
    _, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
    head = "POST /v2/jobs/activation HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return writer


async def test_a_poll_waits_and_is_woken_by_a_start(served):
    await served.deploy()
    poll = asyncio.create_task(served.post("/jobs/activation", POLL))
    await waiting(served)
    key = await served.start()
    (job,) = (await asyncio.wait_for(poll, 5)).json()["jobs"]
    assert job["processInstanceKey"] == key


async def test_a_poll_that_nothing_comes_for_ends_empty(served):
    answer = await served.post("/jobs/activation", {**POLL, "requestTimeout": 60})
    assert (answer.status_code, answer.json()) == (200, {"jobs": []})


async def test_a_negative_timeout_does_not_wait(served):
    await served.deploy()
    answer = await served.post("/jobs/activation", {**POLL, "requestTimeout": -1})
    assert answer.json() == {"jobs": []}
    await served.start()
    answer = await served.post("/jobs/activation", {**POLL, "requestTimeout": -1})
    assert len(answer.json()["jobs"]) == 1


@pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)
async def test_a_client_that_goes_away_loses_no_job(served):
    await served.deploy()
    writer = await poll_raw(served, "charge-card")
    await waiting(served)
    writer.close()
    await waiting(served, 0)
    await served.start()
    job = await served.take()
    assert job["retries"] == 3
    rows = await served.app.jobs(type="charge-card")
    assert [row.attempt for row in rows] == [1]  # the client that went away was given nothing


async def test_a_job_that_was_claimed_for_a_client_that_is_gone_is_ready_at_once(served):
    await served.deploy()
    key = await served.start()
    taken = asyncio.create_task(served.app.activate_jobs("charge-card", timeout="1h", wait=30))
    while not served.app.remote.delivered:  # noqa: ASYNC110 - the moment between the claim and the answer
        await asyncio.sleep(0)
    taken.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await taken
    job = await served.take()
    assert job["processInstanceKey"] == key


async def test_a_lease_over_http_fences_late_answers(served):
    await served.deploy()
    await served.start()
    first = await served.take(timeout=1, withLease=True)
    while (await served.app.jobs(type="charge-card"))[0].state != JobState.READY.name:  # noqa: ASYNC110 - its time ends
        await asyncio.sleep(0.02)
    second = await served.take(withLease=True)
    assert second["jobKey"] == first["jobKey"]
    path = f"/jobs/{first['jobKey']}/completion"
    late = await served.post(path, {"jobLeaseToken": first["jobLeaseToken"]})
    assert (late.status_code, late.json()["title"]) == (409, "INVALID_STATE")
    assert (await served.post(path, {"jobLeaseToken": second["jobLeaseToken"]})).status_code == 204
    assert (await served.post(path)).status_code == 404


async def test_workers_are_let_go_when_the_server_stops(make_served):
    served = await make_served()
    poll = asyncio.create_task(served.post("/jobs/activation", POLL))
    await waiting(served)
    served.app.remote.stop()
    assert (await asyncio.wait_for(poll, 5)).json() == {"jobs": []}


async def test_two_thousand_workers_that_wait_cost_next_to_nothing(served):
    """Under a tenth of a core while idle; both ends of the connections are in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 5_000:
        pytest.skip(f"needs 5,000 open files, this system allows {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8_192)), hard))
    crowd = [await poll_raw(served, f"type-{number % 20}") for number in range(2_000)]
    await asyncio.wait_for(waiting(served, 2_000), 60)
    claimed = served.app.counters.claimed
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = asyncio.get_running_loop().time()
    await asyncio.sleep(3)
    seconds = asyncio.get_running_loop().time() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    for writer in crowd:
        writer.close()
    await asyncio.wait_for(waiting(served, 0), 60)
    assert busy / seconds < 0.1, f"{busy:.2f} s of CPU in {seconds:.1f} s"
    assert served.app.counters.claimed == claimed
