"""Closures for lists, contexts, conditions, loops and quantifiers."""

from collections.abc import Callable, Iterator
from typing import cast

from procession.feel import scope as scopes
from procession.feel import syntax
from procession.feel.build import Build
from procession.feel.calendar import date_of_day_number
from procession.feel.limits import LIST_ITEMS_MAX
from procession.feel.numbers import INT_MAX, is_number, whole
from procession.feel.problems import Invalid, LimitReached
from procession.feel.ranges import Range
from procession.feel.run import Closure, Frame
from procession.feel.scope import Scope
from procession.feel.temporal import Date, date
from procession.feel.values import feel, kind_of


def compile_list(build: Build, node: syntax.ListLiteral, scope: Scope | None) -> Closure:
    """``[a, b]``."""
    items = tuple(build.node(item, scope) for item in node.items)
    return lambda frame: [item(frame) for item in items]


def compile_context(build: Build, node: syntax.ContextLiteral, scope: Scope | None) -> Closure:
    """Entries see those before them; a function sees itself too, so that it may call itself."""
    entries: list[tuple[str, Closure]] = []
    seen: set[str] = set()
    for name, value in node.entries:
        visible = {*seen, name} if isinstance(value, syntax.FunctionDefinition) else seen
        entries.append((name, build.node(value, scopes.many(frozenset(visible), scope))))
        seen.add(name)

    def make(frame: Frame) -> object:
        values: dict[str, object] = {}
        inner = Frame(frame.run, frame.context, values, frame)
        for name, value in entries:
            values[name] = value(inner)
        return values

    return make


def compile_if(build: Build, node: syntax.If, scope: Scope | None) -> Closure:
    """``if a then b else c``; what is not true is as good as false."""
    condition, then, otherwise = (build.node(part, scope) for part in (node.condition, node.then, node.otherwise))
    spot = build.spot(node.at)

    def choose(frame: Frame) -> object:
        value = condition(frame)
        if value is True:
            return then(frame)
        if value is not False and value is not None:
            frame.run.warn("invalid-type", f"The condition of if is a {kind_of(value)}, not a boolean", spot)
        return otherwise(frame)

    return choose


Turns = Callable[[Frame], Iterator[Frame]]


def compile_for(build: Build, node: syntax.For, scope: Scope | None) -> Closure:
    """The results of all turns; `partial` is the list of those of the turns before."""
    inner = scopes.one("partial", scope)
    turns, inner = _turns(build, node.iterators, inner)
    (body, cost), spot = build.body(node.body, inner), build.spot(node.at)
    extra = cost - 1  # each turn is paid for as such

    def loop(frame: Frame) -> object:
        results: list[object] = []
        first = Frame(frame.run, frame.context, results, frame)
        try:
            for turn in turns(first):
                frame.run.spend(extra)
                results.append(body(turn))
                if len(results) > LIST_ITEMS_MAX:
                    raise LimitReached("LIST_ITEMS_MAX", LIST_ITEMS_MAX)
        except Invalid as problem:
            return frame.run.warn(problem.code, problem.message, spot)
        return results

    return loop


def compile_quantified(build: Build, node: syntax.Quantified, scope: Scope | None) -> Closure:
    """some: a disjunction over all turns; every: a conjunction. Three-valued like `or` and `and`."""
    turns, inner = _turns(build, node.iterators, scope)
    (condition, cost), spot = build.body(node.condition, inner), build.spot(node.at)
    extra = cost - 1
    winning = node.quantifier == "some"

    def quantify(frame: Frame) -> object:
        result: bool | None = not winning
        try:
            for turn in turns(frame):
                frame.run.spend(extra)
                value = condition(turn)
                if value is winning:
                    return winning
                if value is not (not winning):
                    result = None
        except Invalid as problem:
            return frame.run.warn(problem.code, problem.message, spot)
        return result

    return quantify


def _turns(build: Build, iterators: tuple[syntax.Iterator, ...], scope: Scope | None) -> tuple[Turns, Scope | None]:
    """The frames of all turns of nested iterators, the last one turning fastest."""
    turns: Turns = _once
    for iterator in iterators:
        values = _values_of(build, iterator, scope)
        turns = _nested(turns, values)
        scope = scopes.one(iterator.name, scope)
    return turns, scope


def _once(frame: Frame) -> Iterator[Frame]:
    yield frame


def _nested(outer: Turns, values: Callable[[Frame], Iterator[object]]) -> Turns:
    def turns(frame: Frame) -> Iterator[Frame]:
        run, context = frame.run, frame.context
        for turn in outer(frame):
            for value in values(turn):
                run.spend()
                yield Frame(run, context, value, turn)

    return turns


def _values_of(build: Build, iterator: syntax.Iterator, scope: Scope | None) -> Callable[[Frame], Iterator[object]]:
    source, cost = build.body(iterator.source, scope)
    end, end_cost = (None, 0) if iterator.end is None else build.body(iterator.end, scope)

    def values(frame: Frame) -> Iterator[object]:
        frame.run.spend(cost + end_cost)
        return values_to_iterate(source(frame)) if end is None else _steps(source(frame), end(frame))

    return values


def values_to_iterate(source: object) -> Iterator[object]:
    """The items of a list, the steps of a range, any other value itself. Raises Invalid for null."""
    if type(source) is list:
        return map(feel, cast("list[object]", source))
    if isinstance(source, Range):
        return _steps_of_range(source)
    if source is None:
        raise Invalid("Nothing to iterate over: the source is null", "invalid-type")
    return iter((source,))


def _steps_of_range(source: Range) -> Iterator[object]:
    low, high = source.low, source.high
    steps = list(_bounds(low, high))
    if source.operator is not None or steps[0] > steps[1]:
        raise Invalid("Only a range from a lower to a higher number or date can be iterated over", "invalid-type")
    first = steps[0] + (0 if source.low_included else 1)
    last = steps[1] - (0 if source.high_included else 1)
    return _count(first, last, as_dates=isinstance(low, Date)) if first <= last else iter(())


def _steps(start: object, end: object) -> Iterator[object]:
    first, last = _bounds(start, end)
    return _count(first, last, as_dates=isinstance(start, Date))


def _bounds(start: object, end: object) -> tuple[int, int]:
    if is_number(start) and is_number(end):
        first, last = whole(cast("int", start)), whole(cast("int", end))
        if max(abs(first), abs(last)) >= INT_MAX:
            raise Invalid("Cannot count in numbers of more than 34 digits")
        return first, last
    if isinstance(start, Date) and isinstance(end, Date):
        return start.days, end.days
    raise Invalid(f"Cannot iterate from a {kind_of(start)} to a {kind_of(end)}; use numbers or dates", "invalid-type")


def _count(first: int, last: int, *, as_dates: bool) -> Iterator[object]:
    step = 1 if first <= last else -1
    numbers = range(first, last + step, step)
    return (date(*date_of_day_number(day)) for day in numbers) if as_dates else iter(numbers)
