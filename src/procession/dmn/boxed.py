"""Boxed expressions: contexts, lists, relations, conditionals, loops, filters, invocations and functions.

Every kind is one function from its element and the names in scope to a closure. Decision tables stand in `table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, cast

from procession.dmn.build import Build, Names, nothing, typed
from procession.dmn.run import Boxed, DecisionRun, Place, Variables
from procession.dmn.table_reader import compile_table
from procession.dmn.types import Coercion
from procession.feel import Function
from procession.feel.limits import ITEMS_COPIED_PER_TURN
from procession.feel.loops import values_to_iterate
from procession.feel.problems import Invalid
from procession.feel.run import NOWHERE, Run
from procession.feel.values import feel, is_context, kind_of
from procession.model.xml import Xml


def find_logic(parent: Xml) -> Xml | None:
    """The boxed expression that an element holds."""
    for child in parent.children:
        if child.name in _KINDS and child.space == "":
            return child
    return None


def compile_boxed(build: Build, element: Xml, names: Names) -> Boxed:
    """The closure of a boxed expression, with its declared type."""
    boxed = _KINDS[element.name](build, element, names)
    if element.name == "functionDefinition":
        return boxed  # its type is that of its result
    return typed(boxed, build.coercion(element), build.place(element), "The expression's value")


def compile_child(build: Build, parent: Xml | None, names: Names, what: str) -> Boxed:
    """The closure of the expression within an element; a problem where there is none."""
    logic = None if parent is None else find_logic(parent)
    if parent is None or logic is None:
        return nothing
    boxed = compile_boxed(build, logic, names)
    return typed(boxed, build.coercion(parent), build.place(parent), what)


def _required(build: Build, parent: Xml, name: str, names: Names) -> Boxed:
    child = parent.first(name)
    if child is None or find_logic(child) is None:
        build.findings.error("NO_EXPRESSION", f"The boxed {parent.name} has no expression under '{name}'", parent)
    return compile_child(build, child, names, f"The value of '{name}'")


def _context(build: Build, element: Xml, names: Names) -> Boxed:
    """Entries see those before them; an entry without a name is the result."""
    entries: list[tuple[str, Boxed]] = []
    visible = names
    for entry in element.every("contextEntry"):
        variable = entry.first("variable")
        name = "" if variable is None else normal_name(variable.get("name"))
        logic = find_logic(entry)
        is_function = logic is not None and logic.name == "functionDefinition"
        inner = visible | {name} if name and is_function else visible
        boxed = compile_child(build, entry, inner, "The entry's value")
        coercion = None if is_function else build.coercion(variable)
        entries.append((name, typed(boxed, coercion, build.place(entry), f"The entry '{name}'")))
        visible = visible | {name} if name else visible

    def context(run: DecisionRun, variables: Variables) -> object:
        run.spend(len(entries))
        scope = dict(variables)
        result: dict[str, object] = {}
        for name, value in entries:
            found = value(run, scope)
            if not name:
                return found
            scope[name] = result[name] = found
        return result

    return context


def _list(build: Build, element: Xml, names: Names) -> Boxed:
    items = [compile_boxed(build, child, names) for child in element.children if child.name in _KINDS]

    def make(run: DecisionRun, variables: Variables) -> object:
        run.spend(len(items))
        return [item(run, variables) for item in items]

    return make


def _relation(build: Build, element: Xml, names: Names) -> Boxed:
    """A list of contexts, one per row."""
    columns = list(element.every("column"))
    titles = [normal_name(column.get("name")) for column in columns]
    coercions = [build.coercion(column) for column in columns]
    rows: list[list[tuple[str, Boxed]]] = []
    for row in element.every("row"):
        cells = [child for child in row.children if child.name in _KINDS]
        if len(cells) != len(columns):
            message = f"The row has {len(cells)} expressions, but the relation has {len(columns)} columns"
            build.findings.error("WRONG_NUMBER_OF_CELLS", message, row)
        rows.append(
            [
                (title, typed(compile_boxed(build, cell, names), coercion, build.place(cell), f"The cell '{title}'"))
                for title, cell, coercion in zip(titles, cells, coercions, strict=False)
            ]
        )

    def make(run: DecisionRun, variables: Variables) -> object:
        run.spend(len(rows) * len(columns))
        return [{title: cell(run, variables) for title, cell in row} for row in rows]

    return make


def _conditional(build: Build, element: Xml, names: Names) -> Boxed:
    condition, then, otherwise = (_required(build, element, name, names) for name in ("if", "then", "else"))
    place = build.place(element)

    def choose(run: DecisionRun, variables: Variables) -> object:
        value = condition(run, variables)
        if value is None or isinstance(value, bool):
            return (then if value else otherwise)(run, variables)
        run.at = place
        return run.warn("invalid-type", f"The condition is a {kind_of(value)}, not a boolean", NOWHERE)

    return choose


def _filter(build: Build, element: Xml, names: Names) -> Boxed:
    """The items that match; names are members of the item first."""
    source = _required(build, element, "in", names)
    match = _required(build, element, "match", names | {"item"})
    place = build.place(element)

    def select(run: DecisionRun, variables: Variables) -> object:
        value = source(run, variables)
        if value is None:
            run.at = place
            return run.warn("invalid-type", "A filter was applied to null", NOWHERE)
        items = cast("list[object]", value) if type(value) is list else [value]
        run.spend(len(items))
        chosen: list[object] = []
        for item in map(feel, items):
            keep = match(run, {**variables, **item, "item": item} if is_context(item) else {**variables, "item": item})
            if keep is True:
                chosen.append(item)
            elif keep is not False and keep is not None:
                run.at = place
                return run.warn("invalid-type", f"The filter's condition is a {kind_of(keep)}, no boolean", NOWHERE)
        return chosen

    return select


def _turns(build: Build, element: Xml, names: Names) -> Callable[[DecisionRun, Variables], Iterator[Variables]]:
    """The variables of every turn of a loop. Raises Invalid where there is nothing to iterate over."""
    source = _required(build, element, "in", names)
    name = normal_name(element.get("iteratorVariable"))
    if not name:
        build.findings.error("NO_NAME", f"The boxed {element.name} has no iterator variable", element)

    def turns(run: DecisionRun, variables: Variables) -> Iterator[Variables]:
        for value in values_to_iterate(source(run, variables)):
            run.spend()
            yield {**variables, name: value}

    return turns


def _for(build: Build, element: Xml, names: Names) -> Boxed:
    """The results of all turns; `partial` is the list of those of the turns before."""
    turns, place = _turns(build, element, names), build.place(element)
    visible = names | {normal_name(element.get("iteratorVariable")), "partial"}
    body = _required(build, element, "return", visible)
    reads_partial = any("partial" in inner.text for inner in element.walk())

    def loop(run: DecisionRun, variables: Variables) -> object:
        results: list[object] = []
        try:
            for turn in turns(run, variables):
                if reads_partial:
                    run.spend(len(results) // ITEMS_COPIED_PER_TURN)
                    turn["partial"] = results.copy()  # the loop goes on; it must not put the list into itself
                results.append(body(run, turn))
        except Invalid as problem:
            run.at = place
            return run.note(problem)
        return results

    return loop


def _quantified(build: Build, element: Xml, names: Names) -> Boxed:
    """`some` and `every`, three-valued; a condition that is no boolean makes the whole null."""
    turns, place = _turns(build, element, names), build.place(element)
    condition = _required(build, element, "satisfies", names | {normal_name(element.get("iteratorVariable"))})
    winning = element.name == "some"

    def quantify(run: DecisionRun, variables: Variables) -> object:
        result: bool | None = not winning
        try:
            for turn in turns(run, variables):
                value = condition(run, turn)
                if value is winning:
                    return winning
                if value is None:
                    result = None
                elif not isinstance(value, bool):
                    run.at = place
                    return run.warn("invalid-type", f"The condition is a {kind_of(value)}, not a boolean", NOWHERE)
        except Invalid as problem:
            run.at = place
            return run.note(problem)
        return result

    return quantify


def _invocation(build: Build, element: Xml, names: Names) -> Boxed:
    """A function called with its arguments by name."""
    logic = find_logic(element)
    if logic is None:
        build.findings.error("NO_EXPRESSION", "The invocation does not say what it calls", element)
        return nothing
    called, place = compile_boxed(build, logic, names), build.place(element)
    bindings = [_binding(build, binding, names) for binding in element.every("binding")]
    parameters = [name for name, _ in bindings]

    def invoke(run: DecisionRun, variables: Variables) -> object:
        function = called(run, variables)
        if type(function) is not Function:
            run.at = place
            return run.warn("no-function", f"A {kind_of(function)} cannot be invoked", NOWHERE)
        arguments = [argument(run, variables) for _, argument in bindings]
        run.at = place
        try:
            return feel(function.invoke_named(parameters, arguments, run))
        except Invalid as problem:
            run.at = place
            return run.note(problem)

    return invoke


def _binding(build: Build, element: Xml, names: Names) -> tuple[str, Boxed]:
    parameter = element.first("parameter")
    name = "" if parameter is None else normal_name(parameter.get("name"))
    if not name:
        build.findings.error("NO_NAME", "The binding does not name a parameter", element)
    argument = compile_child(build, element, names, f"The argument '{name}'")
    return name, typed(argument, build.coercion(parameter), build.place(element), f"The argument '{name}'")


def _function(build: Build, element: Xml, names: Names) -> Boxed:
    """A function value that keeps the variables it was made with."""
    make = compile_function(build, element, names, "")
    return lambda _run, variables: make(variables)


def compile_function(
    build: Build, element: Xml, names: Names, name: str, result: Coercion | None = None
) -> Callable[[Mapping[str, object]], Function]:
    """What makes a function from the variables it sees: of a boxed function or a business knowledge model."""
    parameters = [(normal_name(p.get("name")), build.coercion(p)) for p in element.every("formalParameter")]
    titles = tuple(title for title, _ in parameters)
    place = build.place(element)
    if len(set(titles)) != len(titles) or "" in titles:
        build.findings.error("BAD_PARAMETERS", "The function's parameters need different names", element)
    kind = element.get("kind", "FEEL")
    if kind.upper() not in ("FEEL", "F"):
        build.findings.warning(
            "EXTERNAL_FUNCTION", f"The function's kind is {kind}; calls of it give null", element, "Write it in FEEL"
        )
        return _external(kind, titles, place)
    body = compile_child(build, element, names | set(titles), "The function's result")

    def make(variables: Mapping[str, object]) -> Function:
        def call(arguments: Sequence[object], run: Run) -> object:
            assert isinstance(run, DecisionRun), "functions of a model are called within decisions"
            before = run.at
            try:
                values = {**variables, **_accepted(parameters, arguments, run, place)}
                value = body(run, values)
                return value if result is None else result(run, value, place, "The function's result")
            finally:
                run.at = before

        return Function(name, titles, call)

    return make


def _external(kind: str, titles: tuple[str, ...], place: Place) -> Callable[[Mapping[str, object]], Function]:
    def call(_arguments: Sequence[object], run: Run) -> object:
        assert isinstance(run, DecisionRun), "functions of a model are called within decisions"
        raise Invalid(f"A function of kind {kind} cannot be called (line {place.line})", "no-function")

    return lambda _variables: Function("", titles, call)


def _accepted(
    parameters: list[tuple[str, Coercion | None]], arguments: Sequence[object], run: DecisionRun, place: Place
) -> Variables:
    """The arguments by name, each of the type of its parameter. Raises Invalid: the body is not evaluated then."""
    values: Variables = {}
    for (name, coercion), argument in zip(parameters, arguments, strict=True):
        value = feel(argument)
        if coercion is not None and value is not None:
            value = coercion(run, value, place, f"The argument '{name}'")
            if value is None:
                raise Invalid(f"The argument '{name}' does not have the type of its parameter", "invalid-type")
        values[name] = value
    return values


def normal_name(name: str) -> str:
    """White space inside a name counts as one space."""
    return " ".join(name.split())


_KINDS: Final[dict[str, Callable[[Build, Xml, Names], Boxed]]] = {
    "literalExpression": Build.literal,
    "decisionTable": compile_table,
    "context": _context,
    "list": _list,
    "relation": _relation,
    "conditional": _conditional,
    "filter": _filter,
    "for": _for,
    "some": _quantified,
    "every": _quantified,
    "invocation": _invocation,
    "functionDefinition": _function,
}
