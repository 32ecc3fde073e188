"""Decision tables: hit policies, outputs, constraints, and what the trace tells about them."""

from __future__ import annotations

import pytest

from procession.dmn import compile_resource
from tests.dmn.models import compiled, decision, definitions, evaluate, input_data, item, messages, table

OVERLAPPING = (["< 10", '"low"'], ["< 100", '"middle"'], ["-", '"any"'])


def overlapping(policy, **options):
    return table(["amount"], ["size"], *OVERLAPPING, policy=policy, **options)


def test_unique_gives_the_output_of_the_rule_that_matches():
    logic = table(["amount"], ["size"], ["< 10", '"low"'], [">= 10", '"high"'])
    assert evaluate(logic, {"amount": 3}).result == "low"
    assert evaluate(logic, {"amount": 30}).result == "high"


def test_unique_is_null_with_a_warning_where_two_rules_match():
    evaluation = evaluate(overlapping("UNIQUE"), {"amount": 50})
    assert evaluation.result is None
    assert messages(evaluation) == ["2 rules match, but the hit policy UNIQUE allows one"]
    assert evaluation.warnings[0].element_id == "table"
    assert [rule.index for rule in evaluation.trace[0].tables[0].matched_rules] == [2, 3]


def test_first_takes_the_first_rule_and_looks_no_further():
    evaluation = evaluate(overlapping("FIRST"), {"amount": 50})
    assert evaluation.result == "middle"
    assert [rule.id for rule in evaluation.trace[0].tables[0].matched_rules] == ["r2"]


def test_any_allows_several_rules_with_the_same_outputs_only():
    same = table(["amount"], ["size"], ["< 10", '"low"'], ["< 20", '"low"'], ["< 30", '"high"'], policy="ANY")
    assert evaluate(same, {"amount": 25}).result == "high"
    contradiction = evaluate(same, {"amount": 5})
    assert contradiction.result is None
    assert "ANY wants the same" in messages(contradiction)[0]


def test_priority_takes_the_output_that_stands_first_among_the_output_values():
    logic = overlapping("PRIORITY", output_values=['"any", "middle", "low"'])
    assert evaluate(logic, {"amount": 5}).result == "any"


def test_priority_of_several_outputs_counts_the_first_column_most():
    logic = table(
        ["amount"],
        ["size", "color"],
        ["-", '"s"', '"red"'],
        ["-", '"l"', '"blue"'],
        ["-", '"l"', '"red"'],
        policy="PRIORITY",
        output_values=['"l","s"', '"red","blue"'],
    )
    assert evaluate(logic, {"amount": 5}).result == {"size": "l", "color": "red"}


def test_priority_of_one_output_is_that_of_the_allowed_values_of_its_type():
    model = compiled(
        item("tSize", "string", allowed='"any","middle","low"'),
        decision("it", overlapping("PRIORITY"), kind="tSize"),
    )
    assert model.evaluate("it", {"amount": 5}).result == "any"


def test_output_order_lists_by_priority_and_rule_order_by_rules():
    values = ['"any", "middle", "low"']
    by_output = evaluate(overlapping("OUTPUT ORDER", output_values=values), {"amount": 5})
    assert by_output.result == ["any", "middle", "low"]
    assert evaluate(overlapping("RULE ORDER"), {"amount": 5}).result == ["low", "middle", "any"]
    assert evaluate(overlapping("COLLECT"), {"amount": 5}).result == ["low", "middle", "any"]


@pytest.mark.parametrize(("aggregation", "expected"), [("SUM", 60), ("MIN", 10), ("MAX", 30), ("COUNT", 3)])
def test_collect_aggregates(aggregation, expected):
    logic = table(["a"], ["n"], ["-", "10"], ["-", "20"], ["-", "30"], policy="COLLECT", aggregation=aggregation)
    assert evaluate(logic, {"a": 1}).result == expected


@pytest.mark.parametrize(
    ("policy", "aggregation", "expected"),
    [
        ("UNIQUE", "", None),
        ("FIRST", "", None),
        ("ANY", "", None),
        ("COLLECT", "", []),
        ("RULE ORDER", "", []),
        ("COLLECT", "SUM", None),
        ("COLLECT", "COUNT", 0),
    ],
)
def test_no_match_without_defaults_is_null_or_nothing(policy, aggregation, expected):
    logic = table(["a"], ["n"], ["1", "10"], policy=policy, aggregation=aggregation)
    evaluation = evaluate(logic, {"a": 2})
    assert evaluation.result == expected
    assert [warning.code for warning in evaluation.warnings] == (["no-rule"] if expected is None else [])


def test_defaults_are_the_result_where_no_rule_matches():
    single = table(["a"], ["n", "m"], ["1", "10", "20"], defaults=["0", ""])
    assert evaluate(single, {"a": 2}).result == {"n": 0, "m": None}
    several = table(["a"], ["n"], ["1", "10"], defaults=["a + 1"], policy="COLLECT")
    assert evaluate(several, {"a": 2}).result == [3]
    total = table(["a"], ["n"], ["1", "10"], defaults=["7"], policy="COLLECT", aggregation="SUM")
    assert evaluate(total, {"a": 2}).result == 7


def test_cells_see_the_value_tested_and_all_variables():
    rules = (["? > b and ? < 10", '"between"'], ["[b..b]", '"equal"'], ["-", '"other"'])
    logic = table(["a"], ["n"], *rules, policy="FIRST")
    assert evaluate(logic, {"a": 5, "b": 3}).result == "between"
    assert evaluate(logic, {"a": 3, "b": 3}).result == "equal"
    assert evaluate(logic, {"a": 11, "b": 3}).result == "other"


def test_a_null_input_fits_a_test_for_null_and_any():
    logic = table(["a"], ["n"], ["null", '"nothing"'], ["not(null)", '"something"'])
    evaluation = evaluate(logic, {"a": None})
    assert evaluation.result == "nothing"
    assert evaluate(logic, {"a": 1}).result == "something"


def test_a_value_outside_the_input_values_makes_the_table_null():
    logic = table(["tier"], ["n"], ['"gold"', "1"], ["-", "2"], policy="FIRST", input_values=['"gold","silver"'])
    assert evaluate(logic, {"tier": "silver"}).result == 2
    evaluation = evaluate(logic, {"tier": "tin"})
    assert evaluation.result is None
    assert "input values" in messages(evaluation)[0]
    assert evaluate(logic, {"tier": None}).result == 2


def test_an_output_outside_the_output_values_makes_the_table_null():
    logic = table(["a"], ["n"], ["1", '"x"'], ["2", '"y"'], output_values=['"y","z"'])
    assert evaluate(logic, {"a": 2}).result == "y"
    evaluation = evaluate(logic, {"a": 1})
    assert evaluation.result is None
    assert "output values" in messages(evaluation)[0]


def test_outputs_have_the_type_of_their_column():
    logic = table(["a"], ["n"], ["1", '"x"'], ["2", "[5]"], kinds=["number"])
    assert evaluate(logic, {"a": 2}).result == 5
    evaluation = evaluate(logic, {"a": 1})
    assert evaluation.result is None
    assert messages(evaluation) == ["The output 'n' is a string that does not fit the type number"]


def test_the_trace_says_what_was_compared_and_what_matched():
    model = compiled(
        input_data("amount", "number"),
        decision("it", table(["amount", "amount * 2"], ["size"], ["> 1", "-", '"big"']), needs=["?amount"]),
    )
    (traced,) = model.evaluate("it", {"amount": 3}).trace
    assert (traced.id, traced.kind, traced.result) == ("it", "decision table", "big")
    assert [(i.id, i.value) for i in traced.inputs] == [("amount", 3)]
    (evaluated,) = traced.tables
    assert [(i.id, i.name, i.value) for i in evaluated.inputs] == [("i0", "amount", 3), ("i1", "amount * 2", 6)]
    (rule,) = evaluated.matched_rules
    assert (rule.id, rule.index) == ("r1", 1)
    assert [(o.id, o.name, o.value) for o in rule.outputs] == [("o0", "size", "big")]


def test_a_warning_names_the_decision_and_the_line_of_the_cell():
    content = definitions(decision("it", table(["a"], ["n"], ["1", "b.c + 1"]))).replace(
        b"<outputEntry>", b"\n<outputEntry>"
    )
    evaluation = compile_resource(content).evaluate("it", {"a": 1, "b": {}})
    assert evaluation.result is None
    assert {(w.decision_id, w.element_id, w.line) for w in evaluation.warnings} == {("it", "r1", 3)}
    assert str(evaluation.warnings[0]).startswith("line 3, decision 'it', element 'r1': The context has no member 'c'")


def test_cells_of_camunda_7_know_the_input_by_its_variable():
    named = table(["a"], ["n"], ["cellInput > 5", '"big"'], ["mine > 100", '"huge"'])
    content = definitions(decision("it", named), attributes='xmlns:camunda="http://camunda.org/schema/1.0/dmn"')
    assert compile_resource(content).evaluate("it", {"a": 7}).result == "big"
    content = content.replace(b"<input id='i0'>", b"<input id='i0' camunda:inputVariable='mine'>")
    assert compile_resource(content).evaluate("it", {"a": 101}).result == "huge"


def test_hit_policies_may_be_written_as_letters():
    for letter, expected in (("F", "low"), ("C", ["low", "middle", "any"]), ("R", ["low", "middle", "any"])):
        assert evaluate(overlapping(letter), {"amount": 5}).result == expected


def test_empty_cells_match_anything_and_give_null():
    logic = table(["a", "b"], ["n", "m"], ["", "2", "", '"x"'])
    assert evaluate(logic, {"a": 1, "b": 2}).result == {"n": None, "m": "x"}
