"""The queue over HTTP: jobs listed, changed and enqueued, flows, batches, queues, limits, recurring jobs, workers."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from procession import Job, Procession
from procession.api import tokens
from tests.api.conftest import MakeServed, Served

ON_ALL = pytest.mark.parametrize("url", ["memory", "postgresql"], indirect=True)


class Client:
    """Requests of our own API, with their JSON."""

    def __init__(self, served: Served) -> None:
        self._client = served.client

    async def __call__(self, method: str, path: str, body: object = None, *, status: int = 200, **options: Any) -> Any:
        answer = await self._client.request(method, f"/api{path}", json=body, **options)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def enqueue(self, type_: str = "send", **options: Any) -> str:
        found = await self("POST", "/jobs", {"type": type_, "args": [{}], **options})
        return found["items"][0]["jobKey"]

    async def keys(self, **filters: str) -> list[str]:
        return [job["jobKey"] for job in (await self("GET", "/jobs", params=filters))["items"]]


@pytest.fixture
def ask(served: Served) -> Client:
    return Client(served)


@ON_ALL
async def test_jobs_are_listed_by_what_they_are_and_counted(ask: Client):
    first = await ask.enqueue(args=[{"orderKey": 5}], tags=["red"], title="Send it", queue="mail", metadata={"a": "b"})
    later = await ask.enqueue(delay=60_000, priority=7)
    page = await ask("GET", "/jobs")
    assert [job["jobKey"] for job in page["items"]] == [later, first]
    assert page["page"] == {"totalItems": 2, "hasMoreTotalItems": False, "endCursor": None}
    job = page["items"][1]
    assert (job["args"], job["tags"], job["title"], job["metadata"]) == (
        {"orderKey": 5},
        ["red"],
        "Send it",
        {"a": "b"},
    )
    assert await ask.keys(order="oldest") == [first, later]
    assert await ask.keys(tag="red") == await ask.keys(queue="mail") == await ask.keys(text="send IT") == [first]
    assert await ask.keys(state="scheduled") == [later]
    assert await ask.keys(kind="service") == []
    one = await ask("GET", "/jobs", params={"limit": "1"})
    rest = await ask("GET", "/jobs", params={"limit": "1", "after": one["page"]["endCursor"]})
    assert [one["items"][0]["jobKey"], rest["items"][0]["jobKey"]] == [later, first]
    counts = (await ask("GET", "/counts"))["jobs"]
    assert {"queue": "mail", "state": "READY", "count": 1, "isMore": False} in counts


async def test_what_cannot_be_a_filter_is_refused_by_name(ask: Client):
    for path, word in (
        ("/jobs?state=done", "ready, running"),
        ("/jobs?limit=0", "limit"),
        ("/jobs?after=zzz", "cursor"),
        ("/jobs?batchKey=x", "batchKey"),
        ("/jobs?order=up", "newest"),
        ("/queues/series?minutes=0", "minutes"),
    ):
        problem = await ask("GET", path, status=400)
        assert word in problem["detail"]
    assert "Expected a job" in (await ask("GET", "/jobs?flowKey=99", status=404))["detail"]


@ON_ALL
async def test_one_job_shows_its_run_its_log_and_why_it_waits(make_served: MakeServed, url: str):
    app = Procession(url)
    begun = asyncio.Event()
    go_on = asyncio.Event()

    @app.job("send")
    async def send(job: Job) -> dict:
        job.log("half way")
        job.progress(0.5, "half")
        begun.set()
        await go_on.wait()
        return {"sent": True}

    ask = Client(await make_served(app))
    key = await ask.enqueue(output=True, limits=[{"key": "smtp", "most": 1}])
    await begun.wait()
    waiting = await ask.enqueue(limits=[{"key": "smtp", "most": 1}])
    child = await ask.enqueue(after=[key])
    for _ in range(200):
        details = await ask("GET", f"/jobs/{key}")
        if details["log"] and details["job"]["progress"]:
            break
    assert details["job"]["progressText"] == "half"
    assert [line["text"] for line in details["log"]] == ["half way"]
    assert [each["jobKey"] for each in details["children"]] == [child]
    assert details["why"].startswith("is leased to process")
    assert [line["text"] for line in (await ask("GET", f"/jobs/{key}/log"))["items"]] == ["half way"]
    later = await ask("GET", f"/jobs/{child}")
    assert later["why"] == "waits for 1 job that it comes after"
    assert [(each["jobKey"], each["state"], each["either"]) for each in later["parents"]] == [(key, "RUNNING", False)]
    assert "limit 'smtp'" in (await ask("GET", f"/jobs/{waiting}"))["why"]
    (worker,) = (await ask("GET", "/workers"))["items"]
    assert [job["jobKey"] for job in worker["jobs"]] == [key]
    (limit,) = (await ask("GET", "/limits"))["items"]
    assert (limit["key"], limit["most"], limit["used"], limit["waiting"]) == ("smtp", 1, 1, 1)
    go_on.set()
    for _ in range(200):
        if (await ask("GET", f"/jobs/{key}"))["job"]["state"] == "SUCCEEDED":
            break
    assert (await ask("GET", f"/jobs/{key}"))["job"]["output"] == {"sent": True}


@ON_ALL
async def test_jobs_are_changed_requeued_and_deleted(ask: Client):
    key = await ask.enqueue()
    await ask("PATCH", f"/jobs/{key}", {"priority": 9, "delay": 60_000}, status=204)
    job = (await ask("GET", f"/jobs/{key}"))["job"]
    assert (job["state"], job["priority"]) == ("SCHEDULED", 9)
    await ask("POST", f"/jobs/{key}/requeue", status=204)
    assert (await ask("GET", f"/jobs/{key}"))["job"]["state"] == "READY"
    assert "none of them" in (await ask("PATCH", f"/jobs/{key}", {}, status=400))["detail"]
    await ask("POST", f"/jobs/{key}/requeue", status=409)
    assert await ask("DELETE", f"/jobs/{key}", params={"reason": "of no use"}) == {"outcome": "DELETED"}
    assert (await ask("GET", f"/jobs/{key}"))["why"] == "was deleted: of no use"
    await ask("PATCH", f"/jobs/{key}", {"priority": 1}, status=409)
    await ask("DELETE", "/jobs/12345", status=404)


@ON_ALL
async def test_all_jobs_that_fit_are_changed_page_by_page(ask: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("procession.app.administration.BULK_PAGE", 2)
    await ask("POST", "/jobs", {"type": "send", "args": [{}] * 5, "tags": ["old"]})
    kept = await ask.enqueue()

    async def all_pages(**body: object) -> int:
        done, after = 0, None
        while True:
            page = await ask("POST", "/jobs/bulk", {**body, "after": after})
            done, after = done + page["done"], page["endCursor"]
            if after is None:
                return done

    old = {"tag": "old"}
    assert await all_pages(action="change", filter=old, changes={"delay": 60_000}) == 5
    assert len(await ask.keys(state="scheduled")) == 5
    assert await all_pages(action="requeue", filter=old) == 5
    assert await all_pages(action="delete", filter=old, reason="cleaned") == 5
    assert await ask.keys() == [kept]
    assert "changes" in (await ask("POST", "/jobs/bulk", {"action": "change"}, status=400))["detail"]


@ON_ALL
async def test_a_flow_is_a_graph_of_what_comes_after_what(ask: Client):
    jobs = [
        {"name": "fetch", "type": "fetch"},
        {"name": "left", "type": "part", "after": ["fetch"]},
        {"name": "right", "type": "part", "after": ["fetch"], "title": "The right one"},
        {"name": "join", "type": "join", "after": ["left"], "afterFinished": ["right"]},
    ]
    put = (await ask("POST", "/flows", {"jobs": jobs}))["jobs"]
    keys = {name: job["jobKey"] for name, job in put.items()}
    graph = await ask("GET", f"/flows/{keys['right']}")
    assert [node["jobKey"] for node in graph["nodes"]] == [keys[name] for name in ("fetch", "left", "right", "join")]
    assert [node["state"] for node in graph["nodes"]] == ["READY", "AWAITING", "AWAITING", "AWAITING"]
    edges = {(edge["parentKey"], edge["childKey"], edge["either"]) for edge in graph["edges"]}
    assert edges == {
        (keys["fetch"], keys["left"], False),
        (keys["fetch"], keys["right"], False),
        (keys["left"], keys["join"], False),
        (keys["right"], keys["join"], True),
    }
    await ask.enqueue("other")
    assert set(await ask.keys(flowKey=keys["left"])) == set(keys.values())
    await ask("DELETE", f"/jobs/{keys['fetch']}")
    after = await ask("GET", f"/flows/{keys['join']}")
    states = {node["jobKey"]: node["state"] for node in after["nodes"]}
    assert states[keys["left"]] == states[keys["join"]] == "DELETED"
    assert (
        "circle"
        in (await ask("POST", "/flows", {"jobs": [{"name": "a", "type": "x", "after": ["a"]}]}, status=400))["detail"]
    )


@ON_ALL
async def test_a_batch_is_opened_sealed_and_canceled(ask: Client):
    batch = await ask("POST", "/job-batches", {"title": "Newsletter"})
    key = batch["batchKey"]
    await ask("POST", "/jobs", {"type": "send", "args": [{}] * 3, "batchKey": key})
    seen = await ask("GET", f"/job-batches/{key}")
    assert (seen["state"], seen["total"], seen["pending"]) == ("OPEN", 3, 3)
    assert len(await ask.keys(batchKey=key)) == 3
    assert (await ask("POST", f"/job-batches/{key}/seal"))["state"] == "SEALED"
    await ask("POST", "/jobs", {"type": "send", "args": [{}], "batchKey": key}, status=409)
    canceled = await ask("POST", f"/job-batches/{key}/cancellation", {"reason": "never mind"})
    assert (canceled["state"], canceled["deleted"], canceled["pending"]) == ("FINISHED", 3, 0)
    page = await ask("GET", "/job-batches")
    assert [each["batchKey"] for each in page["items"]] == [key]
    assert page["page"]["totalItems"] == 1
    await ask("GET", "/job-batches/77", status=404)


@ON_ALL
async def test_queues_and_types_are_paused_and_resumed(ask: Client):
    key = await ask.enqueue(queue="mail")
    assert await ask("POST", "/queues/mail/pause", {"reason": "the server is full"}) == {"changed": True}
    assert await ask("POST", "/queues/mail/pause") == {"changed": False}
    await ask("POST", "/job-types/pause", {"type": "send"})
    page = await ask("GET", "/queues")
    (mail,) = page["items"]
    assert (mail["queue"], mail["counts"], mail["isPaused"]) == ("mail", {"READY": 1}, True)
    assert (mail["pauseReason"], mail["latencyMs"] >= 0) == ("the server is full", True)
    assert [each["type"] for each in page["pausedTypes"]] == ["send"]
    await ask("PUT", "/queues/mail/retention", {"keep": 60_000}, status=204)
    assert (await ask("GET", "/queues"))["items"][0]["keepMs"] == 60_000
    await ask("PUT", "/queues/mail/retention", {"keep": None}, status=204)
    why = (await ask("GET", f"/jobs/{key}"))["why"]
    assert why == "waits until queue 'mail' and job type 'send' is resumed"
    assert await ask("POST", "/queues/mail/resume") == {"changed": True}
    assert await ask("POST", "/job-types/resume", {"type": "send"}) == {"changed": True}


@ON_ALL
async def test_limits_are_changed_and_deleted(ask: Client):
    await ask.enqueue(limits=[{"key": "smtp", "rate": 5, "per": 60_000}])
    assert await ask("PUT", "/limits/smtp", {"most": 2}) == {"changed": True}
    (limit,) = (await ask("GET", "/limits"))["items"]
    assert (limit["most"], limit["rate"], limit["waiting"]) == (2, 0, 1)
    await ask("PUT", "/limits/nobody", {"most": 2}, status=404)
    await ask("PUT", "/limits/smtp", {}, status=400)
    await ask("DELETE", "/limits/smtp", status=409)
    await ask("POST", "/jobs/bulk", {"action": "delete"})
    await ask("DELETE", "/limits/smtp", status=204)
    assert (await ask("GET", "/limits"))["page"]["totalItems"] == 0


@ON_ALL
async def test_recurring_jobs_are_declared_triggered_and_remembered(ask: Client):
    body = {"cycle": "0 9 * * *", "type": "report", "args": {"to": "Ada"}, "tags": ["daily"]}
    assert await ask("PUT", "/recurring/report", body) == {"changed": True}
    assert await ask("PUT", "/recurring/report", body) == {"changed": False}
    fired = await ask("POST", "/recurring/report/trigger")
    assert fired["state"] == "READY"
    details = await ask("GET", "/recurring/report?runs=3")
    assert details["recurring"]["fired"] == 1
    assert [run[11:16] for run in details["nextRuns"]] == ["09:00"] * 3
    (past,) = details["history"]
    assert (past["dueAt"], past["jobs"]) == (None, [{"jobKey": fired["jobKey"], "state": "READY"}])
    await ask("POST", "/recurring/report/pause", status=204)
    page = await ask("GET", "/recurring")
    assert [each["isPaused"] for each in page["items"]] == [True]
    await ask("POST", "/recurring/report/resume", status=204)
    await ask("DELETE", "/recurring/report", status=204)
    await ask("GET", "/recurring/report", status=404)
    problem = await ask("PUT", "/recurring/report", {"cycle": "every day", "type": "report"}, status=400)
    assert "cycle" in problem["detail"] or "cron" in problem["detail"]


NAMES = ("mail/eu", "a/../b", "back\\slash", "50% off?", "ünï/#1")


async def test_names_with_separators_are_administered_when_they_are_encoded(ask: Client):
    for name in NAMES:
        there = quote(name, safe="")
        await ask.enqueue(queue=name, limits=[{"key": name, "most": 1}], delay=60_000)
        assert (await ask("POST", f"/queues/{there}/pause", {}))["changed"] is True, name
        assert (await ask("POST", f"/queues/{there}/resume"))["changed"] is True, name
        await ask("PUT", f"/queues/{there}/retention", {"keep": 60_000}, status=204)
        assert (await ask("PUT", f"/limits/{there}", {"most": 5}))["changed"] is True, name
        assert (await ask("PUT", f"/recurring/{there}", {"cycle": "@daily", "type": name}))["changed"] is True
        assert (await ask("GET", f"/recurring/{there}"))["recurring"]["name"] == name
        for verb, status in (("pause", 204), ("resume", 204), ("trigger", 200)):
            await ask("POST", f"/recurring/{there}/{verb}", status=status)
        await ask("DELETE", f"/recurring/{there}", status=204)
        assert (await ask("POST", "/job-types/pause", {"type": name}))["changed"] is True
    standings = (await ask("GET", "/queues", params={"limit": "100"}))["items"]
    assert {each["queue"] for each in standings if each["keepMs"] == 60_000} == set(NAMES)
    assert {each["key"]: each["most"] for each in (await ask("GET", "/limits"))["items"]} == dict.fromkeys(NAMES, 5)
    for path in ("/queues%2Fmail/pause", "/%2e%2e/queues/mail/pause"):
        await ask("POST", path, {}, status=400)


async def test_flows_with_a_title_are_listed_and_shown(ask: Client):
    jobs = [{"name": "first", "type": "send"}, {"name": "last", "type": "send", "after": ["first"]}]
    named = await ask("POST", "/flows", {"title": "Order A-17", "jobs": jobs})
    assert (await ask("POST", "/flows", {"jobs": jobs}))["flowKey"] is None
    page = await ask("GET", "/flows")
    (flow,) = page["items"]
    assert (flow["flowKey"], flow["title"], flow["state"]) == (named["flowKey"], "Order A-17", "RUNNING")
    assert (flow["total"], flow["pending"], page["page"]["totalItems"]) == (2, 2, 1)
    graph = await ask("GET", f"/flows/{named['flowKey']}")
    assert (graph["title"], len(graph["nodes"]), len(graph["edges"])) == ("Order A-17", 2, 1)
    assert (await ask("GET", "/jobs", params={"flowKey": named["flowKey"]}))["page"]["totalItems"] == 2
    assert (await ask("GET", f"/flows/{named['jobs']['last']['jobKey']}"))["flowKey"] == named["flowKey"]
    await ask("GET", "/flows/99", status=404)


async def test_a_job_shows_its_attempts_that_failed(make_served: MakeServed):
    app = Procession("memory://")

    @app.job("send", retries=2, backoff="0s")
    async def send() -> None:
        raise ConnectionError("no route")

    ask = Client(await make_served(app))
    key = await ask.enqueue()
    for _ in range(200):
        details = await ask("GET", f"/jobs/{key}")
        if details["job"]["state"] == "FAILED":
            break
    assert [(each["attempt"], each["errorType"]) for each in details["attempts"]] == [
        (1, "ConnectionError"),
        (2, "ConnectionError"),
    ]
    assert details["attempts"][0]["message"].startswith("ConnectionError: no route")


async def test_a_job_after_a_key_that_nobody_had_is_refused(ask: Client):
    problem = await ask("POST", "/jobs", {"type": "send", "args": [{}], "after": ["999"]}, status=404)
    assert "found 999" in problem["detail"]


async def test_who_is_bound_to_tenants_sees_and_changes_what_is_theirs(make_served: MakeServed):
    served = await make_served(identity=True)
    ask = Client(served)
    as_of = await _credentials(served)
    acme, other = as_of["acme"], as_of["admin"]
    own = (await ask("POST", "/jobs", {"type": "x", "args": [{}], "tenantId": "acme"}, **acme))["items"][0]["jobKey"]
    theirs = (await ask("POST", "/jobs", {"type": "x", "args": [{}], "tenantId": "zeta"}, **other))["items"][0][
        "jobKey"
    ]
    for tenant in ("acme", "zeta"):
        flow = {"title": tenant, "jobs": [{"name": "a", "type": "x"}], "tenantId": tenant}
        flow_of = (await ask("POST", "/flows", flow, **other))["flowKey"]
        await ask("GET", f"/flows/{flow_of}", status=200 if tenant == "acme" else 404, **acme)
    assert [each["title"] for each in (await ask("GET", "/flows", **acme))["items"]] == ["acme"]
    await ask("POST", "/jobs/bulk", {"action": "delete", "tenantId": "zeta", "filter": {"flowKey": flow_of}}, **other)
    (own_flow,) = (await ask("GET", "/flows", **acme))["items"]
    await ask("POST", f"/job-batches/{own_flow['flowKey']}/cancellation", **acme)
    page = await ask("GET", "/jobs", **acme)
    assert ([job["jobKey"] for job in page["items"]], page["page"]["totalItems"]) == ([own], 1)
    for method, path, body in (
        ("GET", f"/jobs/{theirs}", None),
        ("GET", f"/jobs/{theirs}/log", None),
        ("GET", f"/flows/{theirs}", None),
        ("DELETE", f"/jobs/{theirs}", None),
        ("PATCH", f"/jobs/{theirs}", {"priority": 1}),
        ("POST", f"/jobs/{theirs}/requeue", {}),
    ):
        await ask(method, path, body, status=404, **acme)
    for method, path in (
        ("GET", "/queues"),
        ("GET", "/limits"),
        ("POST", "/queues/q/pause"),
        ("GET", "/queues/series"),
    ):
        await ask(method, path, status=403, **acme)
    await ask("POST", "/jobs", {"type": "x", "args": [{}], "tenantId": "zeta"}, status=403, **acme)
    assert (await ask("POST", "/jobs/bulk", {"action": "delete"}, **acme))["done"] == 1
    assert len((await ask("GET", "/jobs", **other))["items"]) == 1


async def test_looking_needs_a_reader_and_changing_an_operator_and_is_written_down(make_served: MakeServed):
    served = await make_served(identity=True)
    ask = Client(served)
    as_of = await _credentials(served)
    await ask("GET", "/jobs", status=403, **as_of["worker"])
    await ask("GET", "/jobs", **as_of["reader"])
    await ask("POST", "/queues/mail/pause", status=403, **as_of["reader"])
    await ask("POST", "/queues/mail/pause", {"reason": "moving"}, **as_of["operator"])
    await ask("PUT", "/recurring/r", {"cycle": "@daily", "type": "x", "args": {"card": "4111"}}, **as_of["operator"])
    found = await served.post("/audit-logs/search", {}, **as_of["admin"])
    entries = {entry["operationType"]: entry for entry in found.json()["items"] if entry["result"] == "SUCCESS"}
    assert entries["pauseQueue"]["actorId"] == "operator"
    assert entries["pauseQueue"]["details"]["request"] == {"reason": "moving"}
    assert entries["putRecurringJob"]["details"]["request"]["args"] == ["card"]


async def _credentials(served: Served) -> dict[str, Any]:
    """How to ask as somebody with a role, or as an operator of a tenant."""
    found: dict[str, Any] = {}
    for name in ("reader", "worker", "operator", "admin", "acme"):
        roles, tenants = (["operator"], ["acme"]) if name == "acme" else ([name], None)
        _, text = await tokens.create_token(served.app, name, roles, tenants=tenants)
        found[name] = {"headers": {"Authorization": f"Bearer {text}"}}
    return found
