"""``procession audit``: who changed what, when, and with what result, the newest first. It changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from procession.cli import screen
from procession.cli.options import options, with_options
from procession.cli.session import run
from procession.cli.tables import Column

if TYPE_CHECKING:
    from procession.api.audit import AuditLog
    from procession.app import Procession

LOOKED_MAX = 100_000  # entries looked at for those that fit
PAGE = 1_000
COLUMNS = (
    Column("key", whole=True, rank=3),
    Column("when", whole=True),
    Column("who"),
    Column("operation"),
    Column("of", whole=True, rank=1),
    Column("result", whole=True),
    Column("error", rank=2),
)


@with_options
def audit(
    actor: Annotated[str, typer.Option(help="Only what this one did: a user, a token, a subject.")] = "",
    operation: Annotated[str, typer.Option(help="Only this operation, such as cancelProcessInstance.")] = "",
    entity: Annotated[str, typer.Option(help="Only changes of this kind of thing, such as PROCESS_INSTANCE.")] = "",
    instance: Annotated[int, typer.Option(metavar="KEY", help="Only what was done to this instance.")] = 0,
    failed: Annotated[bool, typer.Option("--failed", help="Only what was refused or failed.")] = False,
    since: Annotated[str, typer.Option(metavar="SPAN", help="Only of the last 2h, 30d, PT1H.")] = "",
    text: Annotated[str, typer.Option(help="Only entries with this text somewhere in them.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 50,
) -> None:
    """Show the audit log: who changed what, when, and with what result; the newest first.

    With --json each entry has the request, too, and the states before and after.
    """
    from procession.jobs.retry import span_ms  # noqa: PLC0415 - heavy

    since_ms = span_ms(since, "since") if since else 0

    def fits(entry: AuditLog) -> bool:
        wanted = (
            (operation, entry.operation_type),
            (entity.upper(), entry.entity_type),
            (str(instance) if instance else "", entry.process_instance_key or ""),
            ("FAIL" if failed else "", entry.result),
        )
        return all(not want or want == found for want, found in wanted) and (not text or text in _all_of(entry))

    async def work(app: Procession) -> tuple[list[AuditLog], bool]:
        return await _newest(app, actor, app.now - since_ms if since_ms else 0, fits, limit)

    found, is_more = run(work)
    if options().json:
        screen.json(found)
    elif found:
        screen.table(COLUMNS, [_cells(entry) for entry in found])
    else:
        screen.note("The audit log has no such entry")
    if is_more:
        screen.note(f"Older ones were not looked at: {LOOKED_MAX} entries is as far as one command looks")


async def _newest(
    app: Procession, actor: str, since: int, fits: Callable[[AuditLog], bool], limit: int
) -> tuple[list[AuditLog], bool]:
    """The newest that fit, and whether the search ended at its bound."""
    from procession.api.audit import KIND, record_of  # noqa: PLC0415 - packages of the server

    found: list[AuditLog] = []
    after = 0
    for _ in range(LOOKED_MAX // PAGE):
        rows = await app.rows.kept(KIND, name=actor, after=after, newest=True, limit=PAGE)
        found += [entry for row in rows if row.created_at >= since and fits(entry := record_of(row))]
        is_over = len(rows) < PAGE or all(row.created_at < since for row in rows)
        if is_over or len(found) >= limit:
            return found[:limit], False
        after = rows[-1].key
    return found, True


def _all_of(entry: AuditLog) -> str:
    """Everything in it as one text."""
    return msgspec.json.encode(entry).decode()


def _cells(entry: AuditLog) -> list[str]:
    return [
        entry.audit_log_key,
        screen.when(entry.timestamp),
        entry.actor_id or "(nobody)",
        entry.operation_type,
        entry.entity_key,
        entry.result,
        entry.error_message or "",
    ]
