"""What nobody should send: refused with a problem that says why and tells nothing else; everybody else goes on."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from procession.api.tables import endpoints
from procession.testing.bpmn import process
from tests.api.conftest import PAYMENT, MakeServed, Served
from tests.api.test_identity import bearer

SQL = (
    "' OR 1=1 --",
    '"; DROP TABLE procession_job; --',
    "%",
    "\\",
    "'||(SELECT 1)||'",
    "$1",
    ":name",
    "{0}",
    "é\u0300",
)

FIELDS = ("processDefinitionId", "tenantId", "name", "assignee", "messageName", "type", "actorId", "elementId")


async def raw(served: Served, *parts: bytes, pause_s: float = 0.0, wait_s: float = 10.0) -> bytes:
    """Send bytes as they are, and read until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause_s)
        return await asyncio.wait_for(reader.read(65_536), wait_s)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def is_problem(answer) -> bool:
    document = answer.json()
    return answer.headers["content-type"] == "application/problem+json" and document["status"] == answer.status_code


# -- bodies -----------------------------------------------------------------------------------------------------------
async def test_a_body_that_is_too_large_is_refused_before_it_is_read(make_served: MakeServed):
    served = await make_served(body_bytes_max=1_000)
    head = b"POST /v2/jobs/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = await raw(served, head + b"Content-Length: 1001\r\n\r\n{")
    assert b"413 " in answer
    assert b"1000 bytes" in answer


async def test_a_body_that_does_not_say_its_size_is_counted(make_served):
    served = await make_served(body_bytes_max=1_000)
    head = b"POST /v2/jobs/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunk = b"400\r\n" + b" " * 0x400 + b"\r\n"
    assert b"413 " in await raw(served, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 3)


async def test_an_upload_that_is_too_large_is_refused(make_served):
    served = await make_served(upload_bytes_max=2_000)
    answer = await served.deploy(content=b"x" * 5_000)
    assert (answer.status_code, is_problem(answer)) == (413, True)


async def test_a_body_that_comes_drop_by_drop_is_given_up(make_served):
    served = await make_served(body_s=0.2)
    head = b"POST /v2/jobs/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    assert b"408 " in await raw(served, head, b"Content-Length: 9\r\n\r\n", b"{")


async def test_headers_that_come_drop_by_drop_are_given_up(make_served):
    served = await make_served(headers_s=0.2)
    assert await raw(served, b"POST /v2/jobs", b"/search HTT", pause_s=0.05) == b""
    assert await raw(served) == b""
    assert (await served.get("/topology")).status_code == 200


async def test_headers_without_end_are_cut_off(served):
    many = b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 1_000) for n in range(200))
    answer = await raw(served, many[:60_000], many[60_000:120_000], many[120_000:])
    assert b"200" not in answer


@pytest.mark.parametrize("depth", [150, 1_000, 100_000])
async def test_deep_json_is_refused_and_not_followed(served, depth):
    await served.deploy()
    deep = "[" * depth + "]" * depth
    body = f'{{"processDefinitionId":"payment","variables":{{"x":{deep}}}}}'
    answer = await served.client.post(
        "/v2/process-instances", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in ({200} if depth < 200 else {400})


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b'{"filter":{"state":7}}',
        b'{"filter":{"nix":"x"}}',
        b'{"page":{"limit":-1}}',
        b'{"page":{"limit":1e9}}',
        b'{"page":{"from":1' + b"0" * 400 + b"}}",
        b'{"sort":[{"field":"__class__"}]}',
        b'{"page":{"after":"AAAA"}}',
        b'{"page":{"after":"k1","before":"k2"}}',
        b'{"filter":{"processInstanceKey":"abc"}}',
        b'{"filter":{"processInstanceKey":{"$like":"' + b"*a" * 50 + b'"}}}',
        b'{"filter":{"startDate":"yesterday"}}',
        b'{"filter":{"startDate":"2026-01-01T00:00:00"}}',
    ],
)
async def test_a_search_that_is_none_is_refused_by_name(served, body):
    headers = {"Content-Type": "application/json"}
    answer = await served.client.post("/v2/process-instances/search", content=body, headers=headers)
    assert answer.status_code == (400 if body else 200), answer.text
    assert not body or is_problem(answer)


async def test_only_json_is_taken_as_json(served):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = await served.client.post("/v2/jobs/search", content=b"{}", headers={"Content-Type": kind})
        assert answer.status_code == 415, kind


async def test_what_no_database_can_hold_is_refused(served):
    await served.deploy()
    for value in ("\0", "\ud800", 2**63, -(2**63) - 1):
        body = json.dumps({"processDefinitionId": "payment", "variables": {"x": value}})
        answer = await served.client.post(
            "/v2/process-instances", content=body, headers={"Content-Type": "application/json"}
        )
        assert (answer.status_code, is_problem(answer)) == (400, True), value


# -- paths and headers ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "path",
    [
        "/v2/../v2/topology",
        "/v2/%2e%2e/topology",
        "/v2//topology",
        "//v2/topology",
        "/v2/process-instances/..%2f..%2fetc%2fpasswd",
        "/v2/documents/..%5c..%5cx",
        "/v2/process-instances/%00",
        "/v2/./topology",
        "/" + "a" * 5_000,
    ],
)
async def test_tricks_in_a_path_are_refused(served, path):
    answer = await raw(served, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert answer.split(b" ", 2)[1] in {b"400", b"404", b"414"}
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "key", ["0", "-1", "x", "9" * 30, "1.5", "0x10", "١٢٣", " 1", "9223372036854775808", "1;2", "None", "*"]
)
async def test_what_is_no_key_is_no_key(served, key):
    for path in (f"/v2/process-instances/{key}", f"/v2/user-tasks/{key}", f"/v2/incidents/{key}", f"/v2/forms/{key}"):
        answer = await served.client.get(path)
        assert (answer.status_code, is_problem(answer)) == (400, True), answer.text


async def test_a_request_that_is_two_is_none(served):
    smuggled = (
        b"POST /v2/jobs/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v2/topology HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    assert b"brokers" not in await raw(served, smuggled, wait_s=3)


async def test_a_strange_host_is_refused_where_nobody_says_who_comes(served, caplog):
    """A page on the internet whose name was made to lead to the loopback sees nothing."""
    with caplog.at_level(logging.INFO, "procession.api"):
        answer = await served.get("/topology", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()["title"]) == (403, "FORBIDDEN")
    assert "refused with 403" in caplog.text


async def test_pages_of_other_sites_may_not_write(served):
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        answer = await served.post("/process-instances", {"processDefinitionId": "x"}, headers=headers)
        assert answer.status_code == 403, headers
    assert (await served.post("/jobs/search", headers={"Sec-Fetch-Site": "same-origin"})).status_code == 200


async def test_pages_of_allowed_origins_may(make_served):
    served = await make_served(allowed_origins=("https://shop.example",))
    headers = {"Origin": "https://shop.example"}
    answer = await served.post("/jobs/search", headers=headers)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "https://shop.example")
    asked = {**headers, "Access-Control-Request-Method": "POST"}
    preflight = await served.client.options("/v2/jobs/search", headers=asked)
    assert (preflight.status_code, "POST" in preflight.headers["access-control-allow-methods"]) == (204, True)
    stranger = await served.client.options(
        "/v2/jobs/search", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    )
    assert "access-control-allow-origin" not in stranger.headers


async def test_every_answer_tells_browsers_to_be_careful(served):
    for path in ("/v2/topology", "/v2/nix", "/metrics", "/openapi.json"):
        headers = (await served.client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


# -- SQL --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
async def test_sql_in_any_field_is_a_text_like_any_other(served):
    await served.deploy()
    key = await served.start()
    searches = [row for _, row in endpoints() if row.path.endswith("/search") and row.documented]
    paths = [row.path for row in searches if "{" not in row.path]
    assert len(paths) > 12
    for text in SQL:
        started = await served.start(businessId=text, tags=[text], variables={text: text})
        (found,) = (await served.post("/process-instances/search", {"filter": {"businessId": text}})).json()["items"]
        assert (found["processInstanceKey"], found["businessId"], found["tags"]) == (started, text, [text])
        variables = {"filter": {"processInstanceKey": started, "name": text}}
        (variable,) = (await served.post("/variables/search", variables)).json()["items"]
        assert json.loads(variable["value"]) == text
        for body in (
            {"name": text, "correlationKey": text, "messageId": text, "timeToLive": 1_000},
            {"name": text, "correlationKey": text},
        ):
            await served.post("/messages/publication", body)
        poll = {"type": text, "timeout": 1_000, "maxJobsToActivate": 1, "requestTimeout": -1, "tenantIds": [text]}
        assert (await served.post("/jobs/activation", poll)).json() == {"jobs": []}
        for answer in (
            await served.post("/messages/correlation", {"name": text, "correlationKey": text}),
            await served.post("/process-instances", {"processDefinitionId": text}),
            await served.post("/decision-definitions/evaluation", {"decisionDefinitionId": text}),
        ):
            assert answer.status_code == 404
    for path in paths:
        if path == "/batch-operation-items/search":
            continue
        for name in FIELDS:
            for text in SQL[:2]:
                answer = await served.post(path, {"filter": {name: text}})
                assert answer.status_code in {200, 400}, answer.text
                items = answer.json().get("items", [])
                assert {item[name] for item in items} <= {text}, (path, name, text)
    assert (await served.get(f"/process-instances/{key}")).json()["state"] == "ACTIVE"


@pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
async def test_sql_is_counted_correlated_and_named_like_any_other_text(served):
    when = {"from": "2000-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
    await served.deploy()
    for text in SQL:
        key = await served.start()
        assert (
            await served.post(f"/process-instances/{key}/business-id-assignment", {"businessId": text})
        ).status_code == 204
        job = await served.take(worker=text)
        await served.post(f"/jobs/{job['jobKey']}/failure", {"retries": 1, "errorMessage": text})
        assert (
            await served.post("/jobs/batch-update", {"filter": {"type": text}, "changeset": {"retries": 1}})
        ).json()["status"] == 400
    assert await served.server.web.stations.desk.watch.tally.catch_up()
    chosen = {**when, "jobType": "charge-card"}
    workers = (await served.post("/jobs/statistics/by-workers", {"filter": chosen})).json()["items"]
    assert {each["worker"] for each in workers} >= set(SQL)
    for text in SQL:
        body = {"filter": {**chosen, "errorMessage": text}}
        (error,) = (await served.post("/jobs/statistics/errors", body)).json()["items"]
        assert (error["errorMessage"], error["workers"]) == (text, 1)
        none = await served.post("/jobs/statistics/by-types", {"filter": {**when, "jobType": text}})
        assert none.json()["items"] == []
        query = {"startTime": when["from"], "endTime": when["to"], "tenantId": text}
        usage = await served.client.get("/v2/system/usage-metrics", params=query)
        assert (usage.status_code, usage.json()["processInstances"]) == (200, 0)


async def test_keys_of_other_tenants_are_not_there_for_what_is_done_to_many_either(make_served):
    served = await make_served(identity=True)
    theirs, admin = await bearer(served, "admin", tenants=["acme"], name="acme"), await bearer(served, "admin")
    await served.deploy(headers=admin)
    start = await served.post("/process-instances", {"processDefinitionId": "payment"}, headers=admin)
    key = start.json()["processInstanceKey"]
    batch = str(await served.app.batch("cancel", which={"business_id": "none"}, per_second=0.001))
    for path, body in (
        (f"/process-instances/{key}/business-id-assignment", {"businessId": "mine"}),
        (f"/batch-operations/{batch}/suspension", {}),
        (f"/batch-operations/{batch}/resumption", {}),
        (f"/batch-operations/{batch}/cancellation", {}),
    ):
        assert (await served.post(path, body, headers=theirs)).status_code == 404, path
    for chosen in ({"type": "charge-card"}, {"processInstanceKey": key}, {"tenantId": "<default>"}):
        body = {"filter": chosen, "changeset": {"priority": 99}}
        assert (await served.post("/jobs/batch-update", body, headers=theirs)).status_code == 400
    (job,) = (await served.post("/jobs/search", headers=admin)).json()["items"]
    assert job["priority"] != 99
    for path in ("/correlated-message-subscriptions/search", "/jobs/statistics/by-types"):
        found = (await served.post(path, headers=theirs)).json()
        assert key not in json.dumps(found.get("items", found)), path
    entries = (await served.post("/audit-logs/search", headers=theirs)).json()["items"]
    assert {(each["actorId"], each["result"]) for each in entries} == {("acme", "FAIL")}
    assert (await served.get(f"/process-instances/{key}", headers=admin)).json()["businessId"] is None


async def test_no_header_decides_where_a_link_to_a_document_leads(served):
    made = await served.client.post("/v2/documents", files={"file": ("a.txt", b"x")})
    for headers in (
        {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"},
        {"Forwarded": "host=evil.example"},
        {"X-Original-URL": "/v2/topology"},
    ):
        link = await served.post(f"/documents/{made.json()['documentId']}/links", headers=headers)
        assert link.json()["url"].startswith(f"{served.url}/api/document-links/"), headers


async def test_a_stranger_model_is_refused_with_its_problems_and_nothing_is_read(served):
    entity = b'<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><bpmn:definitions'
    evil = PAYMENT.replace(b"<bpmn:definitions", entity, 1)
    answer = await served.deploy(content=evil)
    assert "root:" not in answer.text
    assert answer.status_code in {200, 400}
    broken = process("broken").start().exclusive("x").when("=1 +").end("e").xml()
    answer = await served.deploy(content=broken)
    assert (answer.status_code, is_problem(answer)) == (400, True)
    assert "line" in answer.json()["detail"]


async def test_a_document_is_never_shown_as_a_page(served):
    page = b"<script>alert(1)</script>"
    made = await served.client.post("/v2/documents", files={"file": ("x.html", page, "text/html")})
    assert made.status_code == 201
    answer = await served.get(f"/documents/{made.json()['documentId']}")
    assert (answer.content, answer.headers["content-type"]) == (page, "application/octet-stream")
    assert answer.headers["content-disposition"] == "attachment"
    again = {"params": {"documentId": made.json()["documentId"]}}
    taken = await served.client.post("/v2/documents", files={"file": ("x", b"y")}, **again)
    assert taken.status_code == 409
    assert (await served.client.delete(f"/v2/documents/{made.json()['documentId']}")).status_code == 204
    assert (await served.get(f"/documents/{made.json()['documentId']}")).status_code == 404
    big = await served.client.post("/v2/documents", files={"file": ("x", b"y" * (4 * 1024 * 1024 + 1))})
    assert big.status_code == 413


async def test_a_defect_of_ours_tells_a_client_nothing_but_a_number(served, monkeypatch, caplog):
    async def defective(*_, **__):
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(served.app.rows, "list_jobs", defective)
    with caplog.at_level(logging.ERROR, "procession.api"):
        answer = await served.post("/jobs/search")
    assert (answer.status_code, is_problem(answer)) == (500, True)
    assert "hunter2" not in answer.text
    assert answer.json()["detail"].rpartition(" ")[2] in caplog.text
    assert (await served.get("/topology")).status_code == 200


async def test_what_camunda_serves_and_we_do_not_says_so(served):
    for method, path in (
        ("GET", "/users/ada"),
        ("POST", "/roles"),
        ("POST", "/cluster-variables/global"),
        ("GET", "/backups/runtime"),
        ("POST", "/decision-instances/deletion"),
    ):
        answer = await served.client.request(method, f"/v2{path}")
        assert (answer.status_code, answer.json()["title"]) == (501, "NOT_IMPLEMENTED")
    assert (await served.get("/nothing-like-that")).status_code == 404
    wrong = await served.client.delete("/v2/topology")
    assert (wrong.status_code, "GET" in wrong.headers["allow"]) == (405, True)


@pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)
async def test_a_request_that_is_refused_for_its_signs_takes_no_entry_of_the_audit_log_with_it(served: Served):
    message = {"name": "paid", "correlationKey": "A-17", "timeToLive": 60_000}
    asked = [served.post("/messages/publication", message) for _ in range(10)]
    hostile = {"processDefinitionId": "payment", "tenantId": "a\0b"}
    asked += [served.post("/process-instances", hostile) for _ in range(5)]
    answers = await asyncio.gather(*asked)
    assert [answer.status_code for answer in answers] == [200] * 10 + [400] * 5
    found = (await served.post("/audit-logs/search", {"page": {"limit": 100}})).json()["items"]
    assert sorted(each["result"] for each in found) == ["FAIL"] * 5 + ["SUCCESS"] * 10
    metrics = (await served.client.get("/metrics")).text
    assert "procession_audit_lost_total 0.0" in metrics


async def test_options_of_everything_are_no_page(served: Served):
    answer = await raw(served, b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert b" 500 " not in answer.partition(b"\r\n")[0]
    assert answer.startswith(b"HTTP/1.1 4")
