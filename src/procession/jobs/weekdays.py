"""``W`` in a cron expression's day of month: the weekday nearest to a day, within its month. Pure.

``15W`` is the 15th, or the Friday before where that is a Saturday, or the Monday after where it is a Sunday; ``1W`` and
the last day never leave the month (then it is the 3rd, or the Friday before the last Saturday). As in Quartz and
Spring. ``LW`` is cronsim's own. Days next to the one named are tried in turn, so this module only says which count.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from typing import Final

from procession.errors import InvalidValue

_NEAREST: Final = re.compile(r"(\d{1,2})W", re.IGNORECASE)
_FRIDAY: Final = 4


def split_weekdays(fields: str) -> tuple[str, tuple[int, ...]]:
    """The expression with ranges of days in the place of ``<day>W``, and those days. Raises InvalidValue.

    Without a ``W`` the expression is as it was, and there are no days.
    """
    parts = fields.split()
    place = len(parts) - 3  # from the end: day of month, month, day of week
    if place < 0 or not any(_NEAREST.fullmatch(part) for part in parts[place].split(",")):
        return fields, ()
    days: list[int] = []
    for part in parts[place].split(","):
        match = _NEAREST.fullmatch(part)
        if match is None or not 1 <= int(match[1]) <= 31 or parts[-1] not in {"*", "?"}:
            raise InvalidValue(
                f"Expected days such as '1W,15W' alone in their field, with every day of the week, found '{fields}'"
            )
        days.append(int(match[1]))
    near = sorted({near for day in days for near in range(max(1, day - 2), min(31, day + 2) + 1)})
    parts[place] = ",".join(map(str, near))
    return " ".join(parts), tuple(days)


def is_nearest_weekday(day: date, days: tuple[int, ...]) -> bool:
    """Whether this is the weekday nearest to one of these days of its month."""
    last = monthrange(day.year, day.month)[1]
    return any(day.day == _nearest(day.replace(day=wanted), last) for wanted in days if wanted <= last)


def _nearest(day: date, last: int) -> int:
    match day.weekday() - _FRIDAY:
        case 1:
            return day.day - 1 if day.day > 1 else day.day + 2
        case 2:
            return day.day + 1 if day.day < last else day.day - 2
        case _:
            return day.day
