"""Decisions in processes, through the object that users hold, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from procession import Procession
from procession.app.views import HistoryEvent
from procession.engine.engine import LATEST_S
from procession.errors import InvalidModel
from procession.testing.bpmn import process
from tests.dmn.models import decision, definitions, knowledge, literal, table

ORDER = process("order").start().rule("find-discount", decision="discount", result="discount").user("check").end()


def discount(low: str = "5", *, policy: str = "UNIQUE", high_from: int = 100) -> bytes:
    rules = [("< 100", low), (f">= {high_from}", "15")]
    return definitions(decision("discount", table(["orderTotal"], ["percent"], *rules, policy=policy)))


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'decisions.db'}"


@pytest.fixture
async def app(url: str) -> AsyncIterator[Procession]:
    made = Procession(url)
    await made.open(run_workers=False, migrate=True)
    yield made
    await made.close()


async def variables(app: Procession, key: int) -> dict[str, Any]:
    return (await app.instance(key)).variables


async def evaluations(app: Procession, key: int) -> list[HistoryEvent]:
    return [event for event in await app.history(key) if event.event == "decision"]


async def the_incident(app: Procession, key: int) -> Any:
    (incident,) = (await app.instance(key)).incidents
    return incident


async def test_a_decision_is_deployed_and_versioned_like_a_process(app: Procession) -> None:
    first = await app.deploy(("pricing.dmn", discount()), ("order.bpmn", ORDER.xml()))
    assert [each.process_definition_id for each in first] == ["order"]
    assert [(each.decision_definition_id, each.version, each.created) for each in first.decisions] == [
        ("discount", 1, True)
    ]
    again = await app.deploy(("pricing.dmn", discount()), ("order.bpmn", ORDER.xml()))
    assert [each.created for each in (*again, *again.decisions)] == [False, False]
    await app.deploy(("pricing.dmn", discount(low="7")))
    listed = await app.decisions()
    assert [(each.decision_definition_id, each.version, each.resource_name) for each in listed] == [
        ("discount", 2, "pricing.dmn"),
        ("discount", 1, "pricing.dmn"),
    ]
    assert await app.decision_xml(listed[1].decision_definition_key) == discount()


async def test_a_business_rule_task_evaluates_it_within_the_step(app: Procession) -> None:
    await app.deploy(("pricing.dmn", discount()), ("order.bpmn", ORDER.xml()))
    key = await app.start("order", {"orderTotal": 250})
    details = await app.instance(key)
    assert details.variables == {"orderTotal": 250, "discount": 15}
    assert [each.element_id for each in details.elements] == ["check"]
    (evaluated,) = await evaluations(app, key)
    assert evaluated.element_id == "find-discount"
    assert (evaluated.details["decision_id"], evaluated.details["version"]) == ("discount", 1)
    (told,) = evaluated.details["trace"]
    (of_table,) = told["tables"]
    assert [rule["ruleIndex"] for rule in of_table["matchedRules"]] == [2]
    assert of_table["evaluatedInputs"][0]["inputValue"] is None  # the history keeps names, not values


async def test_the_full_history_keeps_inputs_and_outputs(url: str) -> None:
    app = Procession(url, history="full")
    await app.open(run_workers=False, migrate=True)
    await app.deploy(("pricing.dmn", discount()), ("order.bpmn", ORDER.xml()))
    key = await app.start("order", {"orderTotal": 50})
    (evaluated,) = await evaluations(app, key)
    (of_table,) = evaluated.details["trace"][0]["tables"]
    assert of_table["evaluatedInputs"][0]["inputValue"] == 50
    assert of_table["matchedRules"][0]["evaluatedOutputs"][0]["outputValue"] == 5
    assert evaluated.details["result"] == 5
    await app.close()


async def test_the_latest_version_is_meant_from_its_deployment_on(app: Procession) -> None:
    await app.deploy(("pricing.dmn", discount()), ("order.bpmn", ORDER.xml()))
    assert (await variables(app, await app.start("order", {"orderTotal": 1})))["discount"] == 5
    await app.deploy(("pricing.dmn", discount(low="7")))
    assert (await variables(app, await app.start("order", {"orderTotal": 1})))["discount"] == 7


async def test_a_binding_keeps_the_version_of_the_deployment_or_of_a_tag(app: Procession) -> None:
    bound = ORDER.xml().replace(b'decisionId="discount"', b'decisionId="discount" bindingType="deployment"')
    tagged = ORDER.xml().replace(b'"order"', b'"tagged"')
    tagged = tagged.replace(b'decisionId="discount"', b'decisionId="discount" bindingType="versionTag" versionTag="b"')
    tag = b'<z:versionTag xmlns:z="http://camunda.org/schema/zeebe/1.0" value="b"/>'
    tag = b"<extensionElements>" + tag + b"</extensionElements>"
    blue = discount(low="6").replace(b'name="discount">', b'name="discount">' + tag, 1)
    await app.deploy(("pricing.dmn", blue), ("order.bpmn", bound), ("tagged.bpmn", tagged))
    await app.deploy(("pricing.dmn", discount(low="7")))
    assert [each.version_tag for each in await app.decisions()] == ["", "b"]
    assert (await variables(app, await app.start("order", {"orderTotal": 1})))["discount"] == 6
    assert (await variables(app, await app.start("tagged", {"orderTotal": 1})))["discount"] == 6


async def test_a_decision_that_is_missing_is_an_incident_until_it_is_deployed(app: Procession) -> None:
    await app.deploy(("order.bpmn", ORDER.xml()))
    key = await app.start("order", {"orderTotal": 250})
    incident = await the_incident(app, key)
    assert incident.error_type == "CALLED_DECISION_ERROR"
    assert "'discount'" in incident.error_message
    assert "'find-discount'" in incident.error_message
    await app.deploy(("pricing.dmn", discount()))
    await app.resolve(incident.incident_key)
    assert await variables(app, key) == {"orderTotal": 250, "discount": 15}
    assert not (await app.instance(key)).incidents


async def test_rules_that_contradict_are_an_incident_that_names_them(app: Procession) -> None:
    await app.deploy(("pricing.dmn", discount(high_from=50)), ("order.bpmn", ORDER.xml()))
    key = await app.start("order", {"orderTotal": 75})
    incident = await the_incident(app, key)
    assert incident.error_type == "DECISION_EVALUATION_ERROR"
    assert "UNIQUE" in incident.error_message
    assert "orderTotal = 75" in incident.error_message
    assert "rules that matched: 1, 2" in incident.error_message
    assert len(await evaluations(app, key)) == 1  # what it said is kept
    await app.deploy(("pricing.dmn", discount()))
    await app.resolve(incident.incident_key)
    assert (await variables(app, key))["discount"] == 5


async def test_an_expression_may_name_the_decision(app: Procession) -> None:
    model = process("order").start().rule("decide", decision="=which", result="answer").user("check").end()
    both = definitions(decision("one", literal("1")), decision("two", literal("1 + 1")))
    await app.deploy(("both.dmn", both), ("order.bpmn", model.xml()))
    for which, answer in (("one", 1), ("two", 2), ("one", 1)):
        key = await app.start("order", {"which": which})
        assert (await variables(app, key))["answer"] == answer
    key = await app.start("order", {"which": "three"})
    assert "'three'" in (await the_incident(app, key)).error_message


async def test_an_expression_may_name_it_behind_a_wait(app: Procession) -> None:
    model = process("order").start().user("ask").rule("decide", decision="=which", result="answer").user("check").end()
    await app.deploy(("one.dmn", definitions(decision("one", literal("1")))), ("order.bpmn", model.xml()))
    key = await app.start("order")
    (task,) = await app.user_tasks()
    await app.complete_user_task(task.user_task_key, {"which": "one"})
    assert await variables(app, key) == {"which": "one", "answer": 1}


async def test_a_method_before_and_after_a_decision_are_one_step(app: Procession, url: str) -> None:
    await app.close()
    app = Procession(url)

    @app.method("before")
    def before() -> dict[str, Any]:
        return {"which": "one"}

    @app.method("after")
    def after(answer: int) -> dict[str, Any]:
        return {"doubled": answer * 2}

    model = process("order").start().task("before").rule("decide", decision="=which", result="answer").task("after")
    model = model.user("check").end()
    await app.open(run_workers=False, migrate=True)
    await app.deploy(("one.dmn", definitions(decision("one", literal("21")))), ("order.bpmn", model.xml()))
    key = await app.start("order")
    await app.run_until_idle()
    assert await variables(app, key) == {"which": "one", "answer": 21, "doubled": 42}
    await app.close()


async def test_files_that_import_each_other_are_deployed_together(app: Procession) -> None:
    base = definitions(knowledge("double", {"n": "number"}, literal("n * 2")), namespace="base")
    imports = '<import name="base" namespace="base" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>'
    needs = '<knowledgeRequirement><requiredKnowledge href="base#double"/></knowledgeRequirement>'
    body = (
        f'<decision id="answer" name="answer"><variable name="answer"/>{needs}{literal("base.double(21)")}</decision>'
    )
    uses = definitions(imports, body, namespace="uses")
    model = process("order").start().rule("decide", decision="answer", result="answer").user("check").end()
    first = await app.deploy(("uses.dmn", uses), ("base.dmn", base), ("order.bpmn", model.xml()))
    assert [each.decision_definition_id for each in first.decisions] == ["answer"]
    assert (await variables(app, await app.start("order")))["answer"] == 42
    again = await app.deploy(("uses.dmn", uses), ("base.dmn", base))
    assert [each.created for each in again.decisions] == [False]
    other = await app.deploy(("uses.dmn", uses), ("base.dmn", base.replace(b"n * 2", b"n * 3")))
    assert [(each.created, each.version) for each in other.decisions] == [(True, 2)]
    assert (await variables(app, await app.start("order")))["answer"] == 63


async def test_a_task_bound_to_its_deployment_needs_the_decision_in_it(app: Procession) -> None:
    await app.deploy(("pricing.dmn", discount()))
    model = ORDER.xml().replace(b'decisionId="discount"', b'decisionId="discount" bindingType="deployment"')
    with pytest.raises(InvalidModel, match="expected the decision 'discount' in this deployment") as refused:
        await app.deploy(("order.bpmn", model))
    assert "element 'find-discount'" in str(refused.value)
    await app.deploy(("order.bpmn", model), ("pricing.dmn", discount()))
    assert (await variables(app, await app.start("order", {"orderTotal": 50})))["discount"] == 5


IMPORT = '<import name="{0}" namespace="{0}" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>'


def needing(name: str, other: str, text: str, *, namespace: str) -> bytes:
    """A model whose decision requires one of an imported model."""
    needs = f'<informationRequirement><requiredDecision href="{other}#{other}"/></informationRequirement>'
    body = f'<decision id="{name}" name="{name}"><variable name="{name}"/>{needs}{literal(text)}</decision>'
    return definitions(IMPORT.format(other), body, namespace=namespace)


async def test_a_file_may_import_one_of_an_earlier_deployment(app: Procession) -> None:
    rate = definitions(decision("rate", literal("2")), namespace="rate")
    price = needing("price", "rate", "rate.rate * 10", namespace="price")
    total = needing("total", "price", "price.price + 1", namespace="total")
    model = process("order").start().rule("decide", decision="total", result="answer").user("check").end()
    with pytest.raises(InvalidModel, match="namespace 'rate' is imported, but it was not given"):
        await app.deploy(("price.dmn", price))
    await app.deploy(("rate.dmn", rate))
    await app.deploy(("price.dmn", price))
    await app.deploy(("total.dmn", total), ("order.bpmn", model.xml()))  # what it imports imports another one
    assert (await variables(app, await app.start("order")))["answer"] == 21

    again = await app.deploy(("total.dmn", total))
    assert [each.created for each in again.decisions] == [False]
    await app.deploy(("rate.dmn", rate.replace(b">2<", b">3<")))
    assert (await variables(app, await app.start("order")))["answer"] == 21  # a version keeps what it was deployed with
    newer = await app.deploy(("price.dmn", price), ("total.dmn", total))
    assert [(each.decision_definition_id, each.version) for each in newer.decisions] == [("price", 2), ("total", 2)]
    assert (await variables(app, await app.start("order")))["answer"] == 31


async def test_what_is_imported_has_to_fit_still(app: Procession) -> None:
    await app.deploy(("rate.dmn", definitions(decision("rate", literal("2")), namespace="rate")))
    await app.deploy(("rate.dmn", definitions(decision("other", literal("2")), namespace="rate")))
    with pytest.raises(InvalidModel, match="has no input data or decision with the id 'rate'"):
        await app.deploy(("price.dmn", needing("price", "rate", "rate.rate", namespace="price")))


async def test_a_file_of_the_deployment_comes_before_a_deployed_one(app: Procession) -> None:
    rate = definitions(decision("rate", literal("2")), namespace="rate")
    price = needing("price", "rate", "rate.rate * 10", namespace="price")
    total = needing("total", "price", "price.price + 1", namespace="total")
    await app.deploy(("rate.dmn", rate), ("price.dmn", price))
    await app.deploy(("total.dmn", total), ("rate.dmn", rate.replace(b">2<", b">5<")))
    model = process("order").start().rule("decide", decision="total", result="answer").user("check").end()
    await app.deploy(("order.bpmn", model.xml()))
    assert (await variables(app, await app.start("order")))["answer"] == 51


async def test_another_process_means_the_latest_version_soon(app: Procession, url: str) -> None:
    if url == "memory:":
        pytest.skip("its data belong to one process")
    await app.deploy(("pricing.dmn", discount()), ("order.bpmn", ORDER.xml()))
    assert (await variables(app, await app.start("order", {"orderTotal": 50})))["discount"] == 5
    other = Procession(url)
    await other.open(run_workers=False)
    try:
        await other.deploy(("pricing.dmn", discount("7")))
        assert (await variables(other, await other.start("order", {"orderTotal": 50})))["discount"] == 7
        deadline = asyncio.get_running_loop().time() + LATEST_S + 10  # on a machine that is busy with other things
        while (await variables(app, await app.start("order", {"orderTotal": 50})))["discount"] != 7:
            assert asyncio.get_running_loop().time() < deadline
    finally:
        await other.close()


def test_the_promise_is_a_second() -> None:
    assert LATEST_S <= 1


async def test_problems_of_both_kinds_of_files_are_listed_together(app: Procession) -> None:
    wrong = definitions(decision("discount", literal("1 +")))
    with pytest.raises(InvalidModel) as refused:
        await app.deploy(("pricing.dmn", wrong), ("order.bpmn", b"<nothing/>"))
    text = "\n".join(str(problem) for problem in refused.value.problems)
    assert "pricing.dmn" in text
    assert "order.bpmn" in text
    assert await app.decisions() == []


async def test_a_warning_is_an_incident_where_expressions_are_strict(url: str) -> None:
    app = Procession(url, strict=True)
    await app.open(run_workers=False, migrate=True)
    model = process("p").start().script("compute", "missing + 1", result="answer").user("check").end()
    await app.deploy(("p.bpmn", model.xml()))
    key = await app.start("p")
    incident = await the_incident(app, key)
    assert "'compute'" in incident.error_message
    assert "missing" in incident.error_message
    await app.set_variables(key, {"missing": 1})
    await app.resolve(incident.incident_key)
    assert (await variables(app, key))["answer"] == 2
    await app.close()


async def test_a_table_without_a_fitting_rule_is_null_and_strictly_an_incident(url: str) -> None:
    for strict in (False, True):
        app = Procession(url, strict=strict)
        await app.open(run_workers=False, migrate=True)
        await app.deploy(("pricing.dmn", discount(high_from=200)), ("order.bpmn", ORDER.xml()))
        details = await app.instance(await app.start("order", {"orderTotal": 150}))
        if strict:
            assert "(inputs: orderTotal = 150" in details.incidents[0].error_message
        else:
            assert details.variables["discount"] is None
        await app.close()
