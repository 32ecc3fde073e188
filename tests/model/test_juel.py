"""Expressions of Java engines: what is evaluated as Java would, and what is refused because it needs Java."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procession.model.juel import JuelError, compile_juel, method_of

CONTEXT = {
    "approved": True,
    "amount": 120,
    "price": 99.5,
    "name": "Ada",
    "none": None,
    "empty": "",
    "items": [{"price": 10}, {"price": 20}],
    "order": {"total": Decimal("12.50"), "lines": [], "first-name": "Grace"},
    "text": "7",
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${approved}", True),
        ("#{approved}", True),
        ("${!approved}", False),
        ("${not approved}", False),
        ("${amount > 100}", True),
        ("${amount gt 100 and amount le 120}", True),
        ("${amount < 100 || name == 'Ada'}", True),
        ("${amount < 100 or not (name eq 'Ada')}", False),
        ("${amount == 120 ? 'yes' : 'no'}", "yes"),
        ("${amount != 120 ? 'yes' : name == 'x' ? 'maybe' : 'no'}", "no"),
        ("${items[1].price}", 20),
        ("${items[1].price >= 20 && items[0].price < 20}", True),
        ("${items[5]}", None),
        ("${order.total}", Decimal("12.50")),
        ("${order['first-name']}", "Grace"),
        ("${order.missing}", None),
        ("${order.missing.deeper}", None),
        ("${1 + 2 * 3 - 4 % 3}", 6),
        ("${7 / 2}", Decimal("3.5")),
        ("${8 div 2}", 4),
        ("${-amount}", -120),
        ("${price * 2}", 199),
        ("${text + 1}", 8),
        ("${text == 7}", True),
        ("${none == null}", True),
        ("${name == null}", False),
        ("${none > 1}", False),
        ("${empty order.lines}", True),
        ("${empty items}", False),
        ("${empty none}", True),
        ("${not empty order.lines}", False),
        ("${'it''s'.length() == 3}", None),
        ("${'a\\'b'}", "a'b"),
        ('${"}"}', "}"),
        ("${true && false}", False),
        ("${null}", None),
        ("${1.5e2}", Decimal("1.5E+2")),
        ("${name.equals('Ada')}", True),
        ("${amount.equals('120')}", False),
        ("${items.size() == 2}", True),
        ("${name.contains('d')}", True),
        ("${items.isEmpty()}", False),
        ("${name.toUpperCase().startsWith('AD')}", True),
        ("${execution.getVariable('amount') + 1}", 121),
        ("${execution.hasVariable('nothing')}", False),
        ("Dear ${name}, ${amount}!", "Dear Ada, 120!"),
        ("${name}${none}${approved}", "Adatrue"),
        ("plain", "plain"),
    ],
)
def test_an_expression_has_the_value_that_java_would_give(text: str, value: object):
    if value is None and "''" in text:
        with pytest.raises(JuelError):
            compile_juel(text)
        return
    assert compile_juel(text).evaluate(CONTEXT) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("${missing}", "no variable 'missing'"),
        ("${name + 1}", "expected a number but found 'Ada'"),
        ("${amount ? 1 : 2}", "expected a boolean but found 120"),
        ("${amount / 0}", "division by zero"),
        ("${amount.total}", "a int has no member 'total'"),
        ("${1e999999 * 1e999999}", "the number cannot be computed"),
    ],
)
def test_what_cannot_be_computed_is_null_with_a_warning(text: str, reason: str):
    warnings: list = []
    assert compile_juel(text).evaluate(CONTEXT, warnings=warnings) is None
    (warning,) = warnings
    assert reason in warning.message
    assert text in warning.message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("${bean.check(amount)}", "'.check(...)' needs Java"),
        ("${execution.setVariable('a', 1)}", "'.setVariable(...)' needs Java"),
        ("${execution.id}", "'execution' is an object of a Java engine"),
        ("${task.name}", "'task' is an object of a Java engine"),
        ("${var:lt('a', 10)}", "'var:lt(...)' needs Java"),
        ("${now()}", "'now(...)' needs Java"),
        ("${amount >}", "the end"),
        ("${(amount}", "expected ')'"),
        ("${amount", "the closing '}' is missing"),
        ("${a ? b}", "expected ':'"),
        ("${'open}", "the closing '}' is missing"),
        ("${a b}", "'b' is not expected"),
        ("${a = 1}", "cannot be read"),
        ("${" + "(" * 100 + "1" + ")" * 100 + "}", "DEPTH_MAX"),
        ("${" + "!" * 100 + "a}", "DEPTH_MAX"),
        ("${" + "1+" * 10_000 + "1}", "TEXT_LENGTH_MAX"),
        ("${}", "the end"),
    ],
)
def test_what_needs_java_or_is_no_expression_is_refused(text: str, reason: str):
    with pytest.raises(JuelError) as problem:
        compile_juel(text)
    assert reason in str(problem.value)


def test_an_expression_knows_the_variables_that_it_reads():
    assert compile_juel("${a.b > c ? d[e] : 'f'} ${execution.getVariable('g')}").names == {"a", "c", "d", "e", "g"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("${chargeCard}", "chargeCard"),
        ("#{chargeCard}", "chargeCard"),
        ("${orders.charge(execution, amount)}", "orders.charge"),
        ("${a.b.charge()}", "a.b.charge"),
        ("${execution.setVariable('a', 1)}", ""),
        ("${amount + 1}", ""),
        ("${a.b().c()}", ""),
        ("x ${a}", ""),
        ("${", ""),
    ],
)
def test_a_bean_or_its_method_gives_a_python_method_its_name(text: str, name: str):
    assert method_of(text) == name


@given(st.text(alphabet="${}#ab1.'\"()[]!=<>&|+-*/?: ", max_size=30))
def test_any_text_compiles_or_is_refused(text: str):
    try:
        expression = compile_juel(text)
    except JuelError:
        return
    expression.evaluate({"a": 1, "b": {"a": [1]}}, warnings=[])
