"""The server under load: it says no in time and why, and what ends work goes on."""

from __future__ import annotations

import asyncio
import logging

import msgspec
import pytest

from procession import Procession
from procession.api.admission import TURNS
from procession.api.backpressure import Aimd, Gradient
from procession.api.endpoints import Call, Load
from procession.api.tables import endpoints
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


@pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
async def test_a_database_that_is_as_large_as_it_may_be_takes_no_new_work(make_served):
    served = await make_served(database_bytes_max=1_000)
    await served.gate.weigh()
    answer = await served.post("/process-instances", {"processDefinitionId": "payment"})
    document = answer.json()
    assert (answer.status_code, document["reason"], document["limit"]) == (503, "database", 1_000)
    assert document["current"] > 50_000
    assert int(answer.headers["retry-after"]) == 30
    assert (await served.post("/jobs/search")).status_code == 200


async def test_an_awaited_end_does_not_count_as_a_slow_command(served):
    await served.deploy()
    body = {"processDefinitionId": "payment", "awaitCompletion": True, "requestTimeout": 300}
    answer = await served.post("/process-instances", body)
    assert (answer.status_code, answer.json()["title"]) == (504, "DEADLINE_EXCEEDED")
    admission = served.gate.admission
    assert (admission.in_flight, admission.completed, admission.limit.limit) == (0, 1, 100)


async def test_the_rule_of_the_limit_can_be_chosen(make_served):
    assert isinstance((await make_served(limit="gradient")).gate.admission.limit, Gradient)


async def raw(served: Served, *requests: bytes) -> bytes:
    """Send requests one after another on one connection, and read what comes until the last one closes it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
    try:
        writer.write(b"".join(requests))
        return await asyncio.wait_for(reader.read(65_536), 10)
    finally:
        writer.close()


def filled(served: Served) -> None:
    """There is room for one, and one is under way."""
    served.gate.admission.limit = Aimd(start=1)
    served.gate.admission.admit(0.0)


async def test_a_refusal_under_load_asks_nobody_who_they_are_and_reads_no_body(make_served: MakeServed):
    """Else the refusals would cost what the completions need."""
    served = await make_served(identity=True)
    filled(served)
    head = b"POST /v2/process-instances HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    closing = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answers = await raw(served, *[head + b"Content-Length: 9\r\n\r\nno json {"] * 2, closing)
    first, second, healthy = answers.split(b"HTTP/1.1 ")[1:]
    assert first == second
    assert first.startswith(b"503 ")
    assert b'"reason":"commands-in-flight"' in first
    assert b"x-content-type-options: nosniff" in first
    assert healthy.startswith(b"200 ")
    admission = served.gate.admission
    assert (admission.offered, admission.rejected) == (3, {"commands-in-flight": 2})
    assert served.server.web.metrics.http.open == 0


async def one_by_one(served: Served, *requests: bytes) -> list[bytes]:
    """Send each request when the one before is answered, on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
    answers: list[bytes] = []
    try:
        for request in requests:
            writer.write(request)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            answers.append(head + await asyncio.wait_for(reader.readexactly(int(length or b"0")), 10))
    finally:
        writer.close()
    return answers


STARTING = b"POST /v2/process-instances HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = b'{"processDefinitionId":"payment"}'
START = STARTING + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


async def test_headers_that_were_refused_before_are_known_as_long_as_there_is_no_room(served):
    await served.deploy()
    assert b"HTTP/1.1 200 " in (await one_by_one(served, START))[0]
    filled(served)
    health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    refused, again, third, healthy, last = await one_by_one(served, START, START, START, health, START)
    assert refused == again == third == last
    assert refused.startswith(b"HTTP/1.1 503 ")
    assert healthy.startswith(b"HTTP/1.1 200 ")
    admission = served.gate.admission
    assert admission.rejected == {"commands-in-flight": 4}
    admission.done(0.0)
    assert b"HTTP/1.1 200 " in (await one_by_one(served, START))[0]


async def test_what_is_known_of_headers_is_believed_of_a_whole_request_only(served):
    filled(served)
    await one_by_one(served, START)
    head, closing = START.removesuffix(BODY), b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answers = await raw(served, START + START + closing)  # several at once
    assert [each[:4] for each in answers.split(b"HTTP/1.1 ")[1:]] == [b"503 ", b"503 ", b"200 "]
    other = STARTING + b"Content-Length: 2\r\n\r\n{}"
    assert [each[9:13] for each in await one_by_one(served, other, START, other)] == [b"503 "] * 3
    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
    for piece in (head, BODY[:9], BODY[9:] + closing):  # in pieces, the next request within the last of them
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    answers = await asyncio.wait_for(reader.read(65_536), 10)
    answers += await asyncio.wait_for(reader.read(65_536), 10)
    writer.close()
    assert [each[:4] for each in answers.split(b"HTTP/1.1 ")[1:]] == [b"503 ", b"200 "]


async def test_a_silent_connection_is_closed_after_refusals_as_after_answers(make_served):
    served = await make_served(keep_alive_s=0.2)
    filled(served)
    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
    for _ in range(2):
        writer.write(START)
        assert (await asyncio.wait_for(reader.read(65_536), 10)).startswith(b"HTTP/1.1 503 ")
    assert await asyncio.wait_for(reader.read(65_536), 10) == b""
    writer.close()


async def test_what_ends_work_asks_who_comes_however_full_it_is(make_served):
    served = await make_served(identity=True)
    filled(served)
    assert (await served.post("/jobs/1/completion")).status_code == 401
    assert (await served.post("/jobs/search")).status_code == 401


async def test_pages_and_large_or_endless_bodies_are_refused_where_all_is_known_of_them(served):
    filled(served)
    body = {"processDefinitionId": "payment"}
    stranger = await served.post("/process-instances", body, headers={"Origin": "https://evil.example"})
    assert stranger.status_code == 403
    large = await served.post("/process-instances", {**body, "variables": {"x": "y" * 70_000}})
    assert (large.status_code, large.json()["reason"]) == (503, "commands-in-flight")
    head = b"POST /v2/process-instances HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunked = b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\n7\r\n0\r\n\r\n"
    assert b"HTTP/1.1 400 " in await raw(served, head + chunked)  # it was read, and is no request


async def test_a_body_that_does_not_come_does_not_keep_a_refused_request(make_served):
    served = await make_served(headers_s=0.2)
    filled(served)
    head = b"POST /v2/process-instances HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
    assert await raw(served, head) == b""
    assert (await served.get("/topology")).status_code == 200


async def test_refusals_are_in_the_log_once_a_second_with_how_many(served, caplog):
    filled(served)
    with caplog.at_level(logging.INFO, "procession.api"):
        for _ in range(20):
            await served.post("/process-instances", {"processDefinitionId": "payment"})
    lines = [record for record in caplog.records if "refused" in record.message]
    assert 1 <= len(lines) < 20
    assert lines[0].fields["reason"] == "commands-in-flight"


async def test_a_completion_does_not_stand_in_line_behind_the_starts_that_were_let_in(served):
    """Counted, not timed: of many starts that came first no more than have their turn are begun before it."""
    await served.deploy()
    await served.start()
    job = await served.take()
    served.gate.admission.limit = Aimd(start=1_000)
    begun: list[str] = []
    body = b'{"processDefinitionId":"payment"}'
    starts, ended = await asyncio.gather(
        asyncio.gather(*(_through_the_gate(served, "createProcessInstance", body, begun) for _ in range(300))),
        _through_the_gate(served, "completeJob", b"{}", begun, jobKey=job["jobKey"]),
    )
    assert len(starts) == 300
    assert ended is None
    assert begun.index("completeJob") == TURNS
    assert served.gate.admission.in_flight == 0


async def _through_the_gate(served: Served, operation: str, body: bytes, begun: list[str], **path: str) -> object:
    """A request behind HTTP, so that what is asked first comes first."""
    stations = served.server.web.stations
    (endpoint,) = [row for _, row in endpoints() if row.operation_id == operation]

    async def verb(call: Call) -> object:
        begun.append(operation)
        return await endpoint.verb(call)

    call = Call(
        desk=stations.desk,
        who=await stations.who(None, endpoint),
        path=path,
        body=msgspec.json.decode(body, type=endpoint.body),
    )
    return await stations.do(msgspec.structs.replace(endpoint, verb=verb), call)


async def test_who_gives_up_in_line_leaves_no_gap_in_it(served):
    gate = served.gate
    gate.admission.limit = Aimd(start=500)
    entered = [await gate.enter(Load.COMMAND) for _ in range(TURNS)]
    waiting = [asyncio.create_task(gate.enter(Load.COMMAND)) for _ in range(4)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    waiting[2].cancel()
    for each in entered[:2]:
        each.answered()
        each.answered()  # saying it twice changes nothing
    done = [await waiting[0], await waiting[3]]
    assert gate.admission.in_flight == TURNS
    for each in (*entered, *done):
        each.answered()
    assert gate.admission.in_flight == 0
    again = [await gate.enter(Load.COMMAND) for _ in range(TURNS)]
    assert len(again) == TURNS
    for each in again:
        each.answered()


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

    async def run(starters: int, seconds: float = 1.5) -> tuple[int, list[int]]:
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
