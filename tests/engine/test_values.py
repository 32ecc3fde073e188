"""Values on their way in: what other libraries make of the plain types is as plain."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from procession.engine.values import plain_value, plain_variables
from procession.errors import InvalidValue


class Text(str):
    """As Django's SafeString: even ``str()`` gives it back."""

    __slots__ = ()

    def __str__(self) -> str:
        return self


class Whole(int):
    pass


class Rough(float):
    pass


class Exact(Decimal):
    pass


class Day(date):
    pass


class Moment(datetime):
    pass


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (Text("a"), "a"),
        ([{"deep": Text("a"), "none": None}], [{"deep": "a", "none": None}]),
        (Whole(-5), -5),
        (Rough(1.5), 1.5),
        (Exact("1.50"), 1.5),
        (Day(2030, 2, 28), "2030-02-28"),
        (Moment(2030, 2, 28, 1, 2, 3, 4), "2030-02-28T01:02:03.000004"),
        (Moment(2030, 2, 28, tzinfo=UTC), "2030-02-28T00:00:00Z"),
        (Moment(2030, 2, 28, tzinfo=timezone(timedelta(hours=2))), "2030-02-28T00:00:00+02:00"),
    ],
    ids=str,
)
def test_a_subclass_of_a_plain_type_is_stored_as_that_type(value: Any, stored: Any):
    found = plain_value(value, "it")
    assert found == stored
    assert type(found) is type(stored)


@pytest.mark.parametrize("value", [Text("a\0"), Whole(2**70), Rough("nan"), Exact("Infinity")])
def test_what_cannot_be_stored_is_named_in_a_subclass_too(value: Any):
    with pytest.raises(InvalidValue, match=r"at variables\.order\.it"):
        plain_variables({"order": {"it": value}})
