"""FEEL, the expression language of DMN 1.3 to 1.5, with Camunda's extension functions.

    from procession.feel import compile

    condition = compile('orderTotal > 1000 and customer.tier in ["gold", "platinum"]')
    condition.evaluate({"orderTotal": 1200, "customer": {"tier": "gold"}})     # True

An expression is compiled once to closures and evaluated often. Evaluation never raises: what has no meaning is null
(None), and `warnings` says why and where. The room is pure: it reads no clock, no file but the time zone database,
and no attribute of the objects it is given.
"""

from procession.feel import camunda as _camunda  # registers Camunda's functions, after those of the standard
from procession.feel import functions as _functions  # registers the built-in functions
from procession.feel.convert import from_json, to_json, to_python
from procession.feel.expression import Expression, UnaryTests, compile_unary_tests
from procession.feel.expression import compile_expression as compile  # noqa: A004 - the name of what it does, as in re
from procession.feel.flaws import flaws
from procession.feel.problems import FeelSyntaxError, FeelWarning
from procession.feel.ranges import Range
from procession.feel.run import Function
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.text import feel_text as text_of

__all__ = [
    "Date",
    "DateTime",
    "DaysDuration",
    "Expression",
    "FeelSyntaxError",
    "FeelWarning",
    "Function",
    "MonthsDuration",
    "Range",
    "Time",
    "UnaryTests",
    "compile",
    "compile_unary_tests",
    "flaws",
    "from_json",
    "text_of",
    "to_json",
    "to_python",
]

assert _functions
assert _camunda
