"""Files that are refused: every problem at once, with element and line; hostile ones too."""

from __future__ import annotations

import pytest

from procession.dmn import InvalidModel, compile_resource, lint_resource
from tests.dmn.models import compiled, decision, definitions, input_data, item, knowledge, literal, table

IN_GROOVY = '<literalExpression expressionLanguage="groovy"><text>1</text></literalExpression>'
TWO_CELLS = f"<relation><column name='x'/><row>{literal('1') * 2}</row></relation>"


def codes(*content):
    return [problem.code for problem in lint_resource(definitions(*content)) if problem.severity == "error"]


def test_every_problem_is_reported_at_once_with_its_element_and_line():
    content = definitions(
        decision("first", literal("1 +")),
        decision("second", table(["a"], ["n"], ["< <", "1"], ["1", "2", "3"])),
        decision("third", literal("1"), kind="tNone", needs=["nobody"]),
    )
    with pytest.raises(InvalidModel) as refused:
        compile_resource(content, name="all.dmn")
    found = [(p.line, p.element_id, p.code) for p in refused.value.problems]
    assert found == [
        (2, "first", "FEEL_SYNTAX"),
        (3, "second", "FEEL_SYNTAX"),
        (3, "second", "WRONG_NUMBER_OF_ENTRIES"),
        (4, "third", "UNKNOWN_REFERENCE"),
        (4, "third", "UNKNOWN_TYPE"),
    ]
    assert "'all.dmn' cannot be deployed: 5 errors" in str(refused.value)
    assert "(column 4)" in str(refused.value.problems[0])


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (decision("x", literal("1")) + decision("x", literal("2")), "ID_TWICE"),
        (decision("a", literal("b"), needs=["b"]) + decision("b", literal("a"), needs=["a"]), "REQUIREMENT_CYCLE"),
        (decision("a", literal("a"), needs=["a"]), "REQUIREMENT_CYCLE"),
        (decision("a", literal("b"), needs=["?b"]) + input_data("b", "tUnknown"), "UNKNOWN_TYPE"),
        (decision("a", table(["x"], ["y"], ["1", "1"], policy="BEST")), "UNKNOWN_HIT_POLICY"),
        (decision("a", table(["x"], ["y"], ["1", "1"], policy="PRIORITY")), "NO_OUTPUT_VALUES"),
        (decision("a", table(["x"], ["y"], ["1", "1"], policy="COLLECT", aggregation="AVG")), "UNKNOWN_AGGREGATION"),
        (
            decision("a", table(["x"], ["y", "z"], ["1", "1", "1"], policy="COLLECT", aggregation="SUM")),
            "AGGREGATION_OF_SEVERAL_OUTPUTS",
        ),
        (decision("a", "<decisionTable id='t'/>"), "NO_OUTPUT"),
        (decision("a", table(["x"], ["y", "y"], ["1", "1", "1"])), "NAME_TWICE"),
        (decision("a", table(["x"], ["y", ""], ["1", "1", "1"]).replace("id='o1'", "")), "NO_NAME"),
        (decision("a", "<literalExpression><importedValues/></literalExpression>"), "IMPORTED_VALUES"),
        (decision("a", "<for><in/></for>"), "NO_EXPRESSION"),
        (decision("a", "<invocation/>"), "NO_EXPRESSION"),
        (decision("a", TWO_CELLS), "WRONG_NUMBER_OF_CELLS"),
        (item("tA", "tB") + item("tB", "tA") + decision("a", literal("1")), "TYPE_CYCLE"),
        (item("tA", "string") * 2 + decision("a", literal("1")), "NAME_TWICE"),
        (knowledge("f", {"x": ""}, literal("x")).replace('name="x"', 'name=""'), "BAD_PARAMETERS"),
        (decision("a", IN_GROOVY), "UNSUPPORTED_LANGUAGE"),
        (decision("a", literal("${b}")), "UNSUPPORTED_LANGUAGE"),
        ('<decisionService id="s" name="s"/>', "NO_OUTPUT"),
        ('<process id="p"/>', "NO_DECISIONS"),
        (item("tA", "string", allowed="'a'") + decision("a", literal("1")), "FEEL_SYNTAX"),
    ],
)  # fmt: skip
def test_a_file_that_breaks_a_rule_is_refused(content, code):
    assert code in codes(content)


def test_a_text_on_lines_of_its_own_is_told_by_them():
    wrong = "<literalExpression>\n<text>1 +\n  2 +</text>\n</literalExpression>"
    (problem,) = lint_resource(definitions(decision("a", wrong)))
    assert (problem.line, "line 2 of the text, column 6" in problem.message) == (3, True)
    lacking = wrong.replace("2 +", "missing")
    (first, *_) = compiled(decision("a", lacking)).evaluate("a", {}).warnings
    assert (first.line, first.column) == (4, 3)


def test_a_constant_that_never_has_a_value_is_a_remark():
    model = compiled(decision("a", literal('x > date("2024-02-30")')))
    assert [(one.code, "column 5" in one.message) for one in model.problems] == [("FEEL_CONSTANT", True)]
    cells = table(["x"], ["y"], ['< duration("soon")', "lower(1)"])
    assert [one.code for one in compiled(decision("a", cells)).problems] == ["FEEL_CONSTANT"] * 2


def test_digits_of_another_script_are_a_name():
    evaluation = compiled(decision("a", literal("\u0663"))).evaluate("a", {})
    assert [warning.code for warning in evaluation.warnings] == ["no-variable"]


def test_gaps_are_remarked_on_and_evaluate_to_null():
    model = compiled(decision("empty", ""))
    assert [problem.code for problem in model.problems] == ["NO_LOGIC"]
    assert model.evaluate("empty", {}).result is None


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "EMPTY_RESOURCE"),
        (b"no xml", "XML_SYNTAX"),
        (b"<!DOCTYPE d [<!ENTITY e 'x'>]><definitions>&e;</definitions>", "DOCTYPE_NOT_ALLOWED"),
        (b"<definitions/>", "NO_DECISIONS"),
        (b"<a>" * 220 + b"</a>" * 220, "XML_TOO_DEEP"),
    ],
)
def test_hostile_bytes_are_refused(content, code):
    with pytest.raises(InvalidModel) as refused:
        compile_resource(content)
    assert [problem.code for problem in refused.value.problems] == [code]


def test_expressions_nested_as_deep_as_xml_allows_compile_and_evaluate():
    depth = 150
    logic = "<list>" * depth + literal("1") + "</list>" * depth
    value = compiled(decision("it", logic)).evaluate("it", {}).result
    for _ in range(depth):
        (value,) = value
    assert value == 1


@pytest.mark.parametrize(
    "year", ["20151101/dmn.xsd", "20180521/MODEL/", "20191111/MODEL/", "20211108/MODEL/", "20230324/MODEL/"]
)
def test_every_version_of_the_standard_is_read(year):
    content = definitions(decision("it", literal("1 + 1")))
    content = content.replace(
        b"https://www.omg.org/spec/DMN/20191111/MODEL/", f"http://www.omg.org/spec/DMN/{year}".encode()
    )
    assert compile_resource(content).evaluate("it", {}).result == 2
