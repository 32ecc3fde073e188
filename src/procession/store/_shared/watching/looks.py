"""The scripts: which statements answer a look, and how their rows are turned. They write nothing but the tally."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from procession.errors import InvalidValue
from procession.limits import SEARCH_VARIABLES_MAX
from procession.store._shared.queue.script import Rows, Script, as_bytes, ask, ask_for
from procession.store._shared.watching.metering import add_meter
from procession.store.rows.metering import MeterRow
from procession.store.rows.reading import HistoryRow, StoredIncident, StoredInstance, StoredSubscription
from procession.store.rows.watching import (
    FoundInstances,
    HistoryAt,
    IncidentGroup,
    InstanceSearch,
    Marks,
    Queued,
    Standing,
    Statuses,
    TallyCount,
    TallyCursor,
)

KEY_MAX: Final = 2**63 - 1
LETTERS: Final = "abc"[:SEARCH_VARIABLES_MAX]  # of the variables that a search compares
_SUBSCRIPTION: Final = (
    *("key", "instance", "element_instance", "element", "definition", "process_id", "trigger", "name"),
    *("correlation_key", "once", "tenant"),
)
_texts: Final = msgspec.json.Decoder(list[str]).decode


def find_instances(which: InstanceSearch) -> Script[FoundInstances]:
    """A page; where it is not full, the window that was looked at says where to go on."""
    fields = _fields(which)
    rows = yield from ask_for("find_instances", [fields])
    found = [_instance(row) for row in rows]
    if len(found) >= which.limit:
        return FoundInstances(instances=found, next_after=found[-1].key)
    seen, last = (yield from ask_for("find_window", [fields]))[0]
    return FoundInstances(instances=found, next_after=last if seen >= which.look else 0)


def count_found(which: InstanceSearch, most: int) -> Script[int]:
    """How many there are, up to ``most``."""
    fields = _fields(msgspec.structs.replace(which, limit=most, with_state=False))
    return (yield from ask_for("count_found", [fields]))[0][0]


def looks_at_all(which: InstanceSearch) -> Script[bool]:
    """Whether the window holds everything."""
    seen, _ = (yield from ask_for("find_window", [_fields(which)]))[0]
    return seen < which.look


def marks() -> Script[Marks]:
    """Numbers that differ when something changed."""
    (row,) = yield from ask_for("watch_marks", [0])
    return Marks(**dict(zip(Marks.__struct_fields__, row, strict=True)))


def size() -> Script[int]:
    """Bytes."""
    (row,) = yield from ask_for("watch_size", [0])
    return int(row[0])


def revisions(instances: Sequence[int]) -> Script[dict[int, tuple[int, int]]]:
    """A pair for each instance."""
    rows = yield from ask_for("watch_revisions", sorted(instances))
    return {row[0]: (row[1], row[2]) for row in rows}


def standing(most: int, tenants: Sequence[str]) -> Script[Standing]:
    """Bounded counts."""
    which = {"most": most, "tenants": list(tenants), "any_tenant": not tenants}
    (row,) = yield from ask_for("watch_standing", [which])
    return Standing(**dict(zip(Standing.__struct_fields__, (each or 0 for each in row), strict=True)))


def statuses(look: int, tenants: Sequence[str]) -> Script[Statuses]:
    """Counts within the window."""
    rows = yield from ask_for("watch_statuses", [{"look": look, "tenants": list(tenants), "any_tenant": not tenants}])
    return Statuses(counts={row[0]: row[1] for row in rows if row[1]}, is_part=sum(row[-1] for row in rows) >= look)


def queued(look: int, tenants: Sequence[str]) -> Script[Queued]:
    """Counts within the window."""
    rows = yield from ask_for("watch_queued", [{"look": look, "tenants": list(tenants), "any_tenant": not tenants}])
    counts = {(row[0], row[1]): row[2] for row in rows if row[2]}
    return Queued(counts=counts, is_part=sum(row[-1] for row in rows) >= look)


def incident_groups(tenants: Sequence[str], look: int, limit: int) -> Script[list[IncidentGroup]]:
    """The groups, and the newest of each."""
    which = {"tenants": list(tenants), "any_tenant": not tenants, "look": look, "limit": limit}
    groups = yield from ask_for("watch_incident_groups", [which])
    rows = yield from ask_for("watch_incidents", sorted(row[4] for row in groups))
    samples = {row[0]: _incident(row) for row in rows}
    return [
        IncidentGroup(fingerprint=row[0], count=row[1], first_at=row[2], last_at=row[3], sample=samples[row[4]])
        for row in groups
        if row[4] in samples  # resolved in between
    ]


def incident_places(definition: int, look: int) -> Script[dict[tuple[int, str], int]]:
    """Counts by definition and element."""
    rows = yield from ask_for("watch_incident_places", [{"definition": definition, "look": look}])
    return {(row[0], row[1]): row[2] for row in rows}


def waiting(name: str, correlation_key: str, tenant: str, limit: int) -> Script[list[StoredSubscription]]:
    """Subscriptions of instances to one message."""
    which = {"name": name, "correlation_key": correlation_key, "tenant": tenant, "limit": limit}
    return [
        StoredSubscription(**dict(zip(_SUBSCRIPTION, row, strict=True)))
        for row in (yield from ask_for("watch_waiting", [which]))
    ]


def histories(instances: Sequence[int], containing: str, before: int, limit: int) -> Script[list[HistoryRow]]:
    """Steps by instance and position."""
    pattern = f"%{_escaped(containing)}%" if containing else ""
    rows = yield from ask_for("watch_histories", sorted(instances), pattern, before or KEY_MAX, limit)
    return [
        HistoryRow(position=row[0], instance=row[1], definition=row[2], at=row[3], events=as_bytes(row[4]))
        for row in rows
    ]


# -- the tally --------------------------------------------------------------------------------------------------------
def history_after(cursor: TallyCursor, limit: int, now: int) -> Script[list[HistoryAt]]:
    """The next steps that nothing can precede any more."""
    rows = yield from ask("tally_history", cursor.txid, cursor.position, limit, now)
    return [
        HistoryAt(txid=row[0], position=row[1], instance=row[2], definition=row[3], at=row[4], events=as_bytes(row[5]))
        for row in rows
    ]


def tally_cursor() -> Script[TallyCursor]:
    """How far it was counted."""
    rows = yield from ask_for("read_tally_cursor", [0])
    return _cursor(rows)


def add_tally(
    since: TallyCursor, until: TallyCursor, counts: Sequence[TallyCount], meter: Sequence[MeterRow], now: int
) -> Script[bool]:
    """Add and move, where the cursor stands there still."""
    stands = _cursor((yield from ask_for("lock_tally_cursor", [0])))
    if (stands.txid, stands.position) != (since.txid, since.position):
        return False
    ordered = sorted(counts, key=_name_of)
    yield from ask_for("add_tally", [msgspec.structs.asdict(each) for each in ordered])
    yield from add_meter(meter)
    moved = {"txid": until.txid, "position": until.position, "moved_at": now}
    yield from ask_for("move_tally_cursor", [moved])
    return True


def tally(definitions: Sequence[int], *, totals: bool) -> Script[list[TallyCount]]:
    """What was counted."""
    rows = yield from ask_for("read_tally_totals" if totals else "read_tally", sorted(definitions))
    return [TallyCount(definition=row[0], place=row[1], measure=row[2], times=row[3]) for row in rows]


def _name_of(row: TallyCount) -> tuple[int, int, int]:
    return row.definition, row.place, row.measure


def _cursor(rows: Rows) -> TallyCursor:
    """Where it stands; at the beginning where nothing was counted yet."""
    return TallyCursor(txid=rows[0][0], position=rows[0][1], moved_at=rows[0][2]) if rows else TallyCursor()


# -- rows -------------------------------------------------------------------------------------------------------------
def _fields(which: InstanceSearch) -> dict[str, Any]:
    """The conditions by name, with what each dialect needs besides."""
    if len(which.variables) > SEARCH_VARIABLES_MAX:
        raise InvalidValue(
            f"Expected at most {SEARCH_VARIABLES_MAX} variables to look for (SEARCH_VARIABLES_MAX), "
            f"found {len(which.variables)}"
        )
    fields: dict[str, Any] = msgspec.structs.asdict(which)
    del fields["variables"]
    for number, letter in enumerate(LETTERS):
        given = which.variables[number] if number < len(which.variables) else None
        fields[f"name_{letter}"] = given.name if given else ""
        fields[f"path_{letter}"] = f'$."{given.name}"' if given else ""
        fields[f"value_{letter}"] = given.value if given else "null"
    fields["before"] = which.after or KEY_MAX
    fields["pattern"] = f"%{_escaped(which.text)}%" if which.text else ""
    fields["any_status"], fields["any_tenant"] = not which.statuses, not which.tenants
    fields["by_incident"] = bool(which.with_incident or which.incident_element or which.fingerprint)
    return fields


def _escaped(text: str) -> str:
    """A text as part of a LIKE, with a backslash before what would mean more."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _instance(row: Sequence[Any]) -> StoredInstance:
    """A row of find_instances: the columns of listings, the state, the number of incidents."""
    tags = row[8]
    return StoredInstance(
        key=row[0],
        rev=row[1],
        definition=row[2],
        process_id=row[3],
        status=row[4],
        state=bytes(row[12] or b""),
        variables=b"",
        business_id=row[5] or "",
        parent=row[6] or 0,
        parent_element_instance=row[7] or 0,
        tags=_texts(tags) if isinstance(tags, str | bytes) else list(tags or ()),
        tenant=row[9] or "",
        started_at=row[10],
        ended_at=row[11] or 0,
        incidents=row[13],
    )


def _incident(row: Sequence[Any]) -> StoredIncident:
    """A row of watch_incidents."""
    return StoredIncident(
        key=row[0],
        instance=row[1],
        element_instance=row[2],
        element=row[3],
        definition=row[4],
        process_id=row[5],
        kind=row[6],
        message=row[7],
        job=row[8] or 0,
        created_at=row[9],
        fingerprint=row[10],
        tenant=row[11] or "",
    )
