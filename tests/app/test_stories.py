"""The verbs of the object, told as stories on every database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from procession import BpmnError, Procession
from procession.app.views import InstanceDetails
from procession.errors import Conflict, InvalidModel, Misconfigured, NotFound
from procession.testing.bpmn import process

ORDER = (
    process("order", name="Order")
    .start()
    .service("charge", type="charge-card")
    .receive("await goods", message="goods", key="=orderId")
    .call("pack", process="packing")
    .user("approve", name="Approve it", candidate_groups="managers")
    .end("done")
    .boundary("declined", on="charge", error="card-declined")
    .end("not paid")
    .boundary("late", on="approve", timer="PT1H", interrupting=False)
    .service("remind", type="remind")
    .end("reminded")
)
PACKING = process("packing").start().script("weigh", "=2 * 3", result="weight").end()


def waits(details: InstanceDetails) -> dict[str, str]:
    return {element.element_id: element.waits_for for element in details.elements}


@pytest.fixture
async def shop(make: Callable[..., Procession]) -> Procession:
    app = make()

    @app.job("charge-card")
    async def charge(card: str) -> dict:
        if card == "stolen":
            raise BpmnError("card-declined", "no", {"why": "stolen"})
        return {"receipt": "R-1"}

    @app.job("remind")
    def remind() -> None:
        """Nothing to be done."""

    await app.open(run_workers=False, migrate=True)
    await app.deploy(("packing.bpmn", PACKING.xml()), ("order.bpmn", ORDER.xml()))
    return app


async def test_an_order_goes_its_way_and_says_at_every_stop_what_it_waits_for(shop: Procession, clock) -> None:
    key = await shop.start("order", {"orderId": "Ä-17", "card": "good"}, business_id="Ä-17", tags=["vip"])
    await shop.run_until_idle()
    assert waits(await shop.instance(key)) == {"await goods": "waits for the message 'goods' with key 'Ä-17'"}

    assert (await shop.publish("goods", correlation_key="Ä-17")).process_instance_keys == [key]
    await shop.run_until_idle()
    (task,) = await shop.user_tasks(candidate_group="managers")
    assert waits(await shop.instance(key)) == {
        "approve": f"waits for a person to complete user task {task.user_task_key}"
    }

    clock.turn(3_600_000)
    await shop.run_until_idle()
    await shop.assign_user_task(task.user_task_key, "ada")
    assert [it.user_task_key for it in await shop.user_tasks(assignee="ada")] == [task.user_task_key]
    await shop.complete_user_task(task.user_task_key, {"approved": True})

    ended = await shop.wait(key, timeout=10)
    assert (ended.state, ended.business_id, ended.tags) == ("COMPLETED", "Ä-17", ["vip"])
    details = await shop.instance(key)
    assert details.variables == {
        "orderId": "Ä-17",
        "card": "good",
        "receipt": "R-1",
        "weight": 6,
        "approved": True,
    }
    assert not details.elements
    completed = [event.element_id for event in await shop.history(key) if event.event == "completed"]
    assert completed == ["charge", "await goods", "pack", "remind", "approve"]
    with pytest.raises(NotFound, match=str(task.user_task_key)):
        await shop.complete_user_task(task.user_task_key)
    with pytest.raises(Conflict, match="is over already"):
        await shop.cancel(key)


async def test_a_declined_card_goes_the_way_of_the_error(shop: Procession) -> None:
    key = await shop.start("order", {"orderId": "A-2", "card": "stolen"})
    await shop.run_until_idle()
    assert (await shop.wait(key, timeout=10)).state == "COMPLETED"
    assert (await shop.instance(key)).variables["why"] == "stolen"
    assert "not paid" in [event.element_id for event in await shop.history(key)]


async def test_wrong_arguments_are_an_incident_that_names_them_and_goes_on_when_they_are_right(
    shop: Procession,
) -> None:
    key = await shop.start("order", {"orderId": "A-3"})
    await shop.run_until_idle()
    (incident,) = await shop.incidents(process_instance_key=key)
    assert incident.error_type == "JOB_NO_RETRIES"
    assert "parameter 'card' expects a variable 'card', found none of that name" in incident.error_message
    assert waits(await shop.instance(key))["charge"].startswith(f"waits for its incident {incident.incident_key}")
    assert [it.process_instance_key for it in await shop.instances(with_incident=True)] == [key]

    await shop.set_variables(key, {"card": "good"})
    await shop.resolve(incident.incident_key)
    await shop.run_until_idle()
    assert "await goods" in waits(await shop.instance(key))
    with pytest.raises(NotFound, match="incident"):
        await shop.resolve(incident.incident_key)


async def test_a_new_version_leaves_running_instances_on_theirs(shop: Procession) -> None:
    old = await shop.start("order", {"orderId": "A-4", "card": "good"})
    changed = process("order").start().user("only this").end()
    (version,) = await shop.deploy(("order.bpmn", changed.xml()))
    assert (version.version, version.created) == (2, True)
    (again,) = await shop.deploy(("order.bpmn", changed.xml()))
    assert (again.version, again.created) == (2, False)
    new = await shop.start("order")
    pinned = await shop.start("order", {"orderId": "A-5", "card": "good"}, version=1)
    await shop.run_until_idle()
    assert set(waits(await shop.instance(new))) == {"only this"}
    for key in (old, pinned):
        assert set(waits(await shop.instance(key))) == {"await goods"}
    assert await shop.definition_xml((await shop.definitions("order"))[-1].process_definition_key) == ORDER.xml()
    with pytest.raises(NotFound, match="Expected process 'order' version 3 to be deployed, found none"):
        await shop.start("order", version=3)


async def test_a_wrong_file_keeps_its_neighbour_from_being_deployed(app: Procession) -> None:
    with pytest.raises(InvalidModel, match=r"'bad.bpmn' cannot be deployed: 1 error"):
        await app.deploy(("good.bpmn", process("good").start().end().xml()), ("bad.bpmn", b"<nothing"))
    assert not await app.definitions()


async def test_of_two_who_complete_one_task_one_is_told_that_it_is_gone(shop: Procession) -> None:
    await shop.deploy(("ask.bpmn", process("ask").start().user("say").end().xml()))
    key = await shop.start("ask")
    (task,) = await shop.user_tasks(process_instance_key=key)
    answers = await asyncio.gather(
        *(shop.complete_user_task(task.user_task_key, {"who": number}) for number in range(4)), return_exceptions=True
    )
    assert answers.count(None) == 1
    assert all(isinstance(answer, NotFound) for answer in answers if answer is not None)
    assert (await shop.instance(key)).variables == {"who": answers.index(None)}


async def test_an_open_application_is_opened_once_even_if_two_ask(make: Callable[..., Procession]) -> None:
    app = make()
    answers = await asyncio.gather(
        *(app.open(run_workers=False, migrate=True) for _ in range(3)), return_exceptions=True
    )
    assert [type(answer) for answer in answers].count(Conflict) == 2
    await app.close()
    await app.close()
    with pytest.raises(Misconfigured, match="Open it first"):
        await app.instances()
