"""A state as bytes and back. MessagePack of what cannot be derived; root variables are stored apart, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from procession.core.state import ENDING, ElementInstance, Incident, State


class Stored(msgspec.Struct, array_like=True):
    """What is kept of a state. The first field is the layout's version: old rows stay readable after a change."""

    layout: int
    key: int
    status: int
    parent: int
    parent_element_instance: int
    depth: int
    business_id: str
    start_channel: str
    nodes: list[ElementInstance]
    incidents: list[Incident]
    pending: list[tuple[int, int, int]]
    conditions: list[int]


class Marked(Stored, array_like=True):
    """The same with the marks of recent steps, which are not part of the state: see ``marks_of``."""

    marks: list[int] = []


LAYOUT = 1
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Stored)
_marked_decoder = msgspec.msgpack.Decoder(Marked)
_UNMARKED = 0x90 + len(Stored.__struct_fields__)  # how the array begins


def encode_state(state: State, marks: Sequence[int] = ()) -> bytes:
    """The state without its root variables; with the marks, if there are any."""
    stored = (  # the fields of ``Stored`` in order: a tuple is encoded alike, and made faster
        LAYOUT,
        state.key,
        state.status,
        state.parent,
        state.parent_element_instance,
        state.depth,
        state.business_id,
        state.start_channel,
        list(state.nodes.values()),
        list(state.incidents.values()),
        state.pending,
        list(state.conditions),
    )
    return _encoder.encode((*stored, list(marks)) if marks else stored)


def marks_of(raw: bytes) -> list[int]:
    """The marks that were stored with a state: they tell which of several writers' steps it has been through."""
    return [] if not raw or raw[0] == _UNMARKED else _marked_decoder.decode(raw).marks


def decode_state(raw: bytes, variables: dict[str, Any]) -> State:
    """The state with these root variables and its indexes rebuilt. Raises msgspec.DecodeError on foreign bytes."""
    stored = _decoder.decode(raw)
    state = State(
        key=stored.key,
        root=stored.key,
        status=stored.status,
        nodes={node.key: node for node in stored.nodes},
        incidents={incident.key: incident for incident in stored.incidents},
        pending=stored.pending,
        parent=stored.parent,
        parent_element_instance=stored.parent_element_instance,
        depth=stored.depth,
        business_id=stored.business_id,
        start_channel=stored.start_channel,
        variables=variables,
        conditions=dict.fromkeys(stored.conditions),
    )
    for node in stored.nodes:
        _index(state, node)
    for _, _, scope in stored.pending:
        state.moving[scope] = state.moving.get(scope, 0) + 1
    return state


def _index(state: State, node: ElementInstance) -> None:
    """Add one element instance to the derived indexes."""
    key = node.key
    if node.scope:
        state.children.setdefault(node.scope, {})[key] = None
    elif key == state.root:
        state.children.setdefault(key, {})
    if node.job:
        state.jobs[node.job] = key
    if node.user_task:
        state.jobs[node.user_task] = key
    if node.called:
        state.jobs[node.called] = key
    for wait in node.waits or ():
        state.waits[wait.key] = key
        if wait.name:
            state.signals.setdefault(wait.name, {})[wait.key] = None
    if node.arrived:
        state.parked[key] = None
    if node.data and ENDING in node.data:
        state.ending[key] = None
