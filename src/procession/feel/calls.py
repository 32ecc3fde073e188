"""Closures for calls and function definitions.

A called name means, in this order: a local function, a variable of the context that holds a function, a built-in
function. So a variable called `date` does not hide the function `date`.
"""

from collections.abc import Callable, Sequence
from typing import cast

from procession.feel import scope as scopes
from procession.feel import syntax
from procession.feel.access import compile_name
from procession.feel.build import Build
from procession.feel.functions.registry import BUILTINS, Builtin
from procession.feel.problems import Invalid
from procession.feel.run import Closure, Frame, Function, Run, Spot
from procession.feel.scope import Scope
from procession.feel.types import conforms
from procession.feel.values import feel, kind_of


def compile_call(build: Build, node: syntax.Call, scope: Scope | None) -> Closure:
    """``function(arguments)``."""
    arguments = _arguments(build, node, scope)
    spot = build.spot(node.at)
    if isinstance(node.function, syntax.Name):
        name = node.function.name
        builtin = BUILTINS.get(name)
        if builtin is not None:
            return _call_of_builtin(build, builtin, node, arguments, scope)
    function = build.node(node.function, scope)
    if isinstance(node.function, syntax.Name):
        function = _silent(function)  # that there is no such function says more than that there is no such variable
    invoke = _invocation(node, arguments, spot)

    def call(frame: Frame) -> object:
        value = function(frame)
        if type(value) is not Function:
            return _no_function(node, value, frame.run, spot)
        return invoke(frame, value)

    return call


def _arguments(build: Build, node: syntax.Call, scope: Scope | None) -> tuple[Closure, ...]:
    arguments = tuple(build.node(argument, scope) for argument in node.arguments)
    builtin = BUILTINS.get(node.function.name) if isinstance(node.function, syntax.Name) else None
    if builtin is None or not builtin.forgives or not arguments:
        return arguments
    asked = node.names.index("value") if "value" in node.names else 0
    return tuple(_silent(argument) if place == asked else argument for place, argument in enumerate(arguments))


def _silent(argument: Closure) -> Closure:
    """Without the warnings that tell why it is null: the caller asks just that, or says more."""

    def read(frame: Frame) -> object:
        warnings = frame.run.warnings
        frame.run.warnings = None
        try:
            return argument(frame)
        finally:
            frame.run.warnings = warnings

    return read


def _no_function(node: syntax.Call, value: object, run: Run, spot: Spot) -> None:
    what = f"There is no function {node.function.name!r}" if isinstance(node.function, syntax.Name) else ""
    run.warn("no-function", what or f"A {kind_of(value)} cannot be called", spot)


def _invocation(node: syntax.Call, arguments: tuple[Closure, ...], spot: Spot) -> Callable[[Frame, Function], object]:
    names = node.names

    def invoke(frame: Frame, function: Function) -> object:
        values = [argument(frame) for argument in arguments]
        try:
            result = function.invoke_named(names, values, frame.run) if names else function.invoke(values, frame.run)
        except Invalid as problem:
            return frame.run.warn(problem.code, problem.message, spot)
        return feel(result)

    return invoke


def _call_of_builtin(
    build: Build, builtin: Builtin, node: syntax.Call, arguments: tuple[Closure, ...], scope: Scope | None
) -> Closure:
    """Straight to the built-in function, unless a name in scope might hold another function."""
    name, spot = builtin.name, build.spot(node.at)
    direct = _named(builtin, node, arguments, spot) if node.names else _positional(builtin, arguments, spot)
    if not scopes.find(scope, name) and name not in build.declared:
        return direct
    variable, invoke = compile_name(build, syntax.Name(name, node.at), scope), _invocation(node, arguments, spot)

    def call(frame: Frame) -> object:
        value = variable(frame)
        return invoke(frame, value) if type(value) is Function and value is not builtin.value else direct(frame)

    return call


def _positional(builtin: Builtin, arguments: tuple[Closure, ...], spot: Spot) -> Closure:
    forms = builtin.forms_for(len(arguments))

    def call(frame: Frame) -> object:
        try:
            return builtin.call(frame.run, [argument(frame) for argument in arguments], forms)
        except Invalid as problem:
            return frame.run.warn(problem.code, problem.message, spot)

    return call


def _named(builtin: Builtin, node: syntax.Call, arguments: tuple[Closure, ...], spot: Spot) -> Closure:
    names, forms = node.names, builtin.named(node.names)

    def call(frame: Frame) -> object:
        values = [argument(frame) for argument in arguments]
        try:
            return builtin.call_named(frame.run, names, values, forms)
        except Invalid as problem:
            return frame.run.warn(problem.code, problem.message, spot)

    return call


def compile_function(build: Build, node: syntax.FunctionDefinition, scope: Scope | None) -> Closure:
    """A function value that keeps the frame it was made in."""
    spot = build.spot(node.at)
    if node.external:
        message = "A function with an external (Java or PMML) body cannot be called here"
        return lambda frame: frame.run.warn("no-function", message, spot)
    names = tuple(parameter.name for parameter in node.parameters)
    body, cost = build.body(node.body, scopes.many(frozenset(names), scope))
    accepts = _acceptance(build, node.parameters)

    def make(frame: Frame) -> object:
        def call(arguments: Sequence[object], run: Run) -> object:
            run.spend(cost)
            accepted = [accepts(index, value, run) for index, value in enumerate(arguments)]
            return body(Frame(run, frame.context, dict(zip(names, accepted, strict=True)), frame))

        return Function("", names, call)

    return make


def _acceptance(build: Build, parameters: tuple[syntax.Parameter, ...]) -> Callable[[int, object, Run], object]:
    """Checks an argument against the type of its parameter. Raises Invalid."""
    types = build.types

    def accept(index: int, value: object, run: Run) -> object:
        parameter = parameters[index]
        if parameter.type is None or value is None or conforms(value, parameter.type, types, run):
            return value
        if type(value) is list and len(cast("list[object]", value)) == 1:
            only = feel(cast("list[object]", value)[0])
            if conforms(only, parameter.type, types, run):
                return only
        listed: list[object] = [cast("object", value)]
        if isinstance(parameter.type, syntax.ListType) and conforms(listed, parameter.type, types, run):
            return listed
        raise Invalid(f"The argument {parameter.name!r} does not have the type of its parameter", "invalid-type")

    return accept
