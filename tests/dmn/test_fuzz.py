"""Mutated files: whatever comes in is refused with problems or evaluates; nothing is an internal error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from procession.dmn import InvalidModel, compile_resource
from tests.dmn.models import (
    component,
    decision,
    definitions,
    input_data,
    item,
    knowledge,
    literal,
    table,
)

VALUES = (None, 0, -3, 1.5, "", "gold", "2024-01-01", True, [], [1, "x", None], {"a": {"b": 1}}, {"full name": 7})

SIZE = table(["amount"], ["s"], ["[0..5]", '"S"'], ["> 5", '"M"'], policy="ANY")
SUM = table(["amount"], ["s"], ["-", "1"], ["-", "2"], policy="COLLECT", aggregation="SUM")
ORDER = table(
    ["size", "sum"],
    ["a", "b"],
    ["-", "-", "1", '"x"'],
    ['"S"', "3", "2", '"y"'],
    policy="OUTPUT ORDER",
    output_values=["2,1", '"y","x"'],
    defaults=["0", '"z"'],
)
SEED = definitions(
    item("tSize", "string", allowed='"S","M"'),
    item("tPerson", parts=component("full name", "string") + component("age", "number")),
    item("tPeople", "tPerson", many=True),
    input_data("people", "tPeople"),
    input_data("amount", "number"),
    knowledge("rate of", {"x": "number"}, table(["x"], ["r"], ["< 10", "1"], ["-", "2"], policy="FIRST")),
    decision("size", SIZE, kind="tSize", needs=["?amount"]),
    decision("sum", SUM, needs=["?amount"]),
    decision("order", ORDER, needs=["size", "sum"]),
    decision(
        "names",
        f'<for iteratorVariable="p"><in>{literal("people")}</in><return>{literal("p.full name")}</return></for>',
        needs=["?people"],
    ),
    decision(
        "adults",
        f'<filter typeRef="tPeople"><in>{literal("people")}</in><match>{literal("age >= 18")}</match></filter>',
        needs=["?people"],
    ),
    decision(
        "it",
        f'<context><contextEntry><variable name="r"/>{literal("rate of(amount)")}</contextEntry>'
        f'<contextEntry><variable name="c"/><conditional><if>{literal("r > 1")}</if><then>{literal("names")}</then>'
        f"<else><list>{literal('1')}{literal('null')}</list></else></conditional></contextEntry></context>",
        needs=["names", "order", "?amount"],
        knows=["rate of"],
    ),
    '<decisionService id="service" name="service"><outputDecision href="#order"/><inputDecision href="#sum"/>'
    '<inputData href="#amount"/></decisionService>',
)

TOKENS = [token for token in re.split(rb"(<[^>]*>|\"[^\"]*\")", SEED) if token]


def survives(content: bytes, context: dict[str, object]) -> bool:
    """Compile and evaluate everything. Whether it was accepted."""
    try:
        model = compile_resource(content)
    except InvalidModel as refused:
        _is_explained(refused)
        return False
    for evaluation in (
        *(model.evaluate(one, context) for one in model.decisions),
        *(model.evaluate_service(one, context) for one in model.services),
    ):
        bugs = [warning for warning in evaluation.warnings if warning.code == "internal"]
        assert bugs == []
    return True


def _is_explained(refused: InvalidModel) -> None:
    assert refused.problems
    assert all(problem.code and problem.message and problem.line >= 1 for problem in refused.problems)


def test_the_seed_is_accepted():
    assert survives(SEED, {"amount": 3, "people": [{"full name": "A", "age": 20}]})


contexts = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(VALUES) for name in ("amount", "people", "sum", "size")}
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(TOKENS) - 1), st.integers(0, len(TOKENS) - 1), st.sampled_from(["swap", "copy", "drop"])
        ),
        max_size=4,
    ),
    contexts,
)
def test_moved_elements_meet_no_bug(moves, context):
    tokens = list(TOKENS)
    for here, there, how in moves:
        match how:
            case "swap":
                tokens[here], tokens[there] = tokens[there], tokens[here]
            case "copy":
                tokens[here] = tokens[there]
            case _:
                tokens[here] = b""
    survives(b"".join(tokens), context)


TEXTS = [
    match.span(1) for match in re.finditer(rb"<text>([^<]*)</text>|=\"([^\"]*)\"", SEED) if match.group(1) is not None
]
ATTRIBUTES = [
    match.span(1)
    for match in re.finditer(
        rb"(?:typeRef|name|href|hitPolicy|aggregation|iteratorVariable|isCollection)=[\"']([^\"']*)[\"']", SEED
    )
]
FRAGMENTS = [
    "",
    "-",
    "1",
    "null",
    "amount",
    "people",
    "not(1)",
    "[1..",
    "]1..2[",
    "function(x) x",
    "? + 1",
    "it",
    "sum",
    "tPerson",
    "number",
    "tPeople",
    "FIRST",
    "O",
    "COLLECT",
    "#size",
    "#it",
    "rate of",
    "a b-c",
    "list<number>",
    "true",
    "{a: 1}",
    '@"2024-01-01"',
    "service(1, 2)",
    "tSize",
]


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(TEXTS + ATTRIBUTES), st.sampled_from(FRAGMENTS)), min_size=1, max_size=3),
    contexts,
)
def test_other_texts_and_attributes_meet_no_bug(changes, context):
    content = SEED
    for (start, end), text in sorted(changes, key=lambda change: -change[0][0]):
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
        content = content[:start] + escaped.encode() + content[end:]
    survives(content, context)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, len(SEED) - 1), st.binary(max_size=3)), min_size=1, max_size=5))
def test_changed_bytes_meet_no_bug(changes):
    content = bytearray(SEED)
    for place, replacement in changes:
        content[place : place + 1] = replacement
    survives(bytes(content), {"amount": 3})


@pytest.mark.corpora
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_files_of_the_compliance_tests_meet_no_bug(corpora: Path, data):
    files = [path for path in sorted((corpora / "dmn-tck").rglob("*.dmn")) if path.stat().st_size < 30_000]
    if not files:
        pytest.skip(f"no dmn-tck in {corpora}")
    content = data.draw(st.sampled_from(files)).read_bytes()
    tokens = re.split(rb"(<[^>]*>)", content)
    for _ in range(data.draw(st.integers(1, 3))):
        here, there = (data.draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        tokens[here], tokens[there] = tokens[there], tokens[here]
    survives(b"".join(tokens), {})
