"""Scopes of variables: what is visible, where a result goes, input and output mappings. Camunda 8's rules.

A result goes up to the nearest scope that already holds the name, otherwise to the instance. With output mappings the
result stays local and only what they name goes up. Input mappings write local variables in listed order, so that a
later one sees an earlier one. A target ``a.b`` of an input makes a new local object ``a``; of an output it merges only
that leaf into the ``a`` that is there.
"""

from __future__ import annotations

from typing import Any, cast

from procession.core import events as e
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind, State
from procession.core.step import Step
from procession.feel import to_json
from procession.model.definition import IoMapping

FAILURES = frozenset({"assertion", "limit"})  # warnings of an expression that make a mapping fail; others give null
_PLAIN = frozenset({str, int, bool, float, type(None)})


def visible_variables(state: State, key: int) -> dict[str, Any]:
    """A copy of the variables visible at an element instance, the nearest scope winning. Raises KeyError."""
    chain: list[dict[str, Any]] = []
    while key != state.root:
        node = state.nodes[key]
        if node.variables:
            chain.append(node.variables)
        key = node.scope
    merged = dict(state.variables)
    for variables in reversed(chain):
        merged.update(variables)
    return merged


def plain(
    value: Any,  # noqa: ANN401 - any FEEL value
    what: str = "value of an expression",
    kind: IncidentKind = IncidentKind.EXTRACT_VALUE_ERROR,
) -> Any:  # noqa: ANN401 - any JSON value
    """A FEEL value as it is stored: numbers, text, lists and objects; temporal values as ISO 8601 text.

    Raises Problem for what has no JSON, a function for example.
    """
    if type(value) in _PLAIN:
        return value
    try:
        return to_json(value)
    except ValueError as error:
        raise Problem(kind, f"The {what} cannot be kept: {error}") from None


def write(step: Step, scope: int, values: dict[str, Any]) -> None:
    """Set variables in exactly this scope."""
    if not values:
        return
    if step.definition.has_conditions:
        state = step.state
        known = state.variables if scope == state.root else state.nodes[scope].variables or {}
        step.changed.update({(scope, name): "update" if name in known else "create" for name in values})
    step.emit(e.VariablesSet(scope, values))


def propagate(step: Step, key: int, values: dict[str, Any]) -> None:
    """Set each variable in the nearest scope from here upwards that holds it, otherwise in the instance."""
    if not values:
        return
    state = step.state
    root = state.root
    nodes = state.nodes
    groups: dict[int, dict[str, Any]] = {}
    for name, value in values.items():
        scope = key
        while scope != root:
            node = nodes[scope]
            if node.variables is not None and name in node.variables:
                break
            scope = node.scope
        groups.setdefault(scope, {})[name] = value
    for scope, group in groups.items():
        write(step, scope, group)


def map_inputs(step: Step, node: ElementInstance, mappings: tuple[IoMapping, ...]) -> None:
    """Evaluate input mappings into local variables, in order. A missing source gives null and a warning event.

    Raises Problem when one fails.
    """
    context = dict(step.context(node.key))
    local: dict[str, Any] = {}
    for mapping in mappings:
        value = mapped_value(step, mapping, context)
        _warn(step, node, mapping)
        name = mapping.target[0]
        if len(mapping.target) > 1:
            value = merged(local.get(name), mapping.target[1:], value)
        local[name] = context[name] = value
    write(step, node.key, local)


def map_outputs(step: Step, node: ElementInstance, mappings: tuple[IoMapping, ...]) -> None:
    """Evaluate output mappings on the local scope and merge the targets upwards, in order. Raises Problem."""
    context = dict(step.context(node.key))
    scope = node.scope
    results: dict[str, Any] = {}
    for mapping in mappings:
        value = mapped_value(step, mapping, context)
        _warn(step, node, mapping)
        name = mapping.target[0]
        if len(mapping.target) > 1:
            there = results[name] if name in results else step.context(scope).get(name)
            value = merged(there, mapping.target[1:], value)
        results[name] = value
        context[name] = value
    propagate(step, scope, results)


def mapped_value(step: Step, mapping: IoMapping, context: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    """The value of a mapping. Raises Problem when it cannot be kept."""
    value = step.evaluate(mapping.source, context)
    if type(value) in _PLAIN:
        return value
    return plain(value, f"value of the mapping to '{'.'.join(mapping.target)}'", IncidentKind.IO_MAPPING_ERROR)


def merged(into: object, path: tuple[str, ...], value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """A copy of an object with one leaf set; objects on the way are made, whatever else stood there is replaced."""
    result = dict(cast("dict[str, Any]", into)) if isinstance(into, dict) else {}
    result[path[0]] = value if len(path) == 1 else merged(result.get(path[0]), path[1:], value)
    return result


def whole_number(value: object, least: int, most: int) -> int | None:
    """A value as a whole number within bounds; None where it is not one."""
    try:
        number = int(str(value)) if isinstance(value, str) else int(cast("Any", value))
        exact = number == float(cast("Any", value))
    except (TypeError, ValueError, OverflowError):
        return None
    return number if exact and least <= number <= most and not isinstance(value, bool) else None


def _warn(step: Step, node: ElementInstance, mapping: IoMapping) -> None:
    """Keep an expression's warnings. Raises Problem where it failed: an assertion, a limit, strictness."""
    if not step.warnings:
        return
    failed = step.strict or any(getattr(warning, "code", "") in FAILURES for warning in step.warnings)
    text = step.take_warnings()
    if failed:
        where = step.elements[node.element]
        target = ".".join(mapping.target)
        message = f"The mapping to '{target}' of '{where.id}' (line {where.line}) failed: {text}"
        raise Problem(IncidentKind.IO_MAPPING_ERROR, message)
    step.emit(e.Warned(node.key, node.element, text))
