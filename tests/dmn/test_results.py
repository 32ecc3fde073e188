"""What processes make of decisions: plain JSON, and the shapes of Camunda 7's business rule tasks."""

from __future__ import annotations

import pytest

from procession.dmn import evaluate_decision, map_decision_result, trace_as_json
from procession.errors import InvalidValue, NotFound
from tests.dmn.models import compiled, decision, literal, table

RULES = (["< 10", "1", '"a"'], ["< 20", "2", '"b"'])


def shaped(mapping, amount, *, outputs=1, policy="FIRST", aggregation=""):
    logic = table(
        ["amount"], ["n", "m"][:outputs], *[r[: 1 + outputs] for r in RULES], policy=policy, aggregation=aggregation
    )
    model = compiled(decision("it", logic))
    value, _ = evaluate_decision(model, "it", {"amount": amount})
    return map_decision_result(model.decision("it"), value, mapping)


def test_a_result_is_plain_json_and_comes_with_its_evaluation():
    model = compiled(decision("it", literal('{day: date("2024-05-01"), half: 1 / 2, wait: duration("P1D")}')))
    value, evaluation = evaluate_decision(model, "it", {})
    assert value == {"day": "2024-05-01", "half": 0.5, "wait": "P1D"}
    assert evaluation.trace[0].id == "it"


def test_a_function_is_no_result_for_a_process():
    model = compiled(decision("it", literal("function(x) x")))
    with pytest.raises(InvalidValue, match="The result of the decision 'it' cannot be a variable"):
        evaluate_decision(model, "it", {})
    with pytest.raises(NotFound):
        evaluate_decision(model, "other", {})


@pytest.mark.parametrize(
    ("mapping", "amount", "options", "expected"),
    [
        ("singleEntry", 5, {}, 1),
        ("singleEntry", 50, {}, None),
        ("singleEntry", 5, {"policy": "COLLECT", "aggregation": "SUM"}, 3),
        ("singleResult", 5, {"outputs": 2}, {"n": 1, "m": "a"}),
        ("singleResult", 5, {}, {"n": 1}),
        ("singleResult", 50, {"outputs": 2}, None),
        ("collectEntries", 5, {"policy": "COLLECT"}, [1, 2]),
        ("collectEntries", 50, {"policy": "COLLECT"}, []),
        ("collectEntries", 5, {}, [1]),
        ("resultList", 5, {"policy": "COLLECT", "outputs": 2}, [{"n": 1, "m": "a"}, {"n": 2, "m": "b"}]),
        ("resultList", 5, {}, [{"n": 1}]),
        ("resultList", 50, {}, []),
    ],
)
def test_a_result_has_the_shape_that_the_mapping_names(mapping, amount, options, expected):
    assert shaped(mapping, amount, **options) == expected


@pytest.mark.parametrize(
    ("mapping", "options", "message"),
    [
        ("singleEntry", {"policy": "COLLECT"}, "gave 2 results"),
        ("singleResult", {"policy": "COLLECT"}, "gave 2 results"),
        ("singleEntry", {"outputs": 2}, "has the outputs n, m"),
        ("collectEntries", {"outputs": 2}, "has the outputs n, m"),
    ],
)
def test_a_result_that_does_not_fit_the_shape_is_refused(mapping, options, message):
    with pytest.raises(InvalidValue, match=message):
        shaped(mapping, 5, **options)


def test_a_trace_is_written_in_the_words_of_camunda_8():
    logic = table(["amount", "rate"], ["n"], ["< 10", "-", "amount / 4"])
    model = compiled(decision("rate", literal("function(x) x")), decision("it", logic, needs=["rate"]))
    _, evaluation = evaluate_decision(model, "it", {"amount": 5})
    rate, it = trace_as_json(evaluation)
    assert (rate["decisionId"], rate["decisionType"]) == ("rate", "expression")
    assert rate["output"] == "function(x)"
    assert (it["decisionName"], it["decisionType"], it["output"]) == ("it", "decision table", 1.25)
    (found,) = it["tables"]
    assert found["hitPolicy"] == "UNIQUE"
    assert found["evaluatedInputs"][0] == {"inputId": "i0", "inputName": "amount", "inputValue": 5}
    outputs = [{"outputId": "o0", "outputName": "n", "outputValue": 1.25}]
    assert found["matchedRules"] == [{"ruleId": "r1", "ruleIndex": 1, "evaluatedOutputs": outputs}]


def test_other_logic_gives_one_row_named_like_the_decision():
    model = compiled(decision("it", literal("[1, 2]")))
    value, _ = evaluate_decision(model, "it", {})
    assert map_decision_result(model.decision("it"), value, "singleEntry") == [1, 2]
    assert map_decision_result(model.decision("it"), value, "resultList") == [{"it": [1, 2]}]
