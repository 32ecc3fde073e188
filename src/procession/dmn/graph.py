"""The elements of a decision requirement graph, compiled: what they need, and how they are evaluated.

Everything is made once per resource and shared by all evaluations. What a decision requires may lie in an imported
model: its value then stands in a context named like the import.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, cast

from procession.dmn.run import Boxed, DecisionRun, Place, Variables
from procession.dmn.trace import ElementKind, EvaluatedDecision, EvaluatedInput
from procession.dmn.types import Coercion
from procession.feel import Date, DateTime, DaysDuration, Function, MonthsDuration, Time
from procession.feel.problems import Invalid
from procession.feel.run import NOWHERE, Run
from procession.feel.syntax import NamedType, TypeNode
from procession.feel.temporal_text import parse_temporal
from procession.feel.values import feel, is_context

Context = Mapping[str, object]


class InputData:
    """A value that comes from outside."""

    __slots__ = ("coercion", "id", "name", "place", "type")

    def __init__(
        self,
        identity: str,
        name: str,
        place: Place,
        type_node: TypeNode | None,
        coercion: Coercion | None,
    ) -> None:
        self.id = identity
        self.name = name
        self.place = place
        self.type = type_node
        self.coercion = coercion

    def read(self, run: DecisionRun, context: Context, imports: Sequence[str]) -> object:
        """Its value: within the contexts named like the imports that lead to its model, else by its name alone."""
        found = _within(context, imports)
        if found is None or self.name not in found:
            found = context
        if self.name not in found:
            run.at = self.place
            return run.warn("no-variable", f"There is no value for the input data '{self.name}'", NOWHERE)
        return self.accept(run, feel(found[self.name]))

    def accept(self, run: DecisionRun, value: object) -> object:
        """A value as one of its type, or null with a warning."""
        if self.coercion is None or value is None:
            return value
        run.at = self.place
        if type(value) is str and isinstance(self.type, NamedType):
            value = _of_text(value, self.type.name)
        return self.coercion(run, value, self.place, f"The value of the input data '{self.name}'")


def _within(context: Context, imports: Sequence[str]) -> Context | None:
    found = context
    for name in imports:
        inner = found.get(name)
        if not is_context(inner):
            return None
        found = inner
    return found


_WRITTEN_AS_TEXT: Final[dict[str, type]] = {
    "date": Date,
    "time": Time,
    "date and time": DateTime,
    "dateTime": DateTime,
    "days and time duration": DaysDuration,
    "dayTimeDuration": DaysDuration,
    "years and months duration": MonthsDuration,
    "yearMonthDuration": MonthsDuration,
}


def _of_text(text: str, type_name: str) -> object:
    """JSON has no dates: a text where a date is wanted, and which reads as one, is one."""
    kind = _WRITTEN_AS_TEXT.get(type_name)
    if kind is None:
        return text
    try:
        value = parse_temporal(text)
    except Invalid:
        return text
    return value if type(value) in (kind, Date) else text


class RequiredInput(NamedTuple):
    """`prefix` is the name of the import that the input lies in; empty for the model's own."""

    prefix: str
    input: InputData


class RequiredDecision(NamedTuple):
    """`aliases` are further names of the decision's value in modelers of other engines."""

    prefix: str
    decision: Decision
    aliases: tuple[str, ...] = ()


class Logic(NamedTuple):
    """The compiled logic of a decision. `outputs` and `lists` describe the result of a decision table."""

    kind: ElementKind
    boxed: Boxed
    coercion: Coercion | None
    outputs: tuple[str, ...] = ()
    lists: bool = False


class Decision:
    """A decision: its `name` is for people, `variable` is the name that its value has for other decisions."""

    __slots__ = ("_order", "id", "inputs", "knowledge", "logic", "name", "place", "requires", "variable")

    def __init__(
        self,
        identity: str,
        name: str,
        variable: str,
        place: Place,
        inputs: tuple[RequiredInput, ...],
        requires: tuple[RequiredDecision, ...],
        knowledge: Variables,
        logic: Logic,
    ) -> None:
        self.id = identity
        self.name = name
        self.variable = variable
        self.place = place
        self.inputs = inputs
        self.requires = requires
        self.knowledge = knowledge
        self.logic = logic
        self._order: Order | None = None

    @property
    def order(self) -> Order:
        """Every decision that it needs, in an order of evaluation, itself the last."""
        if self._order is None:
            self._order = order_of([RequiredDecision("", self)])
        return self._order

    def decide(self, run: DecisionRun, context: Context, imports: tuple[str, ...], results: Results) -> object:
        """Its value, given those of the decisions that it requires; the run keeps how it came about."""
        read = [need.input.read(run, context, _further(imports, need.prefix)) for need in self.inputs]
        variables = self._variables(context, read, results)
        run.spend()
        before, run.tables, run.at = run.tables, [], self.place
        value = self.logic.boxed(run, variables)
        if self.logic.coercion is not None:
            value = self.logic.coercion(run, value, self.place, f"The result of the decision '{self.name}'")
        run.keep_decision(
            EvaluatedDecision(
                id=self.id,
                name=self.name,
                kind=self.logic.kind,
                inputs=self._evaluated_inputs(read, results),
                tables=tuple(run.tables),
                result=value,
            )
        )
        run.tables = before
        return value

    def _evaluated_inputs(self, read: list[object], results: Results) -> tuple[EvaluatedInput, ...]:
        inputs = [
            EvaluatedInput(need.input.id, need.input.name, value) for need, value in zip(self.inputs, read, strict=True)
        ]
        inputs += [
            EvaluatedInput(need.decision.id, need.decision.variable, results[need.decision]) for need in self.requires
        ]
        return tuple(inputs)

    def _variables(self, context: Context, read: list[object], results: Results) -> Variables:
        variables: Variables = {**context, **self.knowledge}
        for need, value in zip(self.inputs, read, strict=True):
            put(variables, need.prefix, need.input.name, value)
        for required in self.requires:
            value = results[required.decision]
            for alias in required.aliases:
                variables.setdefault(alias, required.decision.output(value, alias))
            put(variables, required.prefix, required.decision.variable, value)
        return variables

    def output(self, value: object, name: str) -> object:
        """One output of its result where the name is that of an output, else the result."""
        if name not in self.logic.outputs or len(self.logic.outputs) < 2:
            return value
        if is_context(value):
            return feel(value.get(name))
        if isinstance(value, list):
            return [row.get(name) for row in cast("list[object]", value) if is_context(row)]
        return value


# Decisions in an order of evaluation, each with the names of the imports that lead to its model.
Order = tuple[tuple[Decision, tuple[str, ...]], ...]

# The values of the decisions that were evaluated so far.
Results = dict[Decision, object]


def put(variables: Variables, prefix: str, name: str, value: object) -> None:
    """Make a value visible: of an imported model in a context named like the import, beside what is there."""
    if not prefix:
        variables[name] = value
        return
    held = variables.get(prefix)
    variables[prefix] = {**held, name: value} if is_context(held) else {name: value}


def order_of(wanted: Iterable[RequiredDecision], given: Collection[Decision] = ()) -> Order:
    """Every decision that is needed, those required first; what is given needs nothing."""
    order: dict[Decision, tuple[str, ...]] = {}
    stack = [(need.decision, _further((), need.prefix), False) for need in reversed(list(wanted))]
    while stack:
        decision, imports, is_ready = stack.pop()
        if decision in order or decision in given:
            continue
        if is_ready:
            order[decision] = imports
            continue
        stack.append((decision, imports, True))
        stack.extend((need.decision, _further(imports, need.prefix), False) for need in reversed(decision.requires))
    return tuple(order.items())


def _further(imports: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    return (*imports, prefix) if prefix else imports


class Service:
    """A decision service: decisions that are evaluated together over inputs given by name.

    What its decisions require and it does not take as input is evaluated within; they see nothing else.
    """

    __slots__ = (
        "_order",
        "coercion",
        "decisions",
        "id",
        "inputs",
        "name",
        "outputs",
        "parameters",
        "place",
        "variable",
    )

    def __init__(
        self,
        identity: str,
        name: str,
        variable: str,
        place: Place,
        parameters: tuple[str, ...],
        coercion: Coercion | None,
    ) -> None:
        self.id = identity
        self.name = name
        self.variable = variable
        self.place = place
        self.parameters = parameters
        self.coercion = coercion
        self.inputs: tuple[RequiredInput, ...] = ()
        self.decisions: tuple[RequiredDecision, ...] = ()  # those whose values are given
        self.outputs: tuple[RequiredDecision, ...] = ()
        self._order: Order | None = None

    def function(self) -> Function:
        """The service as a function that expressions call."""
        return Function(self.name, self.parameters, self._call)

    def _call(self, arguments: Sequence[object], run: Run) -> object:
        assert isinstance(run, DecisionRun), "services are called within decisions"
        before = run.at
        try:
            values = self._accepted(arguments, run)
            for name, given, value in zip(self.parameters, arguments, values, strict=True):
                if given is not None and value is None:
                    raise Invalid(f"The argument '{name}' does not have the type of its parameter", "invalid-type")
            return self._evaluate(run, values)
        finally:
            run.at = before

    def evaluate(self, run: DecisionRun, context: Context) -> object:
        """The value of the service over inputs by name; the values of input decisions count as inputs."""
        arguments: list[object] = []
        for name in self.parameters:
            if name not in context:
                run.at = self.place
                run.warn("no-variable", f"There is no value for the input '{name}'", NOWHERE)
            arguments.append(feel(context.get(name)))
        return self._evaluate(run, self._accepted(arguments, run))

    def _accepted(self, arguments: Sequence[object], run: DecisionRun) -> list[object]:
        count = len(self.inputs)
        values = [
            need.input.accept(run, feel(value)) for need, value in zip(self.inputs, arguments[:count], strict=True)
        ]
        for need, value in zip(self.decisions, arguments[count:], strict=True):
            coercion, what = need.decision.logic.coercion, f"The value of the decision '{need.decision.name}'"
            values.append(feel(value) if coercion is None else coercion(run, feel(value), self.place, what))
        return values

    def _evaluate(self, run: DecisionRun, values: list[object]) -> object:
        count = len(self.inputs)
        context: Variables = {}
        for need, value in zip(self.inputs, values[:count], strict=True):
            put(context, need.prefix, need.input.name, value)
        results: Results = {need.decision: value for need, value in zip(self.decisions, values[count:], strict=True)}
        if self._order is None:
            self._order = order_of(self.outputs, frozenset(results))
        for decision, imports in self._order:
            results[decision] = decision.decide(run, context, imports, results)
        outputs = {need.decision.variable: results[need.decision] for need in self.outputs}
        result: object = next(iter(outputs.values())) if len(outputs) == 1 else outputs
        if self.coercion is None:
            return result
        return self.coercion(run, result, self.place, f"The result of the decision service '{self.name}'")


class Knowledge:
    """A business knowledge model: a function, and its name for those that require it."""

    __slots__ = ("function", "id", "name", "variable")

    def __init__(self, identity: str, name: str, variable: str, function: Function) -> None:
        self.id = identity
        self.name = name
        self.variable = variable
        self.function = function
