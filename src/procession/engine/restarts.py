"""Instances that are started anew from what an ended one left: a plan from its row and its history. It starts nothing.

The variables are the last ones (the row of an ended instance holds them) or those that it began with, which only the
history knows, and only where its level is ``full``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from procession.core import events as e
from procession.core.commands import StartInstance
from procession.core.elements.paths import single_way
from procession.core.events import AnyEvent
from procession.engine.cache import OVER
from procession.engine.definitions import Definitions
from procession.errors import Conflict, NotFound
from procession.model.definition import Definition, Element, Kind
from procession.store.port import Store
from procession.store.rows import StoredInstance

BEGINNINGS = frozenset({Kind.PROCESS, Kind.START_EVENT})
LAST, INITIAL, NONE = VARIABLES = ("last", "initial", "none")
_decode_events = msgspec.json.Decoder(list[AnyEvent]).decode
_decode_variables = msgspec.json.Decoder(dict[str, Any]).decode


class Restart(msgspec.Struct, tag=True, omit_defaults=True):
    """How ended instances are started anew: before and behind which elements, with which variables."""

    before: list[str] = []
    after: list[str] = []
    variables: str = LAST
    changes: dict[str, Any] = {}  # written over the variables
    definition: int = 0  # of which version; 0: the one that the ended instance was of
    business_id: bool = True  # whether it has the same


class Plan(msgspec.Struct):
    """What a restart begins: everything but the key of the new instance."""

    source: StoredInstance
    definition: Definition
    command: StartInstance


async def plan_restart(
    store: Store, definitions: Definitions, instance: int, restart: Restart, *, tenant: str = ""
) -> Plan:
    """What a restart of an ended instance begins. Raises NotFound, Conflict."""
    rows = await store.load([instance])
    if not rows or tenant not in ("", rows[0].tenant):
        message = f"Expected instance {instance} to exist, found none with this key: it may have been deleted"
        raise NotFound(message)
    row = rows[0]
    if row.status not in OVER:
        message = f"Instance {instance} still runs: only what has ended is started anew; modify or cancel it"
        raise Conflict(message)
    definition = await definitions.obtain_undeleted(restart.definition or row.definition)
    if definition.tenant != row.tenant:
        message = f"Expected process definition {definition.key} to be deployed, found none with this key"
        raise NotFound(message)
    _check_places(definition, restart)
    match restart.variables:
        case "initial":
            variables = await _initial(store, definitions, row)
        case "none":
            variables = {}
        case _:
            variables = _decode_variables(row.variables or b"{}")
    command = StartInstance(
        instance=0,
        variables={**variables, **restart.changes},
        at=list(restart.before),
        after=list(restart.after),
        business_id=row.business_id if restart.business_id else "",
    )
    return Plan(row, definition, command)


def _check_places(definition: Definition, restart: Restart) -> None:
    """Raise NotFound for an element that the process has not, Conflict where no token can be put."""
    for name in (*restart.before, *restart.after):
        if name not in definition.index_of:
            message = f"Process '{definition.process_id}' (version {definition.version}) has no element '{name}'"
            raise NotFound(message)
    for name in restart.after:
        single_way(definition.elements[definition.index_of[name]])


def _has_begun(event: e.Event, elements: Sequence[Element]) -> bool:
    """Whether the start event is over, or the instance began elsewhere."""
    if isinstance(event, e.Activated):
        return elements[event.element].kind not in BEGINNINGS
    return isinstance(event, e.Completed | e.Passed)


async def _initial(store: Store, definitions: Definitions, row: StoredInstance) -> dict[str, Any]:
    """The variables that an instance began with. Raises Conflict where the history does not say.

    They are those that it had when its start event was over, which may have mapped what came with a message.
    """
    rows = await store.history(row.key, limit=1)
    events = _decode_events(rows[0].events) if rows else []
    if not events or not isinstance(events[0], e.Started):
        message = (
            f"The history of instance {row.key} does not hold its beginning (it was kept off, or is gone), so the "
            "variables that it began with are not known: restart it with its last variables"
        )
        raise Conflict(message)
    elements = (await definitions.obtain(rows[0].definition)).elements
    variables: dict[str, Any] = {}
    for event in events[1:]:
        if isinstance(event, e.VariablesSet) and event.scope == row.key:
            variables.update(event.values)
        elif _has_begun(event, elements):
            break
    if variables and all(value is None for value in variables.values()):
        message = (
            f"The history of instance {row.key} holds the names of the variables that it began with and not their "
            "values (level 'activity'): restart it with its last variables, and keep history at level 'full'"
        )
        raise Conflict(message)
    return variables
