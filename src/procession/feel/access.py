"""Reading: names, members, items of lists. Closures for Name, Path and Filter."""

from typing import Final, cast

from procession.feel import scope as scopes
from procession.feel import syntax
from procession.feel.build import Build
from procession.feel.calendar import weekday
from procession.feel.functions.registry import BUILTINS
from procession.feel.limits import ITEMS_COPIED_PER_TURN
from procession.feel.numbers import is_number, whole
from procession.feel.problems import Invalid
from procession.feel.ranges import Range
from procession.feel.run import Closure, Frame, Run, Spot
from procession.feel.scope import Found, Scope
from procession.feel.temporal import Date, DateTime, DaysDuration, MonthsDuration, Time
from procession.feel.values import DIRECT, feel, is_context, kind_of

_MISSING: Final = object()

PARTIAL: Final = "partial"


def compile_name(build: Build, node: syntax.Name, scope: Scope | None) -> Closure:
    """A local name by its distance, any other from the context handed to the evaluation."""
    found = scopes.find(scope, node.name)
    closure = _ends_here
    if not found or found[-1].layout == "item":
        closure = global_name(build, node.name, build.spot(node.at))
    for place in reversed(found):
        closure = _local_name(node.name, place, closure)
    return closure


def _ends_here(_frame: Frame) -> object:
    raise AssertionError("a local name is read where it is declared")


def global_name(build: Build, name: str, spot: Spot) -> Closure:
    """Read from the context handed to the evaluation; what is not there may be a function."""

    def read(frame: Frame) -> object:
        try:
            value = frame.context[name]
        except (KeyError, TypeError):
            return _elsewhere(frame.run, name, spot)
        if type(value) in DIRECT:
            return value
        converted = feel(value)
        if converted is None:
            frame.run.warn("invalid-type", f"The variable {name!r} holds no value that FEEL knows", spot)
        return converted

    build.names.add(name)
    return read


def _elsewhere(run: Run, name: str, spot: Spot) -> object:
    """A function handed to the evaluation, or a built-in function as a value."""
    if run.functions is not None and name in run.functions:
        return run.functions[name]
    builtin = BUILTINS.get(name)
    if builtin is not None:
        return builtin.value
    return run.warn("no-variable", f"There is no variable {name!r}", spot)


def _local_name(name: str, found: Found, otherwise: Closure) -> Closure:
    depth = found.depth
    match found.layout:
        case "one":
            return _so_far(depth) if name == PARTIAL else _value_at(depth)
        case "many":
            return lambda frame: cast("dict[str, object]", scopes.up(frame, depth).value).get(name)
        case "item":
            return _member_of_item(name, depth, otherwise)


def _value_at(depth: int) -> Closure:
    if depth == 0:
        return lambda frame: frame.value
    if depth == 1:
        return lambda frame: cast("Frame", frame.parent).value
    return lambda frame: scopes.up(frame, depth).value


def _so_far(depth: int) -> Closure:
    """The results of a loop up to here: a list of its own, for the loop goes on and might put it into itself."""

    def read(frame: Frame) -> object:
        found = scopes.up(frame, depth).value
        if type(found) is not list:
            return found  # an iterator that is called partial
        items = cast("list[object]", found)
        frame.run.spend(len(items) // ITEMS_COPIED_PER_TURN)
        return items.copy()

    return read


def _member_of_item(name: str, depth: int, otherwise: Closure) -> Closure:
    def read(frame: Frame) -> object:
        value = scopes.up(frame, depth).value
        if is_context(value):
            member = value.get(name, _MISSING)
            if member is not _MISSING:
                return feel(member)
        return value if name == "item" else otherwise(frame)

    return read


def compile_path(build: Build, node: syntax.Path, scope: Scope | None) -> Closure:
    """``base.name``."""
    base, name, spot = build.node(node.base, scope), node.name, build.spot(node.at)

    def read(frame: Frame) -> object:
        value = base(frame)
        if type(value) is dict:
            found = cast("dict[str, object]", value).get(name, _MISSING)
            if found is not _MISSING:
                return found if type(found) in DIRECT else feel(found)
        return member(cast("object", value), name, frame.run, spot)

    return read


def member(value: object, name: str, run: Run, spot: Spot) -> object:
    """A context's member, a temporal value's or range's property; of a list, the list of its items' members."""
    if type(value) is list:
        items = cast("list[object]", value)
        run.spend(len(items))
        return [member(feel(one), name, run, spot) for one in items]
    if is_context(value):
        found = value.get(name, _MISSING)
        if found is _MISSING:
            return run.warn("no-member", f"The context has no member {name!r}", spot)
        return feel(found)
    found = property_of(value, name)
    if found is _MISSING:
        return run.warn("no-member", f"A value of type {kind_of(value)} has no member {name!r}", spot)
    return found


def property_of(value: object, name: str) -> object:
    """The properties that the specification gives to temporal values and ranges."""
    match value:
        case Date():
            return _date_property(value, name)
        case Time():
            return _time_property(value, name, value.offset_seconds)
        case DateTime():
            found = _date_property(value.date, name)
            return _time_property(value.time, name, value.offset_seconds) if found is _MISSING else found
        case MonthsDuration():
            return _months_property(value.months, name)
        case DaysDuration():
            return _days_property(value.nanoseconds, name)
        case Range():
            return _range_property(value, name)
        case _:
            return _MISSING


def _date_property(value: Date, name: str) -> object:
    match name:
        case "year":
            return value.year
        case "month":
            return value.month
        case "day":
            return value.day
        case "weekday":
            return weekday(value.days)
        case _:
            return _MISSING


def _time_property(value: Time, name: str, offset: int | None) -> object:
    match name:
        case "hour":
            return value.hour
        case "minute":
            return value.minute
        case "second":
            return value.second
        case "time offset":
            return None if offset is None else DaysDuration(offset * 1_000_000_000)
        case "timezone":
            return value.zone
        case _:
            return _MISSING


def _months_property(months: int, name: str) -> object:
    if name not in ("years", "months"):
        return _MISSING
    amount = abs(months) // 12 if name == "years" else abs(months) % 12
    return -amount if months < 0 else amount


def _days_property(nanoseconds: int, name: str) -> object:
    seconds = abs(nanoseconds) // 1_000_000_000
    match name:
        case "days":
            amount = seconds // 86_400
        case "hours":
            amount = seconds // 3600 % 24
        case "minutes":
            amount = seconds // 60 % 60
        case "seconds":
            amount = seconds % 60
        case _:
            return _MISSING
    return -amount if nanoseconds < 0 else amount


def _range_property(value: Range, name: str) -> object:
    match name:
        case "start":
            return value.low
        case "end":
            return value.high
        case "start included":
            return value.low_included
        case "end included":
            return value.high_included
        case _:
            return _MISSING


def compile_filter(build: Build, node: syntax.Filter, scope: Scope | None) -> Closure:
    """list[condition] keeps items, list[number] picks one, counted from 1 or from the end with -1."""
    base, spot = _base_of_filter(build, node.base, scope), build.spot(node.at)
    index = _literal_index(node.condition)
    if index is not None:
        return _literal_index_closure(base, index, spot)
    condition, cost = build.body(node.condition, scopes.item(scope))

    def select(frame: Frame) -> object:
        value = base(frame)
        if value is None:
            return frame.run.warn("invalid-type", "A filter was applied to null", spot)
        items = cast("list[object]", value) if type(value) is list else [value]
        return _selected(items, condition, frame, spot, cost)

    return select


def _base_of_filter(build: Build, node: syntax.Node, scope: Scope | None) -> Closure:
    """What a filter reads it does not keep, so that `partial[-1]` need not copy the list."""
    if isinstance(node, syntax.Name) and node.name == PARTIAL:
        found = scopes.find(scope, PARTIAL)
        if len(found) == 1 and found[0].layout == "one":
            return _value_at(found[0].depth)
    return build.node(node, scope)


def _literal_index(node: syntax.Node) -> int | None:
    if isinstance(node, syntax.Negation):
        inner = _literal_index(node.operand)
        return None if inner is None else -inner
    if isinstance(node, syntax.Constant) and is_number(node.value):
        return whole(cast("int", node.value))
    return None


def _literal_index_closure(base: Closure, index: int, spot: Spot) -> Closure:
    def pick(frame: Frame) -> object:
        value = base(frame)
        if value is None:
            return frame.run.warn("invalid-type", "An index was applied to null", spot)
        return _item_at(cast("list[object]", value) if type(value) is list else [value], index, frame.run, spot)

    return pick


def _item_at(items: list[object], index: int, run: Run, spot: Spot) -> object:
    if not index or abs(index) > len(items):
        return run.warn("no-member", f"The list has {len(items)} items, none at position {index}", spot)
    return feel(items[index - 1 if index > 0 else index])


def _selected(items: list[object], condition: Closure, frame: Frame, spot: Spot, cost: int) -> object:
    run, context = frame.run, frame.context
    if not items:
        return _selected_of_none(condition, frame, spot)
    chosen: list[object] = []
    for raw in items:
        run.spend(cost)
        keep = condition(Frame(run, context, feel(raw), frame))
        if keep is True:
            chosen.append(raw)
        elif is_number(keep):
            # A number is an index. It does not depend on the item, so the first item's answer is the answer.
            return _item_at(items, whole(cast("int", keep)), run, spot)
        elif keep is not False and keep is not None:
            run.warn("invalid-type", f"A filter's condition is a {kind_of(keep)}, not a boolean", spot)
    return chosen


def _selected_of_none(condition: Closure, frame: Frame, spot: Spot) -> object:
    """Of an empty list nothing, unless the condition is an index; what it says of an item that is not there is void."""
    run = frame.run
    warnings, run.warnings = run.warnings, None
    try:
        keep = condition(Frame(run, frame.context, None, frame))
    finally:
        run.warnings = warnings
    return _item_at([], whole(cast("int", keep)), run, spot) if is_number(keep) else list[object]()


def require_list(value: object) -> list[object]:
    """A list as it is, any other value but null as a list of one."""
    if type(value) is list:
        return cast("list[object]", value)
    if value is None:
        raise Invalid("Expected a list, found null", "invalid-type")
    return [value]
