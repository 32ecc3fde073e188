"""Decisions at the command line: evaluated from a file, deployed, listed, and what a process made of them."""

from __future__ import annotations

import pytest

from procession.testing.bpmn import process
from tests.dmn.models import decision, definitions, knowledge, literal, table

RULES = [("< 100", "5"), (">= 100", "15")]
PRICING = definitions(decision("discount", table(["orderTotal"], ["percent"], *RULES)))
ORDER = process("order").start().rule("find-discount", decision="discount", result="discount").user("check").end()


@pytest.fixture
def pricing(shop):
    return shop.write("pricing.dmn", PRICING)


def test_a_decision_of_a_file_is_evaluated(pricing, command):
    answer = command("dmn", "eval", pricing, "discount", "--context", '{"orderTotal": 250}')
    assert (answer.code, answer.out) == (0, "15   number\n")
    assert command("dmn", "eval", pricing, "--var", "orderTotal=50").out == "5   number\n"


def test_the_trace_shows_what_matched(pricing, command):
    answer = command("dmn", "eval", pricing, "discount", "-c", '{"orderTotal": 250}', "--trace")
    assert "UNIQUE  orderTotal = 250" in answer.out
    assert "rule 2  percent = 15" in answer.out
    nothing = command("dmn", "eval", pricing, "discount", "--trace")
    assert "no rule matches" in nothing.out
    assert nothing.out.endswith("null   null\n")


def test_as_json_result_trace_and_warnings_are_told(pricing, command):
    told = command("dmn", "eval", pricing, "discount", "-c", '{"orderTotal": 250}', "--json").json
    assert (told["result"], told["type"], told["warnings"]) == (15, "number", [])
    assert told["evaluatedDecisions"][0]["tables"][0]["matchedRules"][0]["ruleIndex"] == 2


def test_a_file_may_import_what_is_deployed_already(shop, command):
    shop.write("rate.dmn", definitions(decision("rate", literal("2")), namespace="rate"))
    imports = '<import name="rate" namespace="rate" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>'
    needs = '<informationRequirement><requiredDecision href="rate#rate"/></informationRequirement>'
    body = f'<decision id="price" name="price"><variable name="price"/>{needs}{literal("rate.rate * 2")}</decision>'
    shop.write("price.dmn", definitions(imports, body, namespace="price"))
    refused = command("deploy", "price.dmn")
    assert refused.code == 1
    assert refused.err.count("[MISSING_IMPORT]") == 1
    assert "UNKNOWN_REFERENCE" not in refused.err
    assert command("deploy", "rate.dmn").code == 0
    assert command("deploy", "price.dmn").code == 0


def test_a_decision_service_is_evaluated_by_its_name_too(shop, command):
    needs = '<informationRequirement><requiredInput href="#x"/></informationRequirement>'
    body = f'<decision id="double" name="double"><variable name="double"/>{needs}{literal("x * 2")}</decision>'
    outputs = '<outputDecision href="#double"/><inputData href="#x"/>'
    service = f'<decisionService id="twice" name="Twice">{outputs}</decisionService>'
    shop.write("s.dmn", definitions('<inputData id="x" name="x"><variable name="x"/></inputData>', body, service))
    assert command("dmn", "eval", "s.dmn", "twice", "--var", "x=4").out == "8   number\n"
    assert command("dmn", "eval", "s.dmn", "Twice", "--var", "x=4").out == "8   number\n"
    shop.write("t.dmn", definitions(decision("a", literal("1")), decision("b", literal("2"))))
    asked = command("dmn", "eval", "t.dmn")
    assert (asked.code, "Which decision? The file has: a, b" in asked.err) == (1, True)


def test_strict_is_for_scripts_that_want_an_answer(pricing, command):
    assert command("dmn", "eval", pricing, "--var", "orderTotal=50", "--strict").code == 0
    answer = command("dmn", "eval", pricing, "--var", 'orderTotal="many"', "--strict", "--json")
    assert answer.code == 1
    assert answer.json["warnings"][0]["decisionId"] == "discount"


def test_a_table_without_a_match_says_so(pricing, command):
    answer = command("dmn", "eval", pricing, "--context", '{"orderTotal": null}')
    assert (answer.code, answer.out) == (0, "null   null\n")
    assert "No rule matches" in answer.err


def test_what_is_null_says_where(shop, command):
    shop.write("sum.dmn", definitions(decision("sum", literal("missing + 1"))))
    answer = command("dmn", "eval", "sum.dmn")
    assert answer.out == "null   null\n"
    assert "decision 'sum'" in answer.err
    assert "missing" in answer.err


def test_a_file_finds_what_it_imports_in_its_folder(shop, command):
    shop.write("base.dmn", definitions(knowledge("double", {"n": "number"}, literal("n * 2")), namespace="base"))
    imports = '<import name="base" namespace="base" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>'
    needs = '<knowledgeRequirement><requiredKnowledge href="base#double"/></knowledgeRequirement>'
    logic = literal("base.double(21)")
    body = f'<decision id="answer" name="answer"><variable name="answer"/>{needs}{logic}</decision>'
    shop.write("uses.dmn", definitions(imports, body, namespace="uses"))
    assert command("dmn", "eval", "uses.dmn").out == "42   number\n"
    assert command("lint", ".").code == 0
    assert command("deploy", ".").code == 0


def test_what_cannot_be_evaluated_says_why(shop, pricing, command):
    assert "no decision 'other'" in command("dmn", "eval", pricing, "other").err
    assert "none" in command("dmn", "eval", "missing.dmn").err
    shop.write("wrong.dmn", definitions(decision("a", literal("1 +")), decision("b", literal("1"))))
    wrong = command("dmn", "eval", "wrong.dmn", "b")
    assert wrong.code == 1
    assert "'a'" in wrong.err
    shop.write("two.dmn", definitions(decision("a", literal("1")), decision("b", literal("1"))))
    assert "a, b" in command("dmn", "eval", "two.dmn").err


def test_decisions_are_deployed_with_processes_and_listed(shop, pricing, command):
    shop.write("order.bpmn", ORDER)
    first = command("deploy", ".")
    assert first.code == 0, first
    assert "discount" in first.out
    again = command("deploy", ".", "--json").json
    assert [each["created"] for each in again] == [False, False]
    assert "pricing.dmn" in command("decisions").out
    (listed,) = command("decisions", "discount", "--json").json
    assert (listed["decisionDefinitionId"], listed["version"]) == ("discount", 1)
    assert command("decisions", "--xml", listed["decisionDefinitionKey"]).out.encode() == PRICING
    assert "No version of 'other'" in command("decisions", "other").err


def test_problems_of_both_kinds_of_files_stop_the_deployment(shop, command):
    shop.write("wrong.dmn", definitions(decision("a", literal("1 +"))))
    shop.write("wrong.bpmn", b"<nothing/>")
    refused = command("deploy", ".")
    assert refused.code == 1
    assert "wrong.dmn" in refused.err
    assert "wrong.bpmn" in refused.err
    assert not (shop.folder / "shop.db").exists()


def test_an_instance_shows_the_decision_and_its_incident(shop, command):
    shop.write("order.bpmn", ORDER)
    shop.write(
        "pricing.dmn", definitions(decision("discount", table(["orderTotal"], ["percent"], *RULES, ("75", "7"))))
    )
    command("deploy", ".")
    key = command("start", "order", "--var", "orderTotal=75", "--json").json["processInstanceKey"]
    shown = command("instance", key, "--history")
    assert "DECISION_EVALUATION_ERROR" in shown.out
    assert "orderTotal = 75" in shown.out.replace("\n", " ")
    assert "decision discount version 1: rule 1, 3" in shown.out
    key = command("start", "order", "--var", "orderTotal=250", "--json").json["processInstanceKey"]
    assert "decision discount version 1: rule 2" in command("instance", key, "--history").out


def test_a_warning_stands_in_the_history_of_its_instance(shop, command):
    shop.write("p.bpmn", process("p").start().script("compute", "missing + 1", result="answer").user("check").end())
    command("deploy", ".")
    key = command("start", "p", "--json").json["processInstanceKey"]
    told = " ".join(command("instance", key, "--history").out.split())
    assert "'missing'" in told
    assert "line 1, column 9: + has no meaning for null and number" in told


def test_the_prompt_tells_how_functions_are_called(command):
    answer = command("feel", stdin=":functions substring\n:functions\n:functions nothing like it\n")
    assert "substring(string, start position" in answer.out
    assert "years and months duration" in answer.out.replace("\n", " ").replace("  ", " ")
    assert "No function's name holds" in answer.err
