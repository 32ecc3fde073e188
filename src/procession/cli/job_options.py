"""Options that say when and how a job runs, as the command line has them. Plain data and how it is read."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from procession.errors import InvalidValue

if TYPE_CHECKING:
    from procession.app.job_options import Limit

Delay = Annotated[str, typer.Option("--delay", metavar="SPAN", help="Due so long from now: 30s, 10m, 1h, PT1H.")]
At = Annotated[str, typer.Option("--at", metavar="INSTANT", help="Due then, such as 2026-01-31T09:00+01:00.")]


def moment(text: str) -> datetime:
    """An instant; one without a zone is of this machine's. Raises a usage error."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        message = f"Expected an instant such as 2026-01-31T09:00+01:00, found '{text}'"
        raise typer.BadParameter(message, param_hint="--at") from None
    return found if found.tzinfo is not None else found.astimezone()


def limit_of(text: str) -> Limit:
    """``KEY=5`` (so many at once), ``KEY=100/1m`` (so many starts in a time), ``KEY=100/1m+10`` (of them at once).

    Several parts are joined by commas. Raises InvalidValue.
    """
    from procession.app.job_options import Limit  # noqa: PLC0415 - heavy

    key, equals, rule = text.rpartition("=")
    most = rate = burst = 0
    per = "1s"
    try:
        for part in rule.split(",") if equals else []:
            if "/" in part:
                number, _, span = part.partition("/")
                per, _, extra = span.partition("+")
                rate, burst = int(number), int(extra or 0)
            else:
                most = int(part)
    except ValueError:
        key = ""
    if not key:
        message = f"Expected a limit such as mails=5, mails=100/1m or mails=5,100/1m+10, found '{text}'"
        raise InvalidValue(message)
    return Limit(key, most, rate, per, burst)
