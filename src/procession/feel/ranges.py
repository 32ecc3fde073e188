"""Ranges as values: two ends, each included or not; or one comparison, such as (< 10).

What lies in a range is a matter of order and equality and stands in `values`.
"""

import msgspec

from procession.feel.syntax import ComparisonOperator


class Range(msgspec.Struct, frozen=True, eq=False):
    """`operator` is set for ranges written as a comparison; then only one of the ends counts ("!=" keeps it in low)."""

    low: object
    high: object
    low_included: bool
    high_included: bool
    operator: ComparisonOperator | None = None


def range_of_comparison(operator: ComparisonOperator, value: object) -> Range:
    """The range that (< value) and its like stand for."""
    match operator:
        case "<" | "<=":
            return Range(None, value, low_included=False, high_included=operator == "<=", operator=operator)
        case ">" | ">=":
            return Range(value, None, low_included=operator == ">=", high_included=False, operator=operator)
        case "=" | "!=":
            return Range(value, value, low_included=True, high_included=True, operator=operator)
