"""The built-in functions: their names, the parameters of each form, and how arguments are fitted to them.

A form is written as in the specification, "substring(string: string, start position: number, length?: number)":
`?` after a name makes the parameter optional, `?` after a type lets null in, `...` before a name takes all the rest.
An argument that does not fit refuses the call (Invalid); a list of one item fits where its item does, and any value
fits where a list is wanted.
"""

import inspect
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple, cast

from procession.feel.limits import ITEMS_PER_TURN
from procession.feel.problems import Invalid
from procession.feel.ranges import Range
from procession.feel.run import Function, Run, turns_of
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.values import feel, is_context, kind_of

_NONE: Final = type(None)
_SIZED: Final = frozenset({str, list, dict})
_KINDS: Final[dict[str, frozenset[type]]] = {
    "number": frozenset({int, Decimal}),
    "string": frozenset({str}),
    "boolean": frozenset({bool}),
    "date": frozenset({Date}),
    "time": frozenset({Time}),
    "date and time": frozenset({DateTime}),
    "days and time duration": frozenset({DaysDuration}),
    "years and months duration": frozenset({MonthsDuration}),
    "range": frozenset({Range}),
    "function": frozenset({Function}),
}


class Unfit(Invalid):
    """An argument does not fit a form; another form may take it."""


class Parameter(NamedTuple):
    """A parameter and what fits it."""

    name: str
    types: str  # as written, for messages
    kinds: frozenset[type]
    any: bool
    context: bool
    list: bool
    nullable: bool
    optional: bool


class Form(NamedTuple):
    """One way to call a function. `rest` is the parameter that takes all further arguments."""

    parameters: tuple[Parameter, ...]
    required: int
    rest: Parameter | None
    function: Callable[..., object]
    with_run: bool

    def takes(self, count: int) -> bool:
        """Whether the form can be called with so many arguments."""
        return self.required <= count and (self.rest is not None or count <= len(self.parameters))

    def call(self, run: Run, arguments: Sequence[object]) -> object:
        """The result. Raises Invalid for an argument that does not fit."""
        parameters, rest = self.parameters, self.rest
        fitted: list[object] = []
        for index, argument in enumerate(arguments):
            parameter = parameters[index] if index < len(parameters) else cast("Parameter", rest)
            fitted.append(argument if type(argument) in parameter.kinds else _fit(argument, parameter))
        return self.function(run, *fitted) if self.with_run else self.function(*fitted)


def _fit(argument: object, parameter: Parameter) -> object:
    if argument is None:
        if parameter.nullable:
            return None
    elif parameter.any or (parameter.context and is_context(argument)):
        return argument
    elif parameter.list:
        return cast("object", argument) if type(argument) is list else [argument]
    elif type(argument) is list and len(cast("list[object]", argument)) == 1:
        only = feel(cast("list[object]", argument)[0])
        if type(only) in parameter.kinds or (parameter.context and is_context(only)):
            return only
    raise Unfit(
        f"the parameter {parameter.name!r} must be a {parameter.types}, found {kind_of(cast('object', argument))}"
    )


# Where the argument of each parameter stands among the arguments given.
Places = list[int | None]


class Builtin:
    """A function and its forms, in the order in which they are tried.

    `forgives` says that its first argument may be null without a warning.
    """

    __slots__ = ("forgives", "forms", "name", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.forgives = False
        self.forms: list[Form] = []
        self.value = Function(name, None, self._invoke, self._invoke_named)

    def _invoke(self, arguments: Sequence[object], run: Run) -> object:
        return self.call(run, arguments, self.forms_for(len(arguments)))

    def _invoke_named(self, names: Sequence[str], arguments: Sequence[object], run: Run) -> object:
        return self.call_named(run, names, arguments, self.named(names))

    def call_named(
        self, run: Run, names: Sequence[str], arguments: Sequence[object], forms: "list[tuple[Form, Places]]"
    ) -> object:
        """The result of the first form that the named arguments fit. Raises Invalid where none does."""
        problem: Unfit | None = None
        for form, places in forms:
            last = max((index for index, place in enumerate(places) if place is not None), default=-1)
            given = [None if place is None else arguments[place] for place in places[: last + 1]]
            try:
                return self.call(run, given, [form])
            except Unfit as found:
                problem = problem or found
        raise problem or Invalid(f"{self.name} has no parameters {', '.join(names)}; {self.usage()}")

    def forms_for(self, count: int) -> list[Form]:
        """The forms that can be called with so many arguments."""
        return [form for form in self.forms if form.takes(count)]

    def call(self, run: Run, arguments: Sequence[object], forms: Sequence[Form]) -> object:
        """The result of the first form that the arguments fit. Raises Unfit where none does."""
        run.spend(1 + len(arguments) // ITEMS_PER_TURN + turns_of(arguments))
        problem: Unfit | None = None
        for form in forms:
            try:
                result = form.call(run, arguments)
            except Unfit as found:
                problem = problem or found
            except Invalid as found:
                raise Invalid(f"{self.name}: {found.message}", found.code) from None
            else:
                if type(result) in _SIZED:
                    run.spend(turns_of((result,)))
                return result
        if problem is None:
            raise Unfit(f"{self.name}: no form takes {len(arguments)} arguments; {self.usage()}")
        raise Unfit(f"{self.name}: {problem.message}")

    def named(self, names: Sequence[str]) -> "list[tuple[Form, Places]]":
        """The forms that have these parameters, each with the place of every parameter among the names."""
        found: list[tuple[Form, Places]] = []
        given = {name: place for place, name in enumerate(names)}
        for form in self.forms:
            parameters = [*form.parameters, form.rest] if form.rest else list(form.parameters)
            places = [given.get(parameter.name) for parameter in parameters]
            known = len(given) == len(names) and given.keys() <= {parameter.name for parameter in parameters}
            if known and None not in places[: form.required]:
                found.append((form, places))
        return found

    def usage(self) -> str:
        """The forms as one may write them, for messages."""
        return " or ".join(
            f"{self.name}({', '.join(parameter.name for parameter in form.parameters)})" for form in self.forms
        )


BUILTINS: Final[dict[str, Builtin]] = {}

Implementation = Callable[..., Any]


def builtin(*signatures: str) -> Callable[[Implementation], Implementation]:
    """Register a function under one or more forms. A first parameter called `run` gets the evaluation's state."""

    def register(function: Implementation) -> Implementation:
        with_run = next(iter(inspect.signature(function).parameters), "") == "run"
        for signature in signatures:
            name, form = _parse(signature, function, with_run=with_run)
            BUILTINS.setdefault(name, Builtin(name)).forms.append(form)
        return function

    return register


def _parse(signature: str, function: Implementation, *, with_run: bool) -> tuple[str, Form]:
    name, _, inside = signature.removesuffix(")").partition("(")
    parameters: list[Parameter] = []
    rest: Parameter | None = None
    for part in filter(None, (part.strip() for part in inside.split(","))):
        parameter = _parameter(part.removeprefix("..."))
        if part.startswith("..."):
            rest = parameter
        else:
            parameters.append(parameter)
    required = sum(not parameter.optional for parameter in parameters)
    return name, Form(tuple(parameters), required, rest, function, with_run)


def _parameter(text: str) -> Parameter:
    name, _, types = (part.strip() for part in text.partition(":"))
    nullable = types.endswith("?")
    types = types.removesuffix("?")
    alternatives = types.split(" or ")
    kinds = frozenset[type]().union(*(_KINDS.get(kind, frozenset()) for kind in alternatives))
    if nullable:
        kinds |= {_NONE}
    return Parameter(
        name=name.removesuffix("?"),
        types=types,
        kinds=kinds,
        any="any" in alternatives,
        context="context" in alternatives,
        list="list" in alternatives,
        nullable=nullable or "any" in alternatives,
        optional=name.endswith("?"),
    )
