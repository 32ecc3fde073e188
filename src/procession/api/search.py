"""Camunda 8's search requests over anything that gives records by key: filter, sort, page. It knows no table.

A source gives its records in the order of their keys. What is asked for in that order can be followed to any depth by
its cursors; another order is made of the first ``SEARCH_MATCHES_MAX`` matches, and the answer says when there are more.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.problems import Problem
from procession.limits import PAGE_MAX, SEARCH_LIMIT_MAX, SEARCH_MATCHES_MAX, SEARCH_ROWS_MAX


class Request(msgspec.Struct, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of what clients send: a property that is misspelt is refused, for a filter without it would mean more."""

    WORDS: ClassVar[Mapping[str, frozenset[str]]] = {}  # properties whose values are one of some words, and these


class Record(msgspec.Struct, kw_only=True, rename="camel"):
    """Base of what clients get."""


F = TypeVar("F", bound=Request)
R = TypeVar("R", bound=Record)

_OPERATORS = {
    "eq": "$eq",
    "neq": "$neq",
    "exists": "$exists",
    "in_": "$in",
    "not_in": "$notIn",
    "like": "$like",
    "gt": "$gt",
    "gte": "$gte",
    "lt": "$lt",
    "lte": "$lte",
}


class TextFilter(msgspec.Struct, kw_only=True, rename=_OPERATORS, forbid_unknown_fields=True):
    """Conditions on a text or a key, all of which have to hold."""

    eq: str | UnsetType = UNSET
    neq: str | UnsetType = UNSET
    exists: bool | UnsetType = UNSET
    in_: list[str] | UnsetType = UNSET
    not_in: list[str] | UnsetType = UNSET
    like: str | UnsetType = UNSET


class NumberFilter(msgspec.Struct, kw_only=True, rename=_OPERATORS, forbid_unknown_fields=True):
    """Conditions on a number."""

    eq: int | UnsetType = UNSET
    neq: int | UnsetType = UNSET
    exists: bool | UnsetType = UNSET
    gt: int | UnsetType = UNSET
    gte: int | UnsetType = UNSET
    lt: int | UnsetType = UNSET
    lte: int | UnsetType = UNSET
    in_: list[int] | UnsetType = UNSET


Instant = Annotated[datetime, Meta(tz=True)]


class DateFilter(msgspec.Struct, kw_only=True, rename=_OPERATORS, forbid_unknown_fields=True):
    """Conditions on an instant."""

    eq: Instant | UnsetType = UNSET
    neq: Instant | UnsetType = UNSET
    exists: bool | UnsetType = UNSET
    gt: Instant | UnsetType = UNSET
    gte: Instant | UnsetType = UNSET
    lt: Instant | UnsetType = UNSET
    lte: Instant | UnsetType = UNSET
    in_: list[Instant] | UnsetType = UNSET


Text = str | TextFilter | UnsetType
Number = int | NumberFilter | UnsetType
Date = Instant | DateFilter | UnsetType
Flag = bool | UnsetType


class Sort(Request):
    """By which property, and which way."""

    field: str
    order: Literal["ASC", "DESC"] = "ASC"


class Page(Request, rename={"from_": "from"}):
    """Which part: from a position, or after or before a cursor."""

    from_: Annotated[int, Meta(ge=0, le=SEARCH_MATCHES_MAX)] = 0
    limit: Annotated[int, Meta(ge=0, le=SEARCH_LIMIT_MAX)] = 100
    after: str | None = None
    before: str | None = None
    # Our own: how many matches are counted at most. What stands in the order of keys is then read only so far.
    count: Annotated[int, Meta(ge=0, le=SEARCH_MATCHES_MAX)] = SEARCH_MATCHES_MAX


class Search(Request, Generic[F]):
    """What a search asks for; an empty body asks for everything."""

    filter: F | None = None
    sort: list[Sort] = []
    page: Page | None = None


class PageInfo(Record):
    """Where a page stands."""

    total_items: int
    has_more_total_items: bool
    start_cursor: str | None
    end_cursor: str | None


class Found(Record, Generic[R]):
    """A page of records."""

    items: list[R]
    page: PageInfo


Test = Callable[[Any, Any], bool]  # (wanted, record)
Specials = Mapping[str, Test]  # properties of a filter that are not simply properties of the record
NOTHING_SPECIAL: Specials = {}


class Rows(NamedTuple):
    """Some records, and where to go on: the last key looked at, 0 when that was all."""

    records: list[Any]
    next_after: int


class Source(NamedTuple):
    """Where records come from: ``fetch(after, limit)`` gives those whose keys come after that one, in their order."""

    fetch: Callable[[int, int], Awaitable[Rows]]
    key: str  # attribute of the record that is its key
    specials: Specials = NOTHING_SPECIAL


def listed(records: list[R], key: str, specials: Specials | None = None) -> Source:
    """A source of records that are at hand, ordered by key."""
    ordered = sorted(records, key=lambda record: int(getattr(record, key)))

    async def fetch(after: int, limit: int) -> Rows:
        del limit
        return Rows([record for record in ordered if int(getattr(record, key)) > after], 0)

    return Source(fetch, key, specials or {})


async def search(query: Search[Any], source: Source, record: type[R]) -> Found[R]:
    """The page that a search asks for. Raises Problem for properties and cursors that are not there."""
    page = query.page or Page()
    if page.after is not None and page.before is not None:
        raise Problem(400, "Expected 'after' or 'before' in a page, found both")
    accepts = acceptor(query.filter, source.specials)
    order = _order(query.sort, record)
    matches, more = await _collect(source, accepts, 0, _most(page, is_sorted=bool(order)))
    if order:
        matches = _sorted(matches, order)
    cursor = page.after or page.before
    if cursor is None:
        items = matches[page.from_ : page.from_ + page.limit]
    elif page.after is not None and not order:
        items, _ = await _collect(source, accepts, _key_of(cursor), page.limit)
    else:
        items = _beside(matches, cursor, source.key, page)
    return Found(
        items=items,
        page=PageInfo(
            total_items=len(matches),
            has_more_total_items=more,
            start_cursor=_cursor(items[0], source.key) if items else None,
            end_cursor=_cursor(items[-1], source.key) if items else None,
        ),
    )


def by_position(query: Search[Any], items: list[R], record: type[R], specials: Specials = NOTHING_SPECIAL) -> Found[R]:
    """A page of what has no keys that are numbers, by its position. Raises Problem for cursors."""
    page = query.page or Page()
    if page.after is not None or page.before is not None:
        raise Problem(400, "Expected a page by its position ('from'), found a cursor")
    accepts = acceptor(query.filter, specials)
    order = _order(query.sort, record)
    matches = _sorted([item for item in items if accepts(item)], order)
    shown = matches[page.from_ : page.from_ + page.limit]
    about = PageInfo(total_items=len(matches), has_more_total_items=False, start_cursor=None, end_cursor=None)
    return Found(items=shown, page=about)


def _most(page: Page, *, is_sorted: bool) -> int:
    """How many matches are to be found: all for an order of one's own, else those that are counted or shown."""
    if is_sorted or page.before is not None:
        return SEARCH_MATCHES_MAX
    return page.count if page.after is not None else min(SEARCH_MATCHES_MAX, max(page.count, page.from_ + page.limit))


async def matching(filter_: Request | None, source: Source) -> list[Any]:
    """Every record that a filter means, up to SEARCH_MATCHES_MAX."""
    return (await _collect(source, acceptor(filter_, source.specials), 0, SEARCH_MATCHES_MAX))[0]


async def _collect(source: Source, accepts: Callable[[Any], bool], after: int, most: int) -> tuple[list[Any], bool]:
    """Matches after a key, and whether there may be more of them."""
    found: list[Any] = []
    for _ in range(SEARCH_ROWS_MAX // PAGE_MAX):
        if len(found) > most or not most:
            break
        rows = await source.fetch(after, PAGE_MAX)
        found += [row for row in rows.records if accepts(row)]
        after = rows.next_after
        if not after:
            return found[:most], len(found) > most
    return found[:most], True


# -- filters ----------------------------------------------------------------------------------------------------------
def acceptor(filter_: Request | None, specials: Specials) -> Callable[[Any], bool]:
    """Whether a record is meant."""
    if filter_ is None:
        return lambda _: True
    tests: list[Callable[[Any], bool]] = []
    for name in filter_.__struct_fields__:
        wanted = getattr(filter_, name)
        if wanted is UNSET or wanted is None:
            continue
        _check(wanted)
        _check_words(filter_.WORDS.get(name), name, wanted)
        if name == "or_":
            options = [acceptor(option, specials) for option in wanted]
            tests.append(lambda record, options=options: any(option(record) for option in options))
        elif name in specials:
            test = specials[name]
            tests.append(lambda record, wanted=wanted, test=test: test(wanted, record))
        else:
            tests.append(lambda record, wanted=wanted, name=name: holds(wanted, getattr(record, name)))
    return lambda record: all(test(record) for test in tests)


def _check(wanted: Any) -> None:  # noqa: ANN401 - any condition
    """Refuse what cannot be looked for, whether there is anything to look at or not. Raises Problem."""
    if isinstance(wanted, TextFilter) and isinstance(wanted.like, str):
        _pattern(wanted.like)


def _check_words(known: frozenset[str] | None, name: str, wanted: Any) -> None:  # noqa: ANN401 - any condition
    """Refuse a word that nothing is ever called by: it is a typing error, and finding nothing would hide that."""
    if known is None:
        return
    said = [wanted]
    if isinstance(wanted, TextFilter):
        lists = [each for each in (wanted.in_, wanted.not_in) if isinstance(each, list)]
        said = [wanted.eq, wanted.neq, *(word for each in lists for word in each)]
    for word in said:
        if isinstance(word, str) and word not in known:
            expected = ", ".join(sorted(known))
            raise Problem(400, f"Expected '{name}' to be one of {expected}, found '{word[:100]}'")


def holds(wanted: Any, value: Any) -> bool:  # noqa: ANN401 - any condition on any value
    """Whether a value is as wanted: equal, or within every condition."""
    if not isinstance(wanted, TextFilter | NumberFilter | DateFilter):
        return bool(value == wanted)
    for name in wanted.__struct_fields__:
        condition = getattr(wanted, name)
        if condition is not UNSET and not _TESTS[name](condition, value):
            return False
    return True


_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda wanted, value: value == wanted,
    "neq": lambda wanted, value: value != wanted,
    "exists": lambda wanted, value: (value not in (None, "")) is wanted,
    "in_": lambda wanted, value: value in wanted,
    "not_in": lambda wanted, value: value not in wanted,
    "like": lambda wanted, value: value is not None and _pattern(wanted).fullmatch(str(value)) is not None,
    "gt": lambda wanted, value: value is not None and value > wanted,
    "gte": lambda wanted, value: value is not None and value >= wanted,
    "lt": lambda wanted, value: value is not None and value < wanted,
    "lte": lambda wanted, value: value is not None and value <= wanted,
}


@lru_cache(maxsize=1_000)
def _pattern(like: str) -> re.Pattern[str]:
    """``*`` is any text, ``?`` any character, a backslash takes the next one as it is. Runs of stars are one star."""
    parts = re.findall(r"\\.|\*+|.", like, re.DOTALL)
    stars = sum(part.startswith("*") for part in parts)
    if stars > 8:
        raise Problem(400, f"Expected at most 8 stars in a $like, found {stars}")
    words = {"?": "."}
    texts = [
        ".*" if part.startswith("*") else words.get(part) or re.escape(part[1:] if len(part) > 1 else part)
        for part in parts
    ]
    return re.compile("".join(texts), re.DOTALL)


# -- orders and cursors -----------------------------------------------------------------------------------------------
def _order(sort: list[Sort], record: type[Record]) -> list[tuple[str, bool]]:
    """Attributes to sort by, and whether downwards. Raises Problem for one that is not there."""
    names = dict(zip(record.__struct_encode_fields__, record.__struct_fields__, strict=True))
    order: list[tuple[str, bool]] = []
    for each in sort:
        if each.field not in names:
            known = ", ".join(sorted(names))
            raise Problem(400, f"Expected a field to sort by ({known}), found '{each.field[:100]}'")
        order.append((names[each.field], each.order == "DESC"))
    return order


def _sorted(matches: list[Any], order: list[tuple[str, bool]]) -> list[Any]:
    """By several properties; those without a value come last."""
    for name, descending in reversed(order):
        with_value = [record for record in matches if getattr(record, name) is not None]
        without = [record for record in matches if getattr(record, name) is None]
        with_value.sort(key=lambda record, name=name: _comparable(getattr(record, name)), reverse=descending)
        matches = with_value + without
    return matches


def _comparable(value: Any) -> Any:  # noqa: ANN401 - any value of a record
    """Keys are texts of numbers and go by their number; what has no order goes by its text."""
    if isinstance(value, str):
        return (0, int(value), "") if value.isascii() and value.isdigit() and len(value) < 20 else (1, 0, value)
    return value if isinstance(value, int | float | datetime) else str(value)


def _cursor(record: Record, key: str) -> str:
    return base64.b64encode(f"k{getattr(record, key)}".encode()).decode()


def _key_of(cursor: str) -> int:
    """The key that a cursor stands at. Raises Problem."""
    try:
        text = base64.b64decode(cursor.encode(), validate=True).decode()
        key = int(text[1:]) if text.startswith("k") and len(text) < 22 else -1
    except (ValueError, UnicodeError):
        key = -1
    if not 0 <= key < 2**63:
        raise Problem(400, "Expected a cursor as a search has given it, found something else")
    return key


def _beside(matches: list[Any], cursor: str, name: str, page: Page) -> list[Any]:
    """The records after or before a cursor in an order of the client's own."""
    key = str(_key_of(cursor))
    at = next((index for index, record in enumerate(matches) if str(getattr(record, name)) == key), None)
    if at is None:
        raise Problem(400, "Expected a cursor to a record that is still there: begin again from the first page")
    if page.before is not None:
        return matches[max(0, at - page.limit) : at]
    return matches[at + 1 : at + 1 + page.limit]
