"""What the history says of each element is counted once, whoever counts and wherever counting stopped."""

from __future__ import annotations

from collections import Counter

from procession import Procession
from procession.api.tally import Tally
from procession.store.rows.watching import TIME, Measure
from procession.testing.bpmn import process
from procession.testing.conformance import ManualClock
from tests.api.conftest import PAYMENT, MakeServed, Served
from tests.api.test_identity import bearer

ORDER = (
    process("order").start("begin").user("check").boundary("late", on="check", timer="PT1H").end("given-up").at("check")
    .end("done")
).xml()  # fmt: skip


async def opened(xml: bytes, name: str, **options) -> tuple[Procession, ManualClock, int]:
    """An application in memory on a clock turned by hand, with this process deployed."""
    clock = ManualClock()
    app = await Procession("memory://", clock=clock, **options).open(run_workers=False)
    deployed = await app.deploy((name, xml))
    return app, clock, deployed[0].process_definition_key


async def counted(app: Procession, tally: Tally, definition: int) -> dict[str, dict[str, int]]:
    """Numbers by element and measure, durations left out."""
    assert await tally.catch_up()
    names = (await app.compiled(definition)).elements
    found: dict[str, dict[str, int]] = {}
    for row in await app.rows.tally([definition]):
        if row.place >= 0 and row.measure < TIME and row.times:
            found.setdefault(names[row.place].id, {})[Measure(row.measure).name] = row.times
    return found


async def test_what_began_was_left_and_interrupted_is_counted_with_its_time() -> None:
    app, clock, definition = await opened(ORDER, "order.bpmn")
    tally = Tally(app.rows)
    for _ in range(2):
        await app.start("order")
    (task, _) = await app.user_tasks()
    clock.advance(60_000)
    await app.complete_user_task(task.user_task_key)
    assert (await counted(app, tally, definition))["check"] == {"BEGAN": 2, "COMPLETED": 1, "TOOK_MS": 60_000}
    clock.advance(3_600_000)
    await app.run_until_idle()
    found = await counted(app, tally, definition)
    assert found["check"] == {"BEGAN": 2, "COMPLETED": 1, "TERMINATED": 1, "TOOK_MS": 60_000 + 3_660_000}
    assert found["order"]["COMPLETED"] == 2
    times = [row for row in await app.rows.tally([definition]) if row.measure >= TIME and row.place > 0]
    assert sum(row.times for row in times if row.times) >= 2
    await app.close()


async def test_a_server_goes_on_where_another_stood_and_knows_what_began_before() -> None:
    app, clock, definition = await opened(ORDER, "order.bpmn")
    await app.start("order")
    await counted(app, Tally(app.rows), definition)
    clock.advance(5_000)
    (task,) = await app.user_tasks()
    await app.complete_user_task(task.user_task_key)
    found = await counted(app, Tally(app.rows), definition)
    assert found["check"] == {"BEGAN": 1, "COMPLETED": 1, "TOOK_MS": 5_000}
    await app.close()


async def test_of_two_servers_one_counts() -> None:
    app, _, definition = await opened(ORDER, "order.bpmn")
    first, second = Tally(app.rows), Tally(app.rows)
    await first.turn()
    await second.turn()
    await app.start("order")
    assert await first.turn() > 0
    assert await second.turn() == -1
    await app.start("order")
    assert (await counted(app, second, definition))["check"] == {"BEGAN": 2}
    assert (await counted(app, first, definition))["check"] == {"BEGAN": 2}
    await app.close()


async def test_a_migrated_instance_counts_where_it_went() -> None:
    app, _, old = await opened(ORDER, "order.bpmn")
    tally = Tally(app.rows)
    key = await app.start("order")
    await counted(app, tally, old)
    (new,) = await app.deploy(("order.bpmn", ORDER.replace(b"done", b"over")))
    await app.migrate_instance(key, new.process_definition_key)
    assert "check" not in await counted(app, tally, old)
    assert (await counted(app, tally, new.process_definition_key))["check"] == {"BEGAN": 1}
    await app.close()


# -- tenants ----------------------------------------------------------------------------------------------------------
async def test_what_is_anothers_is_in_no_count_and_no_list(make_served: MakeServed) -> None:
    served = await make_served(identity=True)
    admin = await bearer(served, "admin", tenants=["acme", "other"], name="both")
    for tenant in ("acme", "other"):
        files = {"resources": ("payment.bpmn", PAYMENT)}
        await served.client.post("/v2/deployments", files=files, data={"tenantId": tenant}, headers=admin)
        body = {"processDefinitionId": "payment", "tenantId": tenant}
        assert (await served.client.post("/v2/process-instances", json=body, headers=admin)).status_code == 200
    theirs = await bearer(served, "reader", tenants=["acme"], name="theirs")
    other = await bearer(served, "reader", tenants=["other"], name="other")

    async def own(path: str, who: dict[str, str]) -> dict:
        answer = await served.client.get(f"/api{path}", headers=who)
        assert answer.status_code == 200, answer.text
        return answer.json()

    (mine,) = (await own("/process-instances", theirs))["items"]
    assert mine["tenantId"] == "acme"
    (definition,) = (await own("/process-definitions", theirs))["items"]
    assert (definition["tenantId"], definition["active"]) == ("acme", 1)
    seen = await own("/overview", theirs)
    assert (seen["instances"]["active"], seen["jobs"]["ready"]["count"], seen["workers"]) == (1, 1, [])
    job = {"queue": "$job:charge-card", "state": "READY", "count": 1, "isMore": False}
    assert await own("/counts", theirs) == {"instances": {"ACTIVE": 1}, "isMore": False, "jobs": [job]}
    assert await own("/counts", admin) == {"instances": {"ACTIVE": 2}, "isMore": False, "jobs": [job | {"count": 2}]}
    for path in (
        f"/process-instances/{mine['processInstanceKey']}/timeline",
        f"/process-instances/{mine['processInstanceKey']}/now",
        f"/process-definitions/{definition['processDefinitionKey']}/elements",
        f"/events?instance={mine['processInstanceKey']}",
    ):
        assert (await served.client.get(f"/api{path}", headers=other)).status_code == 404
    by_other = await served.client.get("/api/messages/explain?name=x&tenantId=acme", headers=other)
    assert by_other.status_code == 403


async def test_two_lookers_are_one_question(served: Served) -> None:
    watch = served.server.web.stations.desk.watch
    asked: Counter[str] = Counter()

    async def ask() -> int:
        asked["once"] += 1
        return asked["once"]

    assert [await watch.once("x", ask) for _ in range(3)] == [1, 1, 1]
    assert await watch.once("y", ask) == 2
