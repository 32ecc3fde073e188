"""The requirement graph: decisions, input data, functions, services, and models that import each other."""

from __future__ import annotations

import pytest

from procession.dmn import InvalidModel, compile_resource, compile_resources
from procession.errors import NotFound
from procession.feel import Date
from tests.dmn.models import compiled, decision, definitions, input_data, item, knowledge, literal, messages, table


def service(name, outputs, *, inputs=(), decisions=(), kind=""):
    parts = [f'<outputDecision href="#{one}"/>' for one in outputs]
    parts += [f'<inputDecision href="#{one}"/>' for one in decisions]
    parts += [f'<inputData href="#{one}"/>' for one in inputs]
    return f'<decisionService id="{name}" name="{name}"><variable name="{name}"/>{"".join(parts)}</decisionService>'


def test_a_decision_sees_what_it_requires_and_each_is_decided_once():
    model = compiled(
        decision("total price", literal("net price + shipping"), needs=["net price", "shipping"]),
        decision("shipping", literal("net price / 10"), needs=["net price"]),
        decision("net price", literal("count * unit price"), needs=["?count", "?unit price"]),
        input_data("count", "number"),
        input_data("unit price", "number"),
    )
    evaluation = model.evaluate("total price", {"count": 4, "unit price": 25})
    assert evaluation.result == 110
    assert [traced.id for traced in evaluation.trace] == ["net price", "shipping", "total price"]
    assert [(i.name, i.value) for i in evaluation.trace[-1].inputs] == [("net price", 100), ("shipping", 10)]


def test_a_decision_is_found_by_id_or_name_and_missed_with_a_list_of_those_there():
    model = compile_resource(definitions(decision("a b", literal("1")).replace('id="a b"', 'id="ab"')))
    assert model.evaluate("ab", {}).result == model.evaluate("a b", {}).result == 1
    with pytest.raises(NotFound, match="no decision 'c' in the model 'Model'; it has: ab"):
        model.evaluate("c", {})


def test_input_data_that_is_missing_is_null_with_a_warning():
    model = compiled(input_data("x", "number"), decision("it", literal("x = null"), needs=["?x"]))
    evaluation = model.evaluate("it", {})
    assert evaluation.result is True
    assert messages(evaluation) == ["There is no value for the input data 'x'"]


def test_a_text_is_a_date_where_the_input_data_is_one():
    model = compiled(input_data("day", "date"), decision("it", literal("day"), needs=["?day"]))
    assert model.evaluate("it", {"day": "2024-02-29"}).result == Date(2024, 2, 29)
    assert model.evaluate("it", {"day": "some day"}).result is None


def test_a_required_result_has_the_names_that_other_modelers_give_it():
    season = table(["month"], ["season"], ["> 5", '"summer"'], ["<= 5", '"winter"'])
    first = decision("Season of Year", season).replace('id="Season of Year"', 'id="seasonDecision"')
    for name in ("Season of Year", "seasonDecision", "season"):
        model = compiled(first, decision("it", literal(name), needs=["seasonDecision"]))
        assert model.evaluate("it", {"month": 7}).result == "summer", name
    several = table(["month"], ["season", "hot"], ["-", '"summer"', "true"])
    model = compiled(decision("d", several), decision("it", literal("[season, hot, d.hot]"), needs=["d"]))
    assert model.evaluate("it", {"month": 7}).result == ["summer", True, True]


def test_functions_call_each_other_and_see_nothing_but_their_parameters():
    model = compiled(
        knowledge("double", {"x": "number"}, literal("x * 2")),
        knowledge("quadruple", {"x": "number"}, literal("double(double(x))"), knows=["double"]),
        knowledge("peek", {}, literal("secret")),
        decision("it", literal("[quadruple(3), peek()]"), knows=["quadruple", "peek"]),
    )
    evaluation = model.evaluate("it", {"secret": 7})
    assert evaluation.result == [12, None]
    assert messages(evaluation) == ["There is no variable 'secret'"]
    assert evaluation.warnings[0].decision_id == "peek"


def test_a_function_may_hold_a_table_and_the_trace_keeps_each_of_its_evaluations():
    rate = table(["tier"], ["rate"], ['"gold"', "0.5"], ["-", "0"], policy="FIRST")
    model = compiled(
        knowledge("rate of", {"tier": "string"}, rate),
        decision("it", literal('[rate of("gold"), rate of("tin")]'), knows=["rate of"]),
    )
    evaluation = model.evaluate("it", {})
    assert [str(value) for value in evaluation.result] == ["0.5", "0"]
    assert [t.matched_rules[0].index for t in evaluation.trace[0].tables] == [1, 2]


def greeting():
    return (
        input_data("name", "string"),
        decision("salutation", literal('"Hello "')),
        decision("greeting", literal("salutation + name"), needs=["salutation", "?name"]),
        service("greet", ["greeting"], inputs=["name"], decisions=["salutation"]),
        service("both", ["greeting", "salutation"], inputs=["name"]),
    )


def test_a_service_takes_the_values_of_its_input_decisions():
    model = compiled(*greeting())
    assert model.evaluate_service("greet", {"name": "Ann", "salutation": "Dear "}).result == "Dear Ann"
    both = model.evaluate_service("both", {"name": "Ann"})
    assert both.result == {"greeting": "Hello Ann", "salutation": "Hello "}


def test_a_service_is_a_function_of_its_input_data_then_its_input_decisions():
    model = compiled(
        *greeting(),
        decision(
            "it",
            literal('[greet("Ann", "Dear "), greet(salutation: "Hi ", name: "Bo"), greet(1, "x")]'),
            knows=["greet"],
        ),
    )
    evaluation = model.evaluate("it", {"name": "unseen"})
    assert evaluation.result == ["Dear Ann", "Hi Bo", None]
    assert any("does not have the type of its parameter" in message for message in messages(evaluation))
    assert [traced.id for traced in evaluation.trace] == ["greeting", "greeting", "it"]


def test_a_service_that_calls_itself_without_end_is_stopped():
    model = compiled(decision("it", literal("again()"), knows=["again"]), service("again", ["it"]))
    evaluation = model.evaluate("it", {})
    assert evaluation.result is None
    assert "limit" in {warning.code for warning in evaluation.warnings}


IMPORT = '<import name="{name}" namespace="{namespace}" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>'


def test_models_import_each_other_in_any_order_of_files():
    base = definitions(
        item("tAge", "number", allowed="[0..150]"),
        input_data("age", "tAge"),
        decision("is adult", literal("age >= 18"), needs=["?age"]),
        knowledge("next", {"x": "tAge"}, literal("x + 1")),
        namespace="base",
    )
    above = definitions(
        IMPORT.format(name="my base", namespace="base"),
        decision(
            "it",
            literal("[my base.is adult, my base.next(my base.age), 3 instance of my base.tAge]"),
            needs=["base#is adult", "?base#age"],
            knows=["base#next"],
        ).replace('href="#base#', 'href="base#'),
        namespace="above",
    )
    models = compile_resources({"above.dmn": above, "base.dmn": base})
    assert list(models) == ["above.dmn", "base.dmn"]
    assert models["above.dmn"].evaluate("it", {"age": 20}).result == [True, 21, True]
    assert models["above.dmn"].evaluate("it", {"my base": {"age": 5}}).result == [False, 6, True]
    with pytest.raises(InvalidModel, match="'base' is imported, but it was not given"):
        compile_resource(above)


def test_an_import_without_a_name_needs_no_prefix():
    base = definitions(
        item("tAge", "number"),
        input_data("age", "tAge"),
        decision("is adult", literal("age >= 18"), needs=["?age"]),
        knowledge("next", {"x": "tAge"}, literal("x + 1")),
        namespace="base",
    )
    more = definitions(knowledge("twice", {"x": "number"}, literal("x * 2")), namespace="more")
    above = definitions(
        IMPORT.format(name="", namespace="base"),
        IMPORT.format(name="", namespace="more"),
        decision(
            "it",
            literal("[is adult, twice(next(age)), 3 instance of tAge]"),
            needs=["x", "?y"],
            knows=["z", "w"],
        )
        .replace('"#x"', '"base#is adult"')
        .replace('"#y"', '"base#age"')
        .replace('"#z"', '"base#next"')
        .replace('"#w"', '"more#twice"'),
        namespace="above",
    )
    models = compile_resources({"above.dmn": above, "more.dmn": more, "base.dmn": base})
    assert models["above.dmn"].evaluate("it", {"age": 20}).result == [True, 42, True]


def test_files_that_import_each_other_in_a_circle_are_refused():
    one = definitions(IMPORT.format(name="b", namespace="two"), decision("x", literal("1")), namespace="one")
    two = definitions(IMPORT.format(name="a", namespace="one"), decision("y", literal("1")), namespace="two")
    with pytest.raises(InvalidModel, match=r"'two' imports this one in turn.*IMPORT_CYCLE"):
        compile_resources({"one": one, "two": two})
    itself = definitions(IMPORT.format(name="me", namespace="one"), decision("x", literal("1")), namespace="one")
    with pytest.raises(InvalidModel, match="IMPORT_CYCLE"):
        compile_resource(itself)


def test_an_import_means_one_model():
    both = {name: definitions(decision("x", literal("1")), namespace="one") for name in ("a.dmn", "b.dmn")}
    user = definitions(IMPORT.format(name="a", namespace="one"), decision("y", literal("1")), namespace="two")
    assert set(compile_resources(both)) == {"a.dmn", "b.dmn"}
    with pytest.raises(InvalidModel, match=r"Several models have the namespace 'one'.*'a.dmn', 'b.dmn'"):
        compile_resources({**both, "c.dmn": user})


def test_a_long_chain_of_decisions_needs_no_deep_stack():
    chain = [decision("d0", literal("1"))]
    chain += [decision(f"d{n}", literal(f"d{n - 1} + 1"), needs=[f"d{n - 1}"]) for n in range(1, 1500)]
    assert compiled(*chain).evaluate("d1499", {}).result == 1500


def test_nothing_that_was_given_is_changed():
    given = {"people": [{"name": "A"}], "total": {"x": 1}}
    before = repr(given)
    model = compiled(
        decision("total", literal('context put(total, "x", 2)')),
        decision("it", literal("[total, append(people, 1)]"), needs=["total"]),
    )
    assert model.evaluate("it", given).result == [{"x": 2}, [{"name": "A"}, 1]]
    assert repr(given) == before
