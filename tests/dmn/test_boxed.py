"""Boxed expressions: contexts, lists, relations, conditionals, loops, filters, invocations and functions."""

from __future__ import annotations

import pytest

from tests.dmn.models import evaluate, knowledge, literal, messages, table


def boxed(tag, attributes="", **children):
    inner = "".join(f"<{name.rstrip('_')}>{literal(text)}</{name.rstrip('_')}>" for name, text in children.items())
    return f"<{tag} {attributes}>{inner}</{tag}>"


def context(*entries):
    return (
        "<context>"
        + "".join(
            f"<contextEntry>{f'<variable name={chr(34)}{name}{chr(34)}/>' if name else ''}{logic}</contextEntry>"
            for name, logic in entries
        )
        + "</context>"
    )


def function(parameters, body, kind="FEEL"):
    formal = "".join(f'<formalParameter name="{name}"/>' for name in parameters)
    return f'<functionDefinition kind="{kind}">{formal}{body}</functionDefinition>'


def test_entries_of_a_context_see_those_before_them():
    logic = context(("first part", literal("a + 1")), ("b-c", literal("first part * 2")), ("sum", literal("b-c + a")))
    assert evaluate(logic, {"a": 1}).result == {"first part": 2, "b-c": 4, "sum": 5}


def test_an_entry_without_a_name_is_the_result_of_its_context():
    assert evaluate(context(("x", literal("20")), ("", literal("x + 1")))).result == 21


def test_a_list_and_a_relation_hold_the_values_of_their_expressions():
    assert evaluate(f"<list>{literal('a')}{literal('a + 1')}</list>", {"a": 1}).result == [1, 2]
    columns = '<column name="n"/><column name="full name"/>'
    rows = "".join(f"<row>{literal(n)}{literal(name)}</row>" for n, name in (("1", '"one"'), ("2", '"two"')))
    found = evaluate(f"<relation>{columns}{rows}</relation>").result
    assert found == [{"n": 1, "full name": "one"}, {"n": 2, "full name": "two"}]


@pytest.mark.parametrize(("value", "expected"), [(True, 1), (False, 2), (None, 2)])
def test_a_conditional_chooses(value, expected):
    assert evaluate(boxed("conditional", if_="c", then="1", else_="2"), {"c": value}).result == expected


def test_a_conditional_without_a_boolean_is_null():
    evaluation = evaluate(boxed("conditional", if_="1", then="1", else_="2"))
    assert evaluation.result is None
    assert messages(evaluation) == ["The condition is a number, not a boolean"]


def test_loops_see_their_variable_and_the_results_so_far():
    counted = boxed("for", 'iteratorVariable="the x"', in_="[1..n]", return_="the x * 10 + count(partial)")
    assert evaluate(counted, {"n": 3}).result == [10, 21, 32]


def test_a_loop_over_nothing_is_null_with_a_warning():
    evaluation = evaluate(boxed("for", 'iteratorVariable="x"', in_="null", return_="x"))
    assert evaluation.result is None
    assert messages(evaluation) == ["Nothing to iterate over: the source is null"]


@pytest.mark.parametrize(
    ("tag", "condition", "expected"),
    [
        ("some", "x > 2", True),
        ("some", "x > 3", False),
        ("some", "null", None),
        ("some", "x", None),
        ("every", "x > 0", True),
        ("every", "x > 1", False),
        ("every", "if x > 1 then true else null", None),
    ],
)
def test_quantifiers_are_three_valued(tag, condition, expected):
    found = evaluate(boxed(tag, 'iteratorVariable="x"', in_="[1, 2, 3]", satisfies=condition)).result
    assert found is expected


def test_a_filter_sees_the_members_of_its_items():
    logic = boxed("filter", in_="people", match='age > limit and item.name != "B"')
    people = [{"name": "A", "age": 50}, {"name": "B", "age": 60}, {"name": "C", "age": 5}]
    assert evaluate(logic, {"people": people, "limit": 40}).result == [people[0]]
    evaluation = evaluate(boxed("filter", in_="[1, 2]", match='"no boolean"'))
    assert evaluation.result is None
    assert "no boolean" in messages(evaluation)[0]
    assert evaluate(boxed("filter", in_="null", match="true")).result is None


def test_a_function_keeps_the_variables_it_was_made_with_and_may_call_itself():
    faculty = function(["n"], literal("if n < 2 then one else n * faculty(n - 1)"))
    logic = context(("one", literal("1")), ("faculty", faculty), ("", literal("faculty(5)")))
    assert evaluate(logic).result == 120


def test_an_invocation_gives_its_arguments_by_name():
    called = knowledge("price of", {"net": "number", "rate": "number"}, literal("net * (1 + rate)"))
    bindings = "".join(
        f'<binding><parameter name="{name}"/>{literal(text)}</binding>'
        for name, text in (("rate", "0.5"), ("net", "a"))
    )
    logic = f"<invocation>{literal('price of')}{bindings}</invocation>"
    assert evaluate(logic, {"a": 10}, called, knows=["price of"]).result == 15
    wrong = logic.replace('"rate"', '"ratio"')
    evaluation = evaluate(wrong, {"a": 10}, called, knows=["price of"])
    assert evaluation.result is None
    assert "has the parameters net, rate; found ratio, net" in messages(evaluation)[0]


def test_built_in_functions_can_be_invoked():
    logic = (
        f'<invocation>{literal("max")}<binding><parameter name="list"/>{literal("[1, 3, 2]")}</binding></invocation>'
    )
    assert evaluate(logic).result == 3
    bindings = "".join(
        f'<binding><parameter name="{name}"/>{literal(text)}</binding>'
        for name, text in (("start position", "2"), ("string", '"abc"'))
    )
    assert evaluate(f"<invocation>{literal('substring')}{bindings}</invocation>").result == "bc"
    wrong = bindings.replace('"string"', '"text"')
    evaluation = evaluate(f"<invocation>{literal('substring')}{wrong}</invocation>")
    assert messages(evaluation) == [
        "substring has no parameters start position, text; substring(string, start position, length)"
    ]


def test_partial_in_a_boxed_loop_is_the_results_so_far():
    loop = boxed("for", 'iteratorVariable="i"', in_="[1, 2, 3]", return_="partial")
    assert evaluate(loop).result == [[], [[]], [[], [[]]]]


@pytest.mark.parametrize("kind", ["Java", "PMML"])
def test_functions_in_other_languages_are_null_and_say_so(kind):
    java = function(["x"], context(("class", literal('"java.lang.Math"'))), kind)
    evaluation = evaluate(context(("cos", java), ("", literal("cos(1)"))))
    assert evaluation.result is None
    assert f"A function of kind {kind} cannot be called" in messages(evaluation)[0]


def test_an_endless_recursion_ends_with_a_warning():
    endless = function(["n"], literal("f(n + 1)"))
    evaluation = evaluate(context(("f", endless), ("", literal("f(1)"))))
    assert evaluation.result is None
    assert {warning.code for warning in evaluation.warnings} == {"limit"}


def test_boxed_loops_share_the_budget_of_one_evaluation():
    inner = boxed("for", 'iteratorVariable="y"', in_="[1..100000]", return_="y")
    outer = f'<for iteratorVariable="x"><in>{literal("[1..1000]")}</in><return>{inner}</return></for>'
    evaluation = evaluate(outer)
    assert evaluation.result is None
    assert any("ITERATIONS_MAX" in message for message in messages(evaluation))


def test_a_large_table_in_a_loop_spends_the_budget_by_its_rules():
    large = table(["x"], ["n"], *[[f"< {n}", "1"] for n in range(1000)], policy="COLLECT", aggregation="COUNT")
    logic = literal("for i in 1..100000 return size(i)")
    evaluation = evaluate(logic, {}, knowledge("size", {"x": "number"}, large), knows=["size"])
    assert evaluation.result is None
    assert any("ITERATIONS_MAX" in message for message in messages(evaluation))
