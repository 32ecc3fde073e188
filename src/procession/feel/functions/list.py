"""Built-in functions on lists. Positions count from 1, or from the end with -1."""

from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal
from functools import cmp_to_key
from itertools import chain
from typing import Final, cast

from procession.feel import arithmetic
from procession.feel.functions.registry import builtin
from procession.feel.limits import LIST_ITEMS_MAX
from procession.feel.numbers import DECIMAL128, Number, add, as_int_if_whole, is_number, normal, whole
from procession.feel.problems import Invalid, LimitReached
from procession.feel.run import Function, Run
from procession.feel.values import deeper, equal, feel, identity, kind_of, order

Items = list[object]


def rest_or_list(first: object, rest: tuple[object, ...]) -> Items:
    """The items of f(list) as well as of f(a, b, c)."""
    if not rest:
        return cast("Items", first) if type(first) is list else [first]
    return [first, *rest]


def bounded(items: Items) -> Items:
    """Raises LimitReached for a list that is too long."""
    if len(items) > LIST_ITEMS_MAX:
        raise LimitReached("LIST_ITEMS_MAX", LIST_ITEMS_MAX)
    return items


@builtin("list contains(list: list, element: any)")
def list_contains(run: Run, items: Items, element: object) -> bool:
    return any(equal(feel(item), element, run) is True for item in items)


@builtin("count(list: list)", "count(first: any, second: any, ...rest: any)")
def count(first: object, *rest: object) -> int:
    return len(rest_or_list(first, rest))


@builtin("min(list: list)", "min(first: any, second: any, ...rest: any)")
def minimum(first: object, *rest: object) -> object:
    return _extreme(rest_or_list(first, rest), lambda sign: sign < 0)


@builtin("max(list: list)", "max(first: any, second: any, ...rest: any)")
def maximum(first: object, *rest: object) -> object:
    return _extreme(rest_or_list(first, rest), lambda sign: sign > 0)


def _extreme(items: Items, better: Callable[[int], bool]) -> object:
    best: object = None
    for index, item in enumerate(map(feel, items)):
        if index == 0:
            best = item
            if order(item, item) is None:
                raise Invalid(f"a {kind_of(item)} has no order")
            continue
        sign = order(item, best)
        if sign is None:
            raise Invalid(f"cannot compare a {kind_of(item)} with a {kind_of(best)}")
        if better(sign):
            best = item
    return best


@builtin("sum(list: list)", "sum(first: any, second: any, ...rest: any)")
def total(first: object, *rest: object) -> object:
    """Of numbers or of durations; null for no items at all."""
    items = list(map(feel, rest_or_list(first, rest)))
    if not items:
        return None
    if set(map(type, items)) <= {int, Decimal}:
        return _sum(cast("list[Number]", items))
    result = items[0]
    if order(result, result) is None or kind_of(result) not in _SUMMABLE:
        raise Invalid(f"the items must be numbers or durations, found a {kind_of(result)}")
    for item in items[1:]:
        result = arithmetic.add(result, item)
    return result


_SUMMABLE: Final = frozenset({"number", "days and time duration", "years and months duration"})


def numbers_of(items: Items) -> list[Number]:
    """Raises Invalid where an item is no number."""
    numbers: list[Number] = []
    for item in map(feel, items):
        if not is_number(item):
            raise Invalid(f"all items must be numbers, found a {kind_of(item)}")
        numbers.append(cast("Number", item))
    return numbers


def _sum(numbers: Iterable[Number]) -> Number:
    """Ints are added as they are, which is exact; whatever else there is, in the order of the list."""
    result: Number = 0
    for number in numbers:
        if type(number) is int and type(result) is int:
            result += number
        else:
            result = add(normal(result) if type(result) is int else result, number)
    return normal(result) if type(result) is int else result


@builtin("product(list: list)", "product(first: any, second: any, ...rest: any)")
def product(first: object, *rest: object) -> Number:
    numbers = _some_numbers(first, rest)
    result: Number = 1
    for number in numbers:
        result = cast("Number", arithmetic.multiply(result, number))
    return result


def _some_numbers(first: object, rest: tuple[object, ...]) -> list[Number]:
    numbers = numbers_of(rest_or_list(first, rest))
    if not numbers:
        raise Invalid("the list is empty")
    return numbers


@builtin("mean(list: list)", "mean(first: any, second: any, ...rest: any)")
def mean(first: object, *rest: object) -> object:
    numbers = _some_numbers(first, rest)
    return arithmetic.divide(_sum(numbers), len(numbers))


@builtin("median(list: list)", "median(first: any, second: any, ...rest: any)")
def median(first: object, *rest: object) -> object:
    numbers = sorted(numbers_of(rest_or_list(first, rest)))
    if not numbers:
        return None
    middle = len(numbers) // 2
    if len(numbers) % 2:
        return numbers[middle]
    return arithmetic.divide(arithmetic.add(numbers[middle - 1], numbers[middle]), 2)


@builtin("stddev(list: list)", "stddev(first: any, second: any, ...rest: any)")
def standard_deviation(first: object, *rest: object) -> Number:
    """Of a sample: divided by one less than the number of items."""
    numbers = numbers_of(rest_or_list(first, rest))
    if len(numbers) < 2:
        raise Invalid("at least two numbers are needed")
    average = Decimal(cast("Number", arithmetic.divide(_sum(numbers), len(numbers))))
    squares = Decimal(0)
    for number in numbers:
        difference = DECIMAL128.subtract(Decimal(number), average)
        squares = DECIMAL128.add(squares, DECIMAL128.multiply(difference, difference))
    return as_int_if_whole(DECIMAL128.sqrt(DECIMAL128.divide(squares, Decimal(len(numbers) - 1))))


@builtin("mode(list: list)", "mode(first: any, second: any, ...rest: any)")
def mode(first: object, *rest: object) -> list[Number]:
    """The most frequent numbers, in ascending order."""
    counts: dict[Number, int] = {}
    for number in numbers_of(rest_or_list(first, rest)):
        counts[number] = counts.get(number, 0) + 1
    most = max(counts.values(), default=0)
    return sorted(number for number, times in counts.items() if times == most)


@builtin("all(list: list)", "all(first: any, second: any, ...rest: any)")
def all_of(first: object, *rest: object) -> bool | None:
    return _quantify(rest_or_list(first, rest), winning=False)


@builtin("any(list: list)", "any(first: any, second: any, ...rest: any)")
def any_of(first: object, *rest: object) -> bool | None:
    return _quantify(rest_or_list(first, rest), winning=True)


def _quantify(items: Items, *, winning: bool) -> bool | None:
    result: bool | None = not winning
    for item in map(feel, items):
        if item is winning:
            return winning
        if item is None:
            result = None
        elif item is not (not winning):
            raise Invalid(f"all items must be booleans, found a {kind_of(item)}")
    return result


@builtin("sublist(list: list, start position: number, length?: number)")
def sublist(items: Items, start_position: Number, length: Number | None = None) -> Items:
    first = _index(items, start_position)
    if length is None:
        return items[first:]
    end = first + whole(length)
    if length < 1 or end > len(items):
        raise Invalid(f"the length must lie between 1 and {len(items) - first}, found {length}")
    return items[first:end]


def _index(items: Items, position: Number, beyond: int = 0) -> int:
    place = whole(position)
    if not place or place > len(items) + beyond or -place > len(items):
        raise Invalid(f"the position must lie in the list of {len(items)} items, found {place}")
    return place - 1 if place > 0 else len(items) + place


@builtin("append(list: list, ...item: any)")
def append(items: Items, *more: object) -> Items:
    return bounded([*items, *more])


@builtin("concatenate(list: list, ...lists: list)")
def concatenate(*lists: Items) -> Items:
    return bounded(list(chain.from_iterable(lists)))


@builtin("insert before(list: list, position: number, newItem: any)")
def insert_before(items: Items, position: Number, item: object) -> Items:
    place = _index(items, position)
    return bounded([*items[:place], item, *items[place:]])


@builtin("remove(list: list, position: number)")
def remove(items: Items, position: Number) -> Items:
    place = _index(items, position)
    return [*items[:place], *items[place + 1 :]]


@builtin("list replace(list: list, position: number, newItem: any)")
def replace_at(items: Items, position: Number, item: object) -> Items:
    place = _index(items, position)
    return [*items[:place], item, *items[place + 1 :]]


@builtin("list replace(list: list, match: function, newItem: any)")
def replace_matching(run: Run, items: Items, match: Function, new_item: object) -> Items:
    result: Items = []
    for item in map(feel, items):
        answer = match.invoke([item, new_item], run)
        if not isinstance(answer, bool):
            raise Invalid(f"the match function must answer with a boolean, found a {kind_of(answer)}")
        result.append(new_item if answer else item)
    return result


@builtin("reverse(list: list)")
def reverse(items: Items) -> Items:
    return items[::-1]


@builtin("index of(list: list, match: any)")
def index_of(run: Run, items: Items, match: object) -> list[int]:
    return [place for place, item in enumerate(items, 1) if equal(feel(item), match, run) is True]


@builtin("union(list: list, ...lists: list)")
def union(run: Run, *lists: Items) -> Items:
    return distinct(chain.from_iterable(lists), run)


@builtin("distinct values(list: list)")
def distinct_values(run: Run, items: Items) -> Items:
    return distinct(items, run)


def distinct(items: Iterable[object], run: Run) -> Items:
    """Without repetitions, in the order of first appearance."""
    found: dict[Hashable, object] = {}
    for item in map(feel, items):
        found.setdefault(identity(item, run), item)
    return bounded(list(found.values()))


@builtin("flatten(list: list)")
def flatten(run: Run, items: Items) -> Items:
    result: Items = []
    _flatten(items, result, 0, run)
    return result


def _flatten(items: Items, result: Items, depth: int, run: Run) -> None:
    depth = deeper(depth)
    run.spend()
    for item in map(feel, items):
        if type(item) is list:
            _flatten(cast("Items", item), result, depth, run)
        else:
            result.append(item)
    bounded(result)


@builtin("sort(list: list, precedes?: function)")
def sort(run: Run, items: Items, precedes: Function | None = None) -> Items:
    """By a function that says whether its first argument comes before its second; else by the order of the values."""
    values = list(map(feel, items))
    run.spend(len(values) // 2)  # to sort costs more than to look at each
    if precedes is None:
        return sorted(values, key=cmp_to_key(_natural_order))
    goes_first = precedes

    def compare(left: object, right: object) -> int:
        if goes_first.invoke([left, right], run) is True:
            return -1
        return 1 if goes_first.invoke([right, left], run) is True else 0

    return sorted(values, key=cmp_to_key(compare))


def _natural_order(left: object, right: object) -> int:
    sign = order(left, right)
    if sign is None:
        raise Invalid(f"cannot compare a {kind_of(left)} with a {kind_of(right)}")
    return sign
