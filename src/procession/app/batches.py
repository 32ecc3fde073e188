"""What users say and see of operations over many instances: kinds, filters, progress. It does nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, cast

from procession.app import arguments
from procession.app.views import View, statuses_of
from procession.core.commands import (
    Activate,
    AnyCommand,
    Cancel,
    Migrate,
    Modify,
    Move,
    ResolveIncident,
    Resume,
    Suspend,
)
from procession.core.listening import RETRIES_MAX
from procession.core.state import Status
from procession.engine.restarts import VARIABLES, Restart
from procession.engine.values import plain_variables
from procession.errors import InvalidValue
from procession.jobs.schedule import to_datetime
from procession.store.rows import InstanceFilter
from procession.store.rows.operating import BatchState, StoredBatch

KINDS = ("cancel", "modify", "migrate", "resolve", "suspend", "resume", "restart", "delete")
OF_ENDED = ("delete", "restart")
USUAL = {"delete": ["COMPLETED"], "restart": ["COMPLETED", "TERMINATED"], "resume": ["SUSPENDED"]}  # else: active ones
OVER = (Status.COMPLETED, Status.TERMINATED)


class Which(TypedDict, total=False):
    """Which instances a batch means."""

    process_id: str
    process_definition_key: int
    state: str | Sequence[str]
    business_id: str
    with_incident: bool
    tag: str
    parent: int


class RestartOptions(TypedDict, total=False):
    """How an ended instance is started anew."""

    before: Sequence[str]
    after: Sequence[str]
    variables: str
    changes: dict[str, Any]
    process_definition_key: int
    business_id: bool


class How(RestartOptions, total=False):
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
    "suspend": set[str](),
    "resume": set[str](),
    "restart": set(RestartOptions.__annotations__),
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
    retry_of: int = 0  # the batch whose failed items it does again
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
            retry_of=row.retry_of,
            tenant_id=row.tenant,
        )


class BatchError(View, frozen=True, kw_only=True):
    """What a batch could not do. ``key``: the instance, or the incident that was to be resolved."""

    key: int
    message: str


class BatchTrial(View, frozen=True, kw_only=True):
    """What a batch would do: ``errors`` are those of the ``tried`` first of its ``total`` items."""

    kind: str
    total: int
    tried: int
    errors: list[BatchError]


def restart_of(how: RestartOptions) -> Restart:
    """How ended instances are started anew. Raises InvalidValue."""
    if unknown := sorted(map(str, set(how) - RestartOptions.__annotations__.keys())):
        message = f"Expected {', '.join(RestartOptions.__annotations__)} for a restart, found '{unknown[0]}'"
        raise InvalidValue(message)
    before, after = arguments.names(how.get("before", ()), "before"), arguments.names(how.get("after", ()), "after")
    if not (before or after):
        message = "Expected at least one element to begin before or after, found none: name where it is to begin"
        raise InvalidValue(message)
    variables = arguments.text(how.get("variables", "last"), "variables")
    if variables not in VARIABLES:
        message = f"Expected variables to be {', '.join(VARIABLES)}, found '{variables}'"
        raise InvalidValue(message)
    return Restart(
        before=before,
        after=after,
        variables=variables,
        changes=plain_variables(arguments.variables(how.get("changes"))).values,
        definition=arguments.key_or_none(how.get("process_definition_key", 0), "process_definition_key"),
        business_id=bool(how.get("business_id", True)),
    )


def command_of(kind: str, how: How) -> AnyCommand | Restart | None:
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
        case "suspend":
            return Suspend()
        case "resume":
            return Resume()
        case "restart":
            return restart_of(cast("RestartOptions", how))
        case _:
            return None


def filter_of(kind: str, which: Which, tenant: str) -> InstanceFilter:
    """Which instances are meant. Raises InvalidValue; a filter that does not exist must not mean all of them."""
    if unknown := sorted(map(str, set(which) - Which.__annotations__.keys())):
        message = f"Expected filters of instances ({', '.join(Which.__annotations__)}), found '{unknown[0]}'"
        raise InvalidValue(message)
    usual = USUAL.get(kind, ["ACTIVE"])
    statuses = statuses_of(which.get("state", "")) or statuses_of(usual)
    wrong = [Status(status).name for status in statuses if (kind in OF_ENDED) != (status in OVER)]
    if wrong:
        message = f"Expected the state of instances that can be treated so by a batch '{kind}', found {wrong[0]}"
        raise InvalidValue(message)
    if kind == "resolve" and (unknown := sorted(set(which) - {"process_id"})):
        message = f"Expected only process_id to say whose incidents a batch resolves, found {unknown[0]}"
        raise InvalidValue(message)
    return InstanceFilter(
        process_id=arguments.text(which.get("process_id", ""), "process_id"),
        definition=arguments.key_or_none(which.get("process_definition_key", 0), "process_definition_key"),
        statuses=statuses,
        business_id=arguments.text(which.get("business_id", ""), "business_id"),
        with_incident=bool(which.get("with_incident", False)),
        tag=arguments.text(which.get("tag", ""), "tag"),
        parent=arguments.key_or_none(which.get("parent", 0), "parent"),
        tenant=tenant,
    )
