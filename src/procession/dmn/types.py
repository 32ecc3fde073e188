"""Types of the model: item definitions, and the coercion of values to the type that an element declares.

Coercion is what the standard calls implicit conversion: a list of one to its item, an item to a list of one, a date to
its midnight in UTC. What fits in no way is null, with a warning; null fits everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

from procession.dmn.run import DecisionRun, Place
from procession.feel import Date, DateTime, FeelSyntaxError, Time, UnaryTests
from procession.feel import syntax as feel_syntax
from procession.feel.build import TypeMeaning
from procession.feel.cursor import Cursor
from procession.feel.names import Scope
from procession.feel.problems import Invalid
from procession.feel.run import NOWHERE, Frame, Run
from procession.feel.syntax import NamedType, TypeNode
from procession.feel.types import conforms
from procession.feel.values import feel, is_context, kind_of

ANY: Final = NamedType("Any")
_MIDNIGHT: Final = Time(0, 0, 0, offset=0)

BUILT_IN: Final = frozenset(
    {
        "Any",
        "Null",
        "boolean",
        "context",
        "date",
        "date and time",
        "dateTime",
        "dayTimeDuration",
        "days and time duration",
        "function",
        "list",
        "number",
        "range",
        "string",
        "time",
        "yearMonthDuration",
        "years and months duration",
    }
)
# Names of types that modelers of other engines write; the standard knows only number.
_FOREIGN: Final = {
    "integer": "number",
    "int": "number",
    "long": "number",
    "short": "number",
    "double": "number",
    "float": "number",
    "decimal": "number",
    "datetime": "date and time",
    "any": "Any",
    "dateAndTime": "date and time",
}

# Makes a value fit a type, or null with a warning at the place.
Coercion = Callable[[DecisionRun, object, Place, str], object]


class Types:
    """The types of one model by name; those of imported models under `import.name`.

    `meanings` hold the constraints of item definitions, which values have to keep where an element declares the type.
    `shapes` are without them: `instance of` does not ask for allowed values.
    """

    def __init__(self) -> None:
        self.meanings: dict[str, TypeMeaning] = {}
        self.shapes: dict[str, TypeMeaning] = {}
        self.allowed_texts: dict[str, str] = {}  # the allowed values of simple types, as they are written
        self._coercions: dict[TypeNode, Coercion] = {}

    def node(self, reference: str) -> TypeNode | None:
        """The type that a `typeRef` names; None where nothing has that name."""
        name = reference.strip()
        if name in self.meanings:
            return NamedType(name)
        prefix, colon, local = name.partition(":")
        if colon:
            return self._prefixed(prefix, local)
        name = name.removeprefix("feel.")
        name = _FOREIGN.get(name, name)
        if name in BUILT_IN:
            return NamedType(name)
        return self._written(name)

    def _prefixed(self, prefix: str, local: str) -> TypeNode | None:
        """DMN 1.1 writes qualified names; the prefix may be FEEL's, the name of an import, or this model's own."""
        for name in (f"{prefix}.{local}", local):
            if name in self.meanings:
                return NamedType(name)
        local = _FOREIGN.get(local, local)
        if local in BUILT_IN:
            return NamedType(local)
        found = [name for name in self.meanings if name.endswith(f".{local}")]
        return NamedType(found[0]) if len(found) == 1 else None

    def _written(self, text: str) -> TypeNode | None:
        """A type written out, such as list<number>."""
        if "<" not in text:
            return None
        try:
            cursor = Cursor(text, Scope(()), Scope(self.meanings))
            node = cursor.type()
        except FeelSyntaxError:
            return None
        is_whole = cursor.token.kind == "end"
        return node if is_whole and all(name in self.meanings or name in BUILT_IN for name in names_in(node)) else None

    def allowed(self, reference: str) -> str:
        """The allowed values of the type that a `typeRef` names, as they are written; nothing where any value is."""
        node = self.node(reference) if reference.strip() else None
        return self.allowed_texts.get(node.name, "") if isinstance(node, NamedType) else ""

    def coercion(self, node: TypeNode | None) -> Coercion | None:
        """The coercion to a type; None where any value fits."""
        if node is None or node == ANY:
            return None
        found = self._coercions.get(node)
        if found is None:
            found = self._coercions[node] = _coercion(node, self)
        return found

    def result_of(self, node: TypeNode | None) -> TypeNode | None:
        """What a function of this type gives; other types are what they are (a function's variable may name either)."""
        seen = 0
        wanted: TypeMeaning | None = node
        while isinstance(wanted, NamedType) and seen <= len(self.meanings):
            wanted, seen = self.meanings.get(wanted.name), seen + 1
        if isinstance(wanted, feel_syntax.FunctionType):
            return wanted.result
        return None if node == NamedType("function") else node


def names_in(node: TypeNode) -> Iterator[str]:
    """The names of types that a type is made of."""
    stack: list[TypeNode] = [node]
    while stack:
        match stack.pop():
            case feel_syntax.NamedType(name):
                yield name
            case feel_syntax.ListType(item) | feel_syntax.RangeType(item):
                stack.append(item)
            case feel_syntax.ContextType(members):
                stack.extend(member for _, member in members)
            case feel_syntax.FunctionType(parameters, result):
                stack.extend((*parameters, result))


def type_text(node: TypeNode) -> str:
    """A type as FEEL writes it, for messages."""
    match node:
        case feel_syntax.NamedType(name):
            return name
        case feel_syntax.ListType(item):
            return f"list<{type_text(item)}>"
        case feel_syntax.RangeType(item):
            return f"range<{type_text(item)}>"
        case feel_syntax.ContextType(members):
            return f"context<{', '.join(f'{name}: {type_text(member)}' for name, member in members)}>"
        case feel_syntax.FunctionType(parameters, result):
            return f"function<{', '.join(map(type_text, parameters))}> -> {type_text(result)}"


_DIRECT: Final[dict[str, frozenset[type]]] = {
    "number": frozenset({int}),
    "string": frozenset({str}),
    "boolean": frozenset({bool}),
}


def _coercion(node: TypeNode, types: Types) -> Coercion:
    direct = frozenset[type]()
    if isinstance(node, NamedType) and node.name not in types.meanings:
        direct = _DIRECT.get(node.name, direct)
    wanted = type_text(node)

    def coerce(run: DecisionRun, value: object, place: Place, what: str) -> object:
        if value is None or type(value) in direct or conforms(value, node, types.meanings, run):
            return value
        for converted in _conversions(value):
            if converted is not None and conforms(converted, node, types.meanings, run):
                return converted
        run.at = place
        why = misfit(value, node, types, run)
        message = f"{what} is a {kind_of(value)} that does not fit the type {wanted}"
        return run.warn("invalid-type", message + (f": {why}" if why else ""), NOWHERE)

    return coerce


def _conversions(value: object) -> Iterator[object]:
    if type(value) is list:
        items = cast("list[object]", value)
        if len(items) == 1:
            yield feel(items[0])
    else:
        yield [value]
    if isinstance(value, Date):
        yield DateTime(value, _MIDNIGHT)


def misfit(value: object, node: TypeNode, types: Types, run: Run) -> str:
    """Which part of a value keeps it from having a type; nothing where that is the whole value."""
    match node:
        case NamedType(name) if name in types.meanings:
            return _misfit_of_named(value, name, types, run)
        case feel_syntax.ContextType(members) if is_context(value):
            missing = next((name for name, _ in members if name not in value), None)
            if missing is not None:
                return f"the member '{missing}' is missing"
            parts = [(f"the member '{name}'", value[name], kind) for name, kind in members]
        case feel_syntax.ListType(item) if type(value) is list:
            parts = [(f"item {place}", one, item) for place, one in enumerate(cast("list[object]", value), 1)]
        case _:
            return ""
    for what, part, kind in parts:
        found = feel(part)
        if found is not None and not conforms(found, kind, types.meanings, run):
            why = misfit(found, kind, types, run)
            wanted = _title(kind, types)
            return f"{what} is a {kind_of(found)} that does not fit the type {wanted}" + (f": {why}" if why else "")
    return ""


def _title(node: TypeNode, types: Types) -> str:
    """A type for people; the type of a component with constraints of its own has no name that they know."""
    shape = types.shapes.get(node.name) if isinstance(node, NamedType) and "/" in node.name else None
    return type_text(node if shape is None or callable(shape) else shape)


def _misfit_of_named(value: object, name: str, types: Types, run: Run) -> str:
    meaning, shape = types.meanings[name], types.shapes.get(name)
    if not callable(meaning):
        return misfit(value, meaning, types, run)
    if shape is None or callable(shape):
        return ""
    if not conforms(value, shape, types.meanings, run):
        return misfit(value, shape, types, run)
    allowed = types.allowed_texts.get(name)
    return f"it is none of the allowed values {allowed:.200}" if allowed else "its constraint does not hold"


def constrained(
    node: TypeNode, allowed: UnaryTests | None, constraint: UnaryTests | None, types: Mapping[str, TypeMeaning]
) -> TypeMeaning:
    """A type whose values pass tests as well; `allowed` holds for each item of a list, `constraint` for the whole."""
    if allowed is None and constraint is None:
        return node

    def is_allowed(value: object, run: Run) -> bool:
        if not conforms(value, node, types, run):
            return False
        if constraint is not None and not _passes(constraint, value, run):
            return False
        if allowed is None:
            return True
        items: list[object] = [value]
        if isinstance(node, feel_syntax.ListType):
            items = cast("list[object]", value)
        return all(_passes(allowed, item, run) for item in items)

    return is_allowed


def _passes(tests: UnaryTests, value: object, run: Run) -> bool:
    """Whether a value passes tests that see nothing else. Why it does not is no warning: that it does not is one."""
    warnings, run.warnings = run.warnings, None
    run.spend(1 + tests.turns)
    try:
        value = feel(value)
        return tests.passes(Frame(run, {}, value, None), value) is True
    except Invalid:
        return False
    finally:
        run.warnings = warnings
