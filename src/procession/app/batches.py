"""What users say and see of operations over many instances: kinds, filters, progress. It does nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from procession.app.views import View, status_of
from procession.core.commands import Activate, AnyCommand, Cancel, Migrate, Modify, Move, ResolveIncident
from procession.core.state import Status
from procession.errors import InvalidValue
from procession.jobs.schedule import to_datetime
from procession.store.rows import InstanceFilter
from procession.store.rows.operating import BatchState, StoredBatch

KINDS = ("cancel", "modify", "migrate", "resolve", "delete")
OVER = (Status.COMPLETED, Status.TERMINATED)


class Which(TypedDict, total=False):
    """Which instances a batch means."""

    process_id: str
    process_definition_key: int
    state: str
    business_id: str
    with_incident: bool
    tag: str
    parent: int


class How(TypedDict, total=False):
    """What a batch does, beyond its kind."""

    reason: str
    retries: int
    activate: Sequence[str]
    move: Mapping[str, str]
    target_process_definition_key: int
    mapping: Mapping[str, str]


OPTIONS = {
    "cancel": {"reason"},
    "modify": {"activate", "move"},
    "migrate": {"target_process_definition_key", "mapping"},
    "resolve": {"retries"},
    "delete": set[str](),
}


class Batch(View, frozen=True, kw_only=True):
    """An operation over many instances, and how far it is."""

    batch_key: int
    kind: str
    state: str  # ACTIVE | COMPLETED | CANCELED
    total: int  # items that the filter meant at the beginning
    done: int
    failed: int
    open: int  # begun and not yet over
    start_date: datetime
    end_date: datetime | None = None
    tenant_id: str = ""

    @classmethod
    def of(cls, row: StoredBatch) -> Batch:
        """As it is stored."""
        return cls(
            batch_key=row.key,
            kind=row.kind,
            state=BatchState(row.state).name,
            total=row.total,
            done=row.emitted - len(row.open) - row.failed,
            failed=row.failed,
            open=len(row.open),
            start_date=to_datetime(row.created_at),
            end_date=to_datetime(row.ended_at) if row.ended_at else None,
            tenant_id=row.tenant,
        )


class BatchError(View, frozen=True, kw_only=True):
    """What a batch could not do. ``key``: the instance, or the incident that was to be resolved."""

    key: int
    message: str


def command_of(kind: str, how: How) -> AnyCommand | None:
    """What happens to each instance; None: it is deleted. Raises InvalidValue."""
    if kind not in OPTIONS:
        message = f"Expected a kind of batch ({', '.join(KINDS)}), found '{kind}'"
        raise InvalidValue(message)
    if unknown := sorted(set(how) - OPTIONS[kind]):
        message = (
            f"Expected {', '.join(sorted(OPTIONS[kind])) or 'no options'} for a batch '{kind}', found {unknown[0]}"
        )
        raise InvalidValue(message)
    match kind:
        case "cancel":
            return Cancel(reason=how.get("reason", ""))
        case "resolve":
            return ResolveIncident(0, how.get("retries", 1))
        case "migrate":
            return Migrate(how.get("target_process_definition_key", 0), dict(how.get("mapping", {})))
        case "modify":
            moves = [Move(target, source=source) for source, target in how.get("move", {}).items()]
            return Modify(activate=[Activate(name) for name in how.get("activate", ())], move=moves)
        case _:
            return None


def filter_of(kind: str, which: Which, tenant: str) -> InstanceFilter:
    """Which instances are meant. Raises InvalidValue."""
    state = which.get("state", "") or ("COMPLETED" if kind == "delete" else "ACTIVE")
    status = status_of(state)
    if (kind == "delete") != (status in OVER):
        message = f"Expected the state of instances that can be treated so by a batch '{kind}', found {state}"
        raise InvalidValue(message)
    if kind == "resolve" and (unknown := sorted(set(which) - {"process_id"})):
        message = f"Expected only process_id to say whose incidents a batch resolves, found {unknown[0]}"
        raise InvalidValue(message)
    return InstanceFilter(
        process_id=which.get("process_id", ""),
        definition=which.get("process_definition_key", 0),
        status=status,
        business_id=which.get("business_id", ""),
        with_incident=which.get("with_incident", False),
        tag=which.get("tag", ""),
        parent=which.get("parent", 0),
        tenant=tenant,
    )
