"""What pages ask: counts, lists, timelines, hints, and things tried out, on every store."""

from __future__ import annotations

import asyncio
import base64
import re
import socket

import pytest

from procession.api.server import _listen
from procession.api.settings import Settings
from procession.testing.bpmn import process
from tests.api.conftest import PAYMENT, MakeServed, Served

STORES = pytest.mark.parametrize("url", ["memory", "sqlite", "postgresql"], indirect=True)


async def own(served: Served, path: str, **query) -> dict:
    answer = await served.client.get(f"/api{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def fail_once(served: Served) -> str:
    """An instance whose job failed for good."""
    key = await served.start(variables={"orderId": "A-17", "amount": 5}, businessId="A-17", tags=["gold"])
    job = await served.take()
    answer = await served.post(f"/jobs/{job['jobKey']}/failure", {"retries": 0, "errorMessage": "card 17 expired"})
    assert answer.status_code == 204, answer.text
    await served.until("/incidents/search", {})
    return key


@STORES
async def test_the_overview_says_what_happens(served: Served) -> None:
    await served.deploy()
    failed = await fail_once(served)
    await served.client.post("/api/jobs", json={"type": "send-mail", "args": [{}, {}]})
    await served.server.web.stations.desk.watch.pulse.sample()
    found = await own(served, "/overview")
    assert found["jobs"]["ready"] == {"count": 2, "isBound": False}
    assert found["jobs"]["oldestReadyDate"] is not None
    assert (found["incidents"]["total"]["count"], found["commands"]["limit"]) == (1, 100)
    (alike,) = found["incidents"]["groups"]
    assert (alike["count"], alike["elementId"], alike["processInstanceKey"]) == (1, "charge", failed)
    assert "card 17 expired" in alike["errorMessage"]
    assert found["instances"]["active"] == 1
    assert [worker["isThis"] for worker in found["workers"]] == [True]
    assert sum(found["series"]["started"]) > 0
    assert found["exporters"] == []


@STORES
async def test_the_heat_map_counts_what_happened_at_each_element(served: Served) -> None:
    deployed = (await served.deploy()).json()["deployments"][0]["processDefinition"]
    definition = deployed["processDefinitionKey"]
    await fail_once(served)
    for _ in range(3):
        await served.start()
    for _ in range(2):
        job = await served.take()
        await served.post(f"/jobs/{job['jobKey']}/completion", {})
    await served.until("/user-tasks/search", {}, 2)
    await served.server.web.stations.desk.watch.tally.catch_up()
    heat = await own(served, f"/process-definitions/{definition}/elements")
    at = {each["elementId"]: each for each in heat["items"]}
    assert (at["charge"]["active"], at["charge"]["completed"], at["charge"]["incidents"]) == (2, 2, 1)
    assert (at["approve"]["active"], at["begin"]["completed"]) == (2, 4)
    assert at["charge"]["p50Ms"] is not None
    assert sum(flow["taken"] for flow in heat["flows"]) == 6
    assert heat["isCounted"]
    (row,) = (await own(served, "/process-definitions"))["items"]
    assert (row["active"], row["completed"], row["incidents"], row["isLatest"]) == (4, 0, 1, True)


@STORES
async def test_instances_are_found_by_what_a_page_asks(served: Served) -> None:
    deployed = (await served.deploy()).json()["deployments"][0]["processDefinition"]
    failed = await fail_once(served)
    others = [await served.start(variables={"orderId": f"B-{n}"}) for n in range(3)]

    async def keys(**query) -> list[str]:
        return [row["processInstanceKey"] for row in (await own(served, "/process-instances", **query))["items"]]

    assert await keys() == [*reversed(others), failed]
    assert await keys(processDefinitionKey=deployed["processDefinitionKey"], state="ACTIVE", tag="gold") == [failed]
    assert await keys(hasIncident="true") == [failed]
    assert await keys(incidentElementId="charge") == [failed]
    assert await keys(variables='{"orderId":"B-1"}') == [others[1]]
    assert await keys(text="b-2") == [others[2]]
    assert await keys(elementId="charge") == [*reversed(others), failed]
    assert await keys(elementId="approve") == []
    assert await keys(startedFrom="2100-01-01T00:00:00Z") == []
    page = await own(served, "/process-instances", limit=3)
    assert (page["page"]["totalItems"], page["page"]["hasMoreTotalItems"]) == (4, False)
    rest = await own(served, "/process-instances", limit=3, after=page["page"]["endCursor"])
    assert ([row["processInstanceKey"] for row in rest["items"]], rest["page"]["endCursor"]) == ([failed], None)
    (alike,) = (await own(served, "/overview"))["incidents"]["groups"]
    assert await keys(fingerprint=alike["fingerprint"]) == [failed]
    for wrong in ({"colour": "red"}, {"state": "GONE"}, {"variables": "[1]"}, {"limit": "0"}, {"after": "x"}):
        assert (await served.client.get("/api/process-instances", params=wrong)).status_code == 400


@STORES
async def test_a_timeline_tells_everything_in_order(served: Served) -> None:
    await served.deploy()
    key = await fail_once(served)
    entries = (await own(served, f"/process-instances/{key}/timeline"))["items"]
    kinds = [entry["type"] for entry in entries]
    assert kinds[0] == "started"
    assert kinds.index("variables") < kinds.index("job-created") < kinds.index("incident")
    changed = next(entry for entry in entries if entry["type"] == "variables")["changes"]
    assert {change["name"]: (change["before"], change["after"], change["isNew"]) for change in changed} == {
        "orderId": (None, "A-17", True),
        "amount": (None, 5, True),
    }
    incident = entries[kinds.index("incident")]
    assert (incident["elementId"], incident["errorType"]) == ("charge", "JOB_NO_RETRIES")
    await served.client.put(f"/v2/element-instances/{key}/variables", json={"variables": {"amount": 7}})
    await served.client.post(f"/v2/process-instances/{key}/cancellation", json={})
    pages, after = [], ""
    while after is not None:
        query = {"limit": 2, **({"after": after} if after else {})}
        page = await own(served, f"/process-instances/{key}/timeline", **query)
        pages += page["items"]
        after = page["endCursor"]
    whole = (await own(served, f"/process-instances/{key}/timeline"))["items"]
    assert pages == whole
    assert whole[-1]["type"] == "ended"
    (again,) = [entry for entry in whole if entry["type"] == "variables" and entry is not whole[0]][1:]
    assert again["changes"] == [{"name": "amount", "before": 5, "after": 7, "isNew": False, "isKnown": True}]


async def test_what_an_instance_waits_for_is_told_at_once(served: Served) -> None:
    await served.deploy()
    key = await fail_once(served)
    found = await own(served, f"/process-instances/{key}/now")
    assert [job["type"] for job in found["jobs"]] == ["charge-card"]
    (element,) = found["elements"]
    assert element["waitsFor"].startswith("waits for its incident")
    assert (len(found["incidents"]), found["callers"], found["called"]) == (1, [], [])


# -- hints ------------------------------------------------------------------------------------------------------------
async def heard(served: Served, until: str, listening: asyncio.Event, **query) -> list[str]:
    """The topics that are told until this one is."""
    topics: list[str] = []
    async with served.client.stream("GET", "/api/events", params=query, timeout=20) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        async for line in answer.aiter_lines():
            listening.set()
            topics += re.findall(r'"topic":"([^"]+)"', line)
            if until in topics:
                break
    return topics


@STORES
async def test_a_change_is_hinted_at_and_nothing_while_nothing_happens(served: Served) -> None:
    await served.deploy()
    key = await served.start()
    begun = asyncio.Event()
    listening = asyncio.create_task(heard(served, "instances", begun, instance=key))
    await begun.wait()
    hints = served.server.web.stations.desk.watch.hints
    while hints.looks < 1:  # noqa: ASYNC110 - the first look is on its way
        await asyncio.sleep(0)
    assert not listening.done()
    await served.client.post(f"/v2/process-instances/{key}/cancellation", json={})
    topics = await listening
    assert f"instance:{key}" in topics
    assert "definitions" not in topics
    while hints.listening:  # noqa: ASYNC110 - the end of the stream is on its way
        await asyncio.sleep(0)


async def test_who_comes_back_hears_what_was_missed(served: Served) -> None:
    hints = served.server.web.stations.desk.watch.hints
    hints._tell(("instances",))
    hints._tell(("jobs", "counts"))
    first = f"{hints._epoch}-1"
    assert hints._missed(first, is_bound=False) == ("jobs", "counts")
    assert hints._missed(f"{hints._epoch}-2", is_bound=False) == ()
    assert hints._missed("other-1", is_bound=False) == ("all",)
    assert hints._missed(first, is_bound=True) == ("all",)
    for strange in ("²", "-1", "", "9" * 5_000):
        assert hints._missed(f"{hints._epoch}-{strange}", is_bound=False) == ("all",)


async def test_a_cursor_that_nobody_gave_is_refused(served: Served) -> None:
    await served.deploy()
    key = await served.start()
    strange = base64.b64encode("k²".encode()).decode()
    for path in ("/process-instances", f"/process-instances/{key}/timeline"):
        for cursor in (strange, "²-²", "k²", "²", "²-1", "²:²", "²."):
            answer = await served.client.get(f"/api{path}", params={"after": cursor})
            assert answer.status_code == 400, (path, cursor)


async def test_a_server_that_stops_ends_its_streams(make_served: MakeServed) -> None:
    served = await make_served()
    begun = asyncio.Event()
    listening = asyncio.create_task(heard(served, "never", begun))
    await asyncio.wait_for(begun.wait(), 5)
    await served.server.web.stations.desk.watch.hints.stop()
    await asyncio.wait_for(listening, 5)


# -- trying out -------------------------------------------------------------------------------------------------------
async def ask(served: Served, path: str, body: dict) -> dict:
    answer = await served.client.post(f"/api{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_feel_answers_with_a_value_or_a_place(served: Served) -> None:
    found = await ask(served, "/feel", {"expression": "=amount * 2", "context": {"amount": 21}})
    assert (found["result"], found["type"], found["error"]) == (42, "number", None)
    wrong = await ask(served, "/feel", {"expression": "=1 +"})
    assert (wrong["error"]["line"], wrong["error"]["column"] > 3, wrong["type"]) == (1, True, None)
    unknown = await ask(served, "/feel", {"expression": "nobody + 1"})
    assert unknown["result"] is None
    assert unknown["warnings"][0]["column"] == 1
    tests = await ask(served, "/feel", {"expression": "> 3, 1", "isTests": True, "value": 5})
    assert tests["result"] is True
    checked = await ask(served, "/feel", {"expression": 'date("2024-02-30")', "checkOnly": True})
    assert (checked["type"], len(checked["warnings"])) == (None, 1)


async def test_a_model_is_linted_as_on_the_command_line(served: Served) -> None:
    assert (await ask(served, "/lint", {"name": "payment.bpmn", "content": PAYMENT.decode()}))["findings"] == []
    broken = PAYMENT.decode().replace('targetRef="done"', 'targetRef="nowhere"')
    found = (await ask(served, "/lint", {"name": "payment.bpmn", "content": broken}))["findings"]
    assert any("nowhere" in each["message"] and each["line"] > 1 for each in found)
    form = (await ask(served, "/lint", {"name": "x.form", "content": "{"}))["findings"]
    assert form[0]["code"] == "INVALID_FORM"


DISCOUNT = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="http://example.org/d">
  <decision id="discount" name="Discount"><decisionTable id="t" hitPolicy="FIRST">
    <input id="i"><inputExpression id="ie"><text>total</text></inputExpression></input>
    <output id="o" name="discount" />
    <rule id="r1">
      <inputEntry id="a"><text>&gt; 100</text></inputEntry><outputEntry id="b"><text>10</text></outputEntry>
    </rule>
    <rule id="r2"><inputEntry id="c"><text>-</text></inputEntry><outputEntry id="e"><text>0</text></outputEntry></rule>
  </decisionTable></decision>
</definitions>"""


async def test_a_decision_is_tried_without_being_deployed(served: Served) -> None:
    found = await ask(served, "/decisions/evaluate", {"xml": DISCOUNT, "variables": {"total": 150}})
    assert (found["result"], found["decisionId"]) == (10, "discount")
    assert [rule["ruleIndex"] for rule in found["trace"][0]["tables"][0]["matchedRules"]] == [1]
    wrong = await served.client.post("/api/decisions/evaluate", json={"xml": "<x/>", "decisionId": "discount"})
    assert wrong.status_code == 400


@STORES
async def test_past_evaluations_are_found_in_the_history(served: Served) -> None:
    rules = process("shop").start("begin").rule("decide", decision="discount", result="discount").end("done").xml()
    files = [("resources", ("d.dmn", DISCOUNT.encode())), ("resources", ("shop.bpmn", rules))]
    assert (await served.client.post("/v2/deployments", files=files)).status_code == 200
    key = await served.start("shop", variables={"total": 150})
    (decision,) = await served.until("/decision-definitions/search", {})
    found = await own(served, f"/decisions/{decision['decisionDefinitionKey']}/evaluations")
    (item,) = found["items"]
    assert (item["processInstanceKey"], item["result"], item["elementId"]) == (key, 10, "decide")
    assert found["endCursor"] is None


@STORES
async def test_it_is_explained_why_a_message_reaches_nobody(served: Served) -> None:
    order = process("order").start("begin").catch("wait", message="paid", key="=orderId").end("done").xml()
    await served.deploy("order.bpmn", order)
    nobody = await ask(served, "/messages/explain", {"name": "paid", "correlationKey": "A-17"})
    assert (nobody["matches"], [each["elementId"] for each in nobody["receivers"]]) == (False, ["wait"])
    assert "no instance stands there" in nobody["verdict"]
    key = await served.start("order", variables={"orderId": "A-17"})
    await served.until("/message-subscriptions/search", {})
    there = await own(served, "/messages/explain", name="paid", correlationKey="A-17")
    assert (there["matches"], there["matching"][0]["processInstanceKey"]) == (True, key)
    near = await own(served, "/messages/explain", name="paid", correlationKey="a-17")
    assert (near["matches"], near["nearMisses"][0]["differs"]) == (
        False,
        "its key is 'A-17', not 'a-17': upper and lower case differ",
    )
    await served.post("/messages/publication", {"name": "paid", "correlationKey": " A-17", "timeToLive": 60_000})
    kept = await own(served, "/messages/explain", name="paid", correlationKey="A-17")
    assert kept["buffered"][0]["differs"].endswith("white space differs")
    typo = await own(served, "/messages/explain", name="payd")
    assert typo["similarNames"] == ["paid"]
    assert (await served.client.get("/api/messages/explain")).status_code == 400


def test_small_answers_are_sent_at_once() -> None:
    listening = _listen(Settings(port=0))
    assert listening.proto == socket.IPPROTO_TCP, "asyncio turns Nagle's algorithm off only where it knows the protocol"
    listening.close()
