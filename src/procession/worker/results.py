"""From what a handler returns to variables: objects become their fields, a single value gets a name, None nothing."""

from __future__ import annotations

from typing import Any, cast

from procession.engine import plain_variables
from procession.engine.values import plain_value

RESULT = "result"  # the variable of a single value where the model names none


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
