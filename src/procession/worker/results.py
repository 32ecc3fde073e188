"""From what a handler returns to variables: objects become their fields, a single value gets a name, None nothing."""

from __future__ import annotations

from typing import Any, cast

from procession.engine import MethodCall, Result, plain_variables
from procession.engine.values import plain_value
from procession.errors import InvalidValue
from procession.worker.outcomes import BpmnError, Fail, Outcome

RESULT = "result"  # the variable of a single value where the model names none


def result_of(call: MethodCall, value: object) -> Result:
    """What a method gave; a BPMN error is a result. Raises the other outcomes."""
    if isinstance(value, Outcome) and not isinstance(value, BpmnError):
        raise value
    what = f"result of method '{call.name}'"
    named = call.spec.result_variable if call.spec is not None else ""
    try:
        if isinstance(value, BpmnError):
            return Result(call.name, to_variables(value.variables, what), value.code, value.message)
        return Result(call.name, to_variables(value, what, named))
    except InvalidValue as error:
        raise Fail(str(error)) from error


def to_variables(value: Any, what: str, result_variable: str = "") -> dict[str, Any]:  # noqa: ANN401 - whatever a handler returns
    """The variables that a handler's result means.

    With ``result_variable`` (the model names it) the whole result is that variable. Otherwise an object (dict,
    dataclass, struct, attrs, pydantic model) is variables by name, and anything else the variable ``result``. Raises
    InvalidValue naming the path of what cannot be stored.
    """
    if value is None:
        return {}
    if type(value) is dict and not result_variable:
        return plain_variables(value, what).values
    plain = plain_value(value, what)
    if result_variable:
        return {result_variable: plain}
    return cast("dict[str, Any]", plain) if isinstance(plain, dict) else {RESULT: plain}
