"""Evaluates Java's expression language (JUEL) as far as it needs no Java: paths, comparisons, logic, arithmetic, text.

Semantics are those of the Unified Expression Language: null counts as false, zero or an empty text; ``==`` compares
numbers and texts by value; list indexes count from 0. What needs a Java object (a bean's method, ``execution``) is
refused when it is compiled, by name. FEEL's number rules hold: whole numbers are ints, all others decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, DecimalException
from typing import Any, Final, cast

from procession.feel import FeelWarning
from procession.model.juel_syntax import (
    Binary,
    Call,
    Choice,
    JuelError,
    Literal,
    Member,
    Name,
    Node,
    Unary,
    has_expression,
    split_parts,
)

__all__ = ["Juel", "JuelError", "compile_juel", "has_expression", "method_of"]

# Objects of the Java engine that no variable stands for.
_ENGINE_OBJECTS: Final = frozenset({"execution", "task", "externalTask", "caseExecution", "authenticatedUserId"})
_DECIMAL: Final = Context(prec=34)


class _Fault(Exception):
    """The value cannot be computed; it becomes null with a warning."""


_Run = Callable[[Mapping[str, Any]], object]


class Juel:
    """A compiled ``${...}`` expression, or a text with such expressions in it."""

    __slots__ = ("_run", "names", "text")

    def __init__(self, text: str, names: frozenset[str], run: _Run) -> None:
        self.text = text
        self.names = names
        self._run = run

    def evaluate(
        self,
        context: Mapping[str, Any],
        *,
        now: object = None,  # noqa: ARG002 - the protocol's argument; this language has no clock
        warnings: list[Any] | None = None,
    ) -> object:
        """The value in this context; null with a warning where a variable is missing or of the wrong type."""
        try:
            return self._run(context)
        except (_Fault, DecimalException) as fault:
            if warnings is not None:
                reason = str(fault) if isinstance(fault, _Fault) else "the number cannot be computed"
                warnings.append(FeelWarning("invalid-argument", f"In '{self.text}': {reason}", 1, 1))
            return None


def compile_juel(text: str) -> Juel:
    """Compile a text with ``${...}`` in it. Raises JuelError for what needs Java or is not of the language."""
    parts = split_parts(text.strip())
    names: set[str] = set()
    runs = [_literal(part) if isinstance(part, str) else _compile(part, names) for part in parts]
    if len(runs) == 1:
        return Juel(text, frozenset(names), runs[0])
    return Juel(text, frozenset(names), lambda context: "".join(_text(run(context)) for run in runs))


def method_of(text: str) -> str:
    """``bean`` of ``${bean}``, ``bean.method`` of ``${bean.method(...)}``, or nothing for any other expression."""
    try:
        parts = split_parts(text.strip())
    except JuelError:
        return ""
    if len(parts) != 1 or isinstance(parts[0], str):
        return ""
    node = parts[0]
    path = _path(node.base) if isinstance(node, Call) and node.base is not None else _path(node)
    if not path or path[0] in _ENGINE_OBJECTS:
        return ""
    return ".".join([*path, node.method] if isinstance(node, Call) else path)


def _path(node: Node) -> list[str]:
    names: list[str] = []
    while isinstance(node, Member) and isinstance(node.index, Literal) and isinstance(node.index.value, str):
        names.append(node.index.value)
        node = node.base
    return [node.name, *reversed(names)] if isinstance(node, Name) else []


def _literal(value: object) -> _Run:
    return lambda _: value


def _compile(node: Node, names: set[str]) -> _Run:
    match node:
        case Literal(value):
            return _literal(value)
        case Name(name):
            return _name(name, names)
        case Member(base, index):
            return _member(_compile(base, names), _compile(index, names))
        case Choice(condition, yes, no):
            test, then, otherwise = (_compile(part, names) for part in (condition, yes, no))
            return lambda context: then(context) if _truth(test(context)) else otherwise(context)
        case Unary(operator, operand):
            apply = _UNARY[operator]
            run = _compile(operand, names)
            return lambda context: apply(run(context))
        case Binary("&&", left, right):
            first, second = _compile(left, names), _compile(right, names)
            return lambda context: _truth(first(context)) and _truth(second(context))
        case Binary("||", left, right):
            first, second = _compile(left, names), _compile(right, names)
            return lambda context: _truth(first(context)) or _truth(second(context))
        case Binary(operator, left, right):
            combine = _BINARY[operator]
            first, second = _compile(left, names), _compile(right, names)
            return lambda context: combine(first(context), second(context))
        case Call():
            return _call(node, names)


def _name(name: str, names: set[str]) -> _Run:
    if name in _ENGINE_OBJECTS:
        raise JuelError(f"'{name}' is an object of a Java engine and does not exist here")
    names.add(name)

    def read(context: Mapping[str, Any]) -> object:
        if name not in context:
            raise _Fault(f"no variable '{name}'")
        return context[name]

    return read


def _member(base: _Run, index: _Run) -> _Run:
    def read(context: Mapping[str, Any]) -> object:
        value, key = base(context), index(context)
        if value is None or key is None:
            return None
        if isinstance(value, Mapping):
            return cast("Mapping[object, object]", value).get(_text(key))
        if isinstance(value, Sequence) and not isinstance(value, str):
            position = _number(key)
            items = cast("Sequence[object]", value)
            return items[int(position)] if 0 <= position < len(items) else None
        raise _Fault(f"a {type(value).__name__} has no member '{key}'")

    return read


def _call(node: Call, names: set[str]) -> _Run:
    base = node.base
    if isinstance(base, Name) and base.name == "execution" and len(node.arguments) == 1:
        variable = node.arguments[0]
        if isinstance(variable, Literal) and isinstance(variable.value, str):
            return _execution_variable(node.method, variable.value, names)
    key = (node.method, len(node.arguments))
    if base is None or (key not in _ON_TEXT and key not in _ON_VALUES):
        spelled = f"{node.method}(...)" if base is None else f".{node.method}(...)"
        raise JuelError(f"the call '{spelled}' needs Java")
    run = _compile(base, names)
    arguments = [_compile(argument, names) for argument in node.arguments]
    if key in _ON_TEXT:
        on_text = _ON_TEXT[key]
        return lambda context: on_text(_text(run(context)), [_text(argument(context)) for argument in arguments])
    on_values = _ON_VALUES[key]
    return lambda context: on_values(run(context), [argument(context) for argument in arguments])


def _execution_variable(method: str, name: str, names: set[str]) -> _Run:
    names.add(name)
    if method == "getVariable":
        return lambda context: context.get(name)
    if method == "hasVariable":
        return lambda context: name in context
    raise JuelError(f"the call 'execution.{method}(...)' needs Java")


def _truth(value: object) -> bool:
    if isinstance(value, str):
        return value.lower() == "true"
    if value is None or isinstance(value, bool):
        return bool(value)
    raise _Fault(f"expected a boolean but found {value!r}")


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _number(value: object) -> int | Decimal:
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        raise _Fault("expected a number but found a boolean")
    if isinstance(value, int | Decimal):
        return value
    if isinstance(value, float | str):
        try:
            return int(value) if isinstance(value, str) and value.isdigit() else Decimal(str(value))
        except (DecimalException, ValueError) as problem:
            raise _Fault(f"expected a number but found {value!r}") from problem
    raise _Fault(f"expected a number but found a {type(value).__name__}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _equal(left: object, right: object) -> bool:
    if left is None or right is None:
        return left is right
    if _is_number(left) or _is_number(right):
        return _number(left) == _number(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return _truth(left) is _truth(right)
    if isinstance(left, str) or isinstance(right, str):
        return _text(left) == _text(right)
    return left == right


def _compare(left: object, right: object) -> int | None:
    if left is None or right is None:
        return None
    if isinstance(left, str) and isinstance(right, str):
        return (left > right) - (left < right)
    if _is_number(left) or _is_number(right):
        first, second = _number(left), _number(right)
        return (first > second) - (first < second)
    try:
        return (cast("Any", left) > right) - (cast("Any", left) < right)  # dates and their like
    except TypeError as problem:
        raise _Fault(f"{left!r} and {right!r} have no order") from problem


def _ordered(accepts: frozenset[int]) -> Callable[[object, object], bool]:
    return lambda left, right: _compare(left, right) in accepts


def _calculated(compute: Callable[[Decimal, Decimal], Decimal]) -> Callable[[object, object], int | Decimal]:
    def combine(left: object, right: object) -> int | Decimal:
        result = compute(Decimal(_number(left)), Decimal(_number(right)))
        return int(result) if result == result.to_integral_value() and abs(result) < 10**34 else result

    return combine


def _divide(left: Decimal, right: Decimal) -> Decimal:
    if right == 0:
        raise _Fault("division by zero")
    return _DECIMAL.divide(left, right)


def _remainder(left: Decimal, right: Decimal) -> Decimal:
    if right == 0:
        raise _Fault("division by zero")
    return _DECIMAL.remainder(left, right)


def _empty(value: object) -> bool:
    return value is None or (isinstance(value, str | Mapping | Sequence) and len(cast("Sequence[object]", value)) == 0)


def _size(value: object) -> int:
    if isinstance(value, str | Mapping | Sequence):
        return len(cast("Sequence[object]", value))
    raise _Fault("expected a text, list or map to take the size of")


def _contains(value: object, item: object) -> bool:
    if isinstance(value, str):
        return _text(item) in value
    if isinstance(value, Mapping | Sequence):
        return item in cast("Sequence[object]", value)
    raise _Fault("expected a text, list or map to look in")


def _same(left: object, right: object) -> bool:
    if _is_number(left) and _is_number(right):
        return _number(left) == _number(right)
    return type(left) is type(right) and left == right


_UNARY: Final[dict[str, Callable[[object], object]]] = {
    "-": lambda value: -_number(value),
    "!": lambda value: not _truth(value),
    "empty": _empty,
}
_BINARY: Final[dict[str, Callable[[object, object], object]]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _ordered(frozenset({-1})),
    ">": _ordered(frozenset({1})),
    "<=": _ordered(frozenset({-1, 0})),
    ">=": _ordered(frozenset({0, 1})),
    "+": _calculated(_DECIMAL.add),
    "-": _calculated(_DECIMAL.subtract),
    "*": _calculated(_DECIMAL.multiply),
    "/": _calculated(_divide),
    "%": _calculated(_remainder),
}
_ON_TEXT: Final[dict[tuple[str, int], Callable[[str, list[str]], object]]] = {
    ("equalsIgnoreCase", 1): lambda value, others: value.lower() == others[0].lower(),
    ("startsWith", 1): lambda value, others: value.startswith(others[0]),
    ("endsWith", 1): lambda value, others: value.endswith(others[0]),
    ("concat", 1): lambda value, others: value + others[0],
    ("toString", 0): lambda value, _: value,
    ("toUpperCase", 0): lambda value, _: value.upper(),
    ("toLowerCase", 0): lambda value, _: value.lower(),
    ("trim", 0): lambda value, _: value.strip(),
}
_ON_VALUES: Final[dict[tuple[str, int], Callable[[object, list[object]], object]]] = {
    ("equals", 1): lambda value, others: _same(value, others[0]),
    ("contains", 1): lambda value, others: _contains(value, others[0]),
    ("isEmpty", 0): lambda value, _: _empty(value),
    ("size", 0): lambda value, _: _size(value),
    ("length", 0): lambda value, _: _size(value),
}
