"""What users say and see of operations over many instances: kinds, filters, progress. It does nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from procession.app import arguments
from procession.app.views import View, status_of
from procession.core.commands import Activate, AnyCommand, Cancel, Migrate, Modify, Move, ResolveIncident
from procession.core.listening import RETRIES_MAX
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
    if arguments.text(kind, "the kind of batch") not in OPTIONS:
        message = f"Expected a kind of batch ({', '.join(KINDS)}), found '{kind}'"
        raise InvalidValue(message)
    if unknown := sorted(set(how) - OPTIONS[kind]):
        message = (
            f"Expected {', '.join(sorted(OPTIONS[kind])) or 'no options'} for a batch '{kind}', found {unknown[0]}"
        )
        raise InvalidValue(message)
    match kind:
        case "cancel":
            return Cancel(reason=arguments.reason(how.get("reason", "")))
        case "resolve":
            return ResolveIncident(0, arguments.whole(how.get("retries", 1), "retries", 1, RETRIES_MAX))
        case "migrate":
            target = arguments.key(how.get("target_process_definition_key", 0), "target_process_definition_key")
            return Migrate(target, arguments.names_to_names(how.get("mapping"), "mapping"))
        case "modify":
            pairs = arguments.names_to_names(how.get("move"), "move").items()
            names = arguments.names(how.get("activate", ()), "activate")
            return Modify(
                activate=[Activate(name) for name in names],
                move=[Move(target, source=source) for source, target in pairs],
            )
        case _:
            return None


def filter_of(kind: str, which: Which, tenant: str) -> InstanceFilter:
    """Which instances are meant. Raises InvalidValue; a filter that does not exist must not mean all of them."""
    if unknown := sorted(map(str, set(which) - Which.__annotations__.keys())):
        message = f"Expected filters of instances ({', '.join(Which.__annotations__)}), found '{unknown[0]}'"
        raise InvalidValue(message)
    state = which.get("state", "") or ("COMPLETED" if kind == "delete" else "ACTIVE")
    status = status_of(state)
    if (kind == "delete") != (status in OVER):
        message = f"Expected the state of instances that can be treated so by a batch '{kind}', found {state}"
        raise InvalidValue(message)
    if kind == "resolve" and (unknown := sorted(set(which) - {"process_id"})):
        message = f"Expected only process_id to say whose incidents a batch resolves, found {unknown[0]}"
        raise InvalidValue(message)
    return InstanceFilter(
        process_id=arguments.text(which.get("process_id", ""), "process_id"),
        definition=arguments.key_or_none(which.get("process_definition_key", 0), "process_definition_key"),
        status=status,
        business_id=arguments.text(which.get("business_id", ""), "business_id"),
        with_incident=bool(which.get("with_incident", False)),
        tag=arguments.text(which.get("tag", ""), "tag"),
        parent=arguments.key_or_none(which.get("parent", 0), "parent"),
        tenant=tenant,
    )
