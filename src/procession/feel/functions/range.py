"""Built-in functions on ranges and points: before, meets, overlaps and their relatives (table 78 of the specification).

Each takes ranges or points of one ordered type. A range written as a comparison, such as (< 10), has no other end.
"""

from procession.feel.functions.registry import builtin
from procession.feel.problems import Invalid
from procession.feel.ranges import Range
from procession.feel.run import Run
from procession.feel.values import contains as in_range
from procession.feel.values import equal, kind_of, order


def _order(left: object, right: object) -> int:
    sign = order(left, right)
    if sign is None:
        raise Invalid(f"cannot compare a {kind_of(left)} with a {kind_of(right)}")
    return sign


def _holds(value: object, test: Range, run: Run) -> bool:
    found = in_range(test, value, run)
    if found is None:
        raise Invalid(f"cannot compare a {kind_of(value)} with the ends of the range")
    return found


def _same(left: object, right: object) -> bool:
    return _order(left, right) == 0


@builtin("before(point1: any, point2: any)", "before(point: any, range: any)", "before(range: any, point: any)")
@builtin("before(range1: any, range2: any)")
def before(first: object, second: object) -> bool:
    match first, second:
        case Range(), Range():
            sign = _order(first.high, second.low)
            return sign < 0 or (sign == 0 and not (first.high_included and second.low_included))
        case Range(), _:
            sign = _order(first.high, second)
            return sign < 0 or (sign == 0 and not first.high_included)
        case _, Range():
            sign = _order(first, second.low)
            return sign < 0 or (sign == 0 and not second.low_included)
        case _:
            return _order(first, second) < 0


@builtin("after(point1: any, point2: any)", "after(point: any, range: any)", "after(range: any, point: any)")
@builtin("after(range1: any, range2: any)")
def after(first: object, second: object) -> bool:
    return before(second, first)


@builtin("meets(range1: range, range2: range)")
def meets(first: Range, second: Range) -> bool:
    return first.high_included and second.low_included and _same(first.high, second.low)


@builtin("met by(range1: range, range2: range)")
def met_by(first: Range, second: Range) -> bool:
    return meets(second, first)


@builtin("overlaps(range1: range, range2: range)")
def overlaps(first: Range, second: Range) -> bool:
    return not before(first, second) and not before(second, first)


@builtin("overlaps before(range1: range, range2: range)")
def overlaps_before(first: Range, second: Range) -> bool:
    """It starts earlier and ends inside the other one."""
    starts = _order(first.low, second.low)
    ends = _order(first.high, second.high)
    earlier = starts < 0 or (starts == 0 and first.low_included and not second.low_included)
    not_later = ends < 0 or (ends == 0 and (not first.high_included or second.high_included))
    return earlier and not_later and not before(first, second)


@builtin("overlaps after(range1: range, range2: range)")
def overlaps_after(first: Range, second: Range) -> bool:
    """It starts inside the other one, later than that, and does not end earlier."""
    starts = _order(first.low, second.low)
    ends = _order(first.high, second.high)
    later = starts > 0 or (starts == 0 and second.low_included and not first.low_included)
    not_earlier = ends > 0 or (ends == 0 and (first.high_included or not second.high_included))
    return later and not_earlier and not before(second, first)


@builtin("finishes(point: any, range: range)", "finishes(range1: range, range2: range)")
def finishes(first: object, second: Range) -> bool:
    if not isinstance(first, Range):
        return second.high_included and _same(first, second.high)
    return first.high_included == second.high_included and _same(first.high, second.high) and _starts_in(first, second)


@builtin("finished by(range: range, point: any)", "finished by(range1: range, range2: range)")
def finished_by(first: Range, second: object) -> bool:
    return finishes(second, first)


@builtin("starts(point: any, range: range)", "starts(range1: range, range2: range)")
def starts(first: object, second: Range) -> bool:
    if not isinstance(first, Range):
        return second.low_included and _same(first, second.low)
    return first.low_included == second.low_included and _same(first.low, second.low) and _ends_in(first, second)


@builtin("started by(range: range, point: any)", "started by(range1: range, range2: range)")
def started_by(first: Range, second: object) -> bool:
    return starts(second, first)


@builtin("includes(range: range, point: any)", "includes(range1: range, range2: range)")
def includes(run: Run, outer: Range, inner: object) -> bool:
    if isinstance(inner, Range):
        return _starts_in(inner, outer) and _ends_in(inner, outer)
    return _holds(inner, outer, run)


@builtin("during(point: any, range: range)", "during(range1: range, range2: range)")
def during(run: Run, inner: object, outer: Range) -> bool:
    return includes(run, outer, inner)


@builtin("coincides(point1: any, point2: any)", "coincides(range1: range, range2: range)")
def coincides(run: Run, first: object, second: object) -> bool:
    if isinstance(first, Range) is not isinstance(second, Range):
        raise Invalid("a range and a point cannot coincide")
    found = equal(first, second, run)
    if found is None or first is None or second is None:
        raise Invalid(f"cannot compare a {kind_of(first)} with a {kind_of(second)}")
    return found


def _starts_in(inner: Range, outer: Range) -> bool:
    """Whether nothing of the inner range lies before the outer one."""
    sign = _order(inner.low, outer.low)
    return sign > 0 or (sign == 0 and (outer.low_included or not inner.low_included))


def _ends_in(inner: Range, outer: Range) -> bool:
    """Whether nothing of the inner range lies after the outer one."""
    sign = _order(inner.high, outer.high)
    return sign < 0 or (sign == 0 and (outer.high_included or not inner.high_included))
