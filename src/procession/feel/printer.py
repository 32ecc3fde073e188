"""Nodes back to text, with no more parentheses than the precedence of operators needs.

Parsing the text gives the same nodes again. Names that are no plain words are put in backquotes.
"""

import re
from decimal import Decimal
from typing import Final

from procession.feel import syntax
from procession.feel.lexer import KEYWORDS
from procession.feel.syntax import Node, TypeNode
from procession.feel.text import quoted

_LOWEST, _OR, _AND, _COMPARISON, _SUM, _PRODUCT, _POWER, _UNARY, _INSTANCE, _POSTFIX = range(10)
_ARITHMETIC_LEVELS: Final = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "**": _POWER}
_WORD: Final = re.compile(r"[?A-Za-z_][A-Za-z_0-9]*")


def print_node(node: Node) -> str:
    """The text of an expression."""
    return _text(node, _LOWEST)


def print_unary_tests(node: syntax.UnaryTests) -> str:
    """The text of the tests of a decision table's cell."""
    tests = ", ".join(_text(test, _LOWEST, bare=True) for test in node.tests)
    if not tests:
        return "-"
    return f"not({tests})" if node.negated else tests


def print_type(node: TypeNode) -> str:
    """The text of a type."""
    match node:
        case syntax.NamedType(name):
            return name
        case syntax.ListType(item):
            return f"list<{print_type(item)}>"
        case syntax.RangeType(item):
            return f"range<{print_type(item)}>"
        case syntax.ContextType(members):
            inside = ", ".join(f"{_name(name)}: {print_type(kind)}" for name, kind in members)
            return f"context<{inside}>"
        case syntax.FunctionType(parameters, result):
            return f"function<{', '.join(map(print_type, parameters))}> -> {print_type(result)}"


def _text(node: Node, level: int, *, bare: bool = False) -> str:
    """The text of a node where something of precedence `level` stands around it."""
    own, text = _leveled(node) or (_POSTFIX + 1, _primary(node))
    if isinstance(node, syntax.UnaryRange) and bare:
        return text[1:-1]
    return f"({text})" if own < level else text


def _leveled(node: Node) -> tuple[int, str] | None:
    """An operator with its precedence; None for what stands for itself."""
    match node:
        case syntax.Or(operands):
            return _OR, " or ".join(_text(operand, _AND) for operand in operands)
        case syntax.And(operands):
            return _AND, " and ".join(_text(operand, _COMPARISON) for operand in operands)
        case syntax.Comparison(operator, left, right):
            return _COMPARISON, f"{_text(left, _COMPARISON)} {operator} {_text(right, _SUM)}"
        case syntax.Between(operand, low, high):
            bounds = f"{_text(low, _SUM)} and {_text(high, _SUM)}"
            return _COMPARISON, f"{_text(operand, _COMPARISON)} between {bounds}"
        case syntax.In(operand, tests):
            return _COMPARISON, f"{_text(operand, _COMPARISON)} in {_tests(tests)}"
        case syntax.Arithmetic(operator, left, right):
            own = _ARITHMETIC_LEVELS[operator]
            return own, f"{_text(left, own)} {operator} {_text(right, own + 1)}"
        case syntax.Negation(operand):
            return _UNARY, f"-{_text(operand, _UNARY)}"
        case syntax.InstanceOf(operand, kind):
            text = f"{_text(operand, _INSTANCE)} instance of {print_type(kind)}"
            # A `<` after it would belong to the type.
            return (_LOWEST if text.endswith(("list", "range", "context", "function")) else _INSTANCE), text
        case _:
            return _greedy(node)


def _greedy(node: Node) -> tuple[int, str] | None:
    """What takes everything to its right, so that it needs parentheses inside of any operator."""
    match node:
        case syntax.If(condition, then, otherwise):
            text = f"if {_text(condition, _LOWEST)} then {_text(then, _LOWEST)} else {_text(otherwise, _LOWEST)}"
        case syntax.For(iterators, body):
            text = f"for {_iterators(iterators)} return {_text(body, _LOWEST)}"
        case syntax.Quantified(quantifier, iterators, condition):
            text = f"{quantifier} {_iterators(iterators)} satisfies {_text(condition, _LOWEST)}"
        case syntax.FunctionDefinition(parameters, body, external):
            text = f"function({', '.join(map(_parameter, parameters))}){' external' if external else ''} "
            text += _text(body, _LOWEST)
        case _:
            return None
    return _LOWEST, text


def _tests(tests: tuple[Node, ...]) -> str:
    if len(tests) == 1:
        return _text(tests[0], _SUM, bare=True)
    return f"({', '.join(_text(test, _LOWEST, bare=True) for test in tests)})"


def _iterators(iterators: tuple[syntax.Iterator, ...]) -> str:
    return ", ".join(
        f"{_name(one.name)} in {_text(one.source, _OR)}" + (f"..{_text(one.end, _OR)}" if one.end else "")
        for one in iterators
    )


def _parameter(parameter: syntax.Parameter) -> str:
    kind = f": {print_type(parameter.type)}" if parameter.type else ""
    return _name(parameter.name) + kind


def _primary(node: Node) -> str:
    match node:
        case syntax.Constant():
            return _constant(node)
        case syntax.AtLiteral(text):
            return f"@{quoted(text)}"
        case syntax.Name(name):
            return _name(name)
        case syntax.Path(base, name):
            return f"{_text(base, _POSTFIX)}.{_name(name)}"
        case syntax.Filter(base, condition):
            return f"{_text(base, _POSTFIX)}[{_text(condition, _LOWEST)}]"
        case syntax.Call(function, arguments, names):
            texts = [_text(argument, _LOWEST, bare=not names) for argument in arguments]
            named = [f"{_name(name)}: {text}" for name, text in zip(names, texts, strict=False)]
            return f"{_text(function, _POSTFIX)}({', '.join(named or texts)})"
        case syntax.ListLiteral(items):
            return f"[{', '.join(_text(item, _LOWEST) for item in items)}]"
        case syntax.ContextLiteral(entries):
            return "{" + ", ".join(f"{quoted(key)}: {_text(value, _LOWEST)}" for key, value in entries) + "}"
        case syntax.RangeLiteral(low, high, low_included, high_included):
            ends = f"{_text(low, _OR)}..{_text(high, _OR)}"
            return f"{'[' if low_included else '('}{ends}{']' if high_included else ')'}"
        case syntax.UnaryRange(operator, operand):
            return f"({operator} {_text(operand, _SUM)})"
        case _:
            raise AssertionError(f"{type(node).__name__} is an operator")


def _constant(node: syntax.Constant) -> str:
    value = node.value
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | Decimal():
            return format(value, "f") if isinstance(value, Decimal) and abs(value.adjusted()) < 40 else str(value)


def _name(name: str) -> str:
    """As it is where it consists of plain words, else in backquotes."""
    words = name.split(" ")
    plain = all(_WORD.fullmatch(word) and word not in KEYWORDS and word != "instance" for word in words)
    return name if plain else f"`{name}`"
