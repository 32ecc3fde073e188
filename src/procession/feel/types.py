"""Whether a value conforms to a type: `instance of`, and the checks of parameters and item definitions.

Null conforms to no type; as a member of a context or an item of a list it is allowed.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, TypeGuard, cast

from procession.feel import syntax
from procession.feel.build import TypeMeaning
from procession.feel.limits import ITEMS_PER_TURN, VALUE_DEPTH_MAX
from procession.feel.problems import LimitReached
from procession.feel.ranges import Range
from procession.feel.run import Function, Run
from procession.feel.syntax import TypeNode
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.values import feel

_SIMPLE: Final[dict[str, frozenset[type]]] = {
    "number": frozenset({int, Decimal}),
    "string": frozenset({str}),
    "boolean": frozenset({bool}),
    "date": frozenset({Date}),
    "time": frozenset({Time}),
    "date and time": frozenset({DateTime}),
    "dateTime": frozenset({DateTime}),
    "days and time duration": frozenset({DaysDuration}),
    "dayTimeDuration": frozenset({DaysDuration}),
    "years and months duration": frozenset({MonthsDuration}),
    "yearMonthDuration": frozenset({MonthsDuration}),
    "list": frozenset({list}),
    "range": frozenset({Range}),
    "function": frozenset({Function}),
}


def conforms(value: object, wanted: TypeNode, types: Mapping[str, TypeMeaning], run: Run, depth: int = 0) -> bool:
    """Whether a value has a type. A name that means nothing is the type of no value."""
    if depth > VALUE_DEPTH_MAX:
        raise LimitReached("VALUE_DEPTH_MAX", VALUE_DEPTH_MAX)
    match wanted:
        case syntax.NamedType(name):
            return _conforms_to_name(value, name, types, run, depth)
        case syntax.ListType(item):
            return _is_list(value, run) and all(_part_conforms(one, item, types, run, depth) for one in value)
        case syntax.RangeType(item):
            return type(value) is Range and _range_conforms(value, item, types, run, depth)
        case syntax.ContextType(members):
            return isinstance(value, Mapping) and all(
                name in value and _part_conforms(cast("object", value[name]), kind, types, run, depth)
                for name, kind in members
            )
        case syntax.FunctionType(parameters, _):
            return type(value) is Function and (
                value.parameters is None or not parameters or len(value.parameters) == len(parameters)
            )


def _is_list(value: object, run: Run) -> TypeGuard[list[object]]:
    if type(value) is not list:
        return False
    run.spend(1 + len(cast("list[object]", value)) // ITEMS_PER_TURN)
    return True


def _conforms_to_name(value: object, name: str, types: Mapping[str, TypeMeaning], run: Run, depth: int) -> bool:
    meaning = types.get(name)
    if meaning is not None:
        return meaning(value, run) if callable(meaning) else conforms(value, meaning, types, run, depth + 1)
    if name == "Any":
        return value is not None
    if name.lower() == "null":
        return value is None
    if name == "context":
        return isinstance(value, Mapping)
    return type(value) in _SIMPLE.get(name, frozenset())


def _part_conforms(value: object, wanted: TypeNode, types: Mapping[str, TypeMeaning], run: Run, depth: int) -> bool:
    part = feel(value)
    return part is None or conforms(part, wanted, types, run, depth + 1)


def _range_conforms(value: Range, wanted: TypeNode, types: Mapping[str, TypeMeaning], run: Run, depth: int) -> bool:
    ends = [end for end in (value.low, value.high) if end is not None]
    return all(conforms(end, wanted, types, run, depth + 1) for end in ends)
