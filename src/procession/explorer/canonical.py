"""A state as bytes that two histories share when what can follow is the same. It decides nothing about a model.

Keys are numbered anew from the root down, siblings by what they are; times, the flow a token came by, variables, texts
of incidents and the counters of standard loops are dropped. Tokens at a parallel join that can fire have one form:
those of its last flow rest before it, the others are parked, so that firing is a step of its own. Of records of
compensation only the latest of the same activity in the same state is kept: a loop would gather them without end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from procession.core import State, Status, encode_state
from procession.core.state import Compensation, ElementInstance, Incident, Wait
from procession.explorer.abstraction import Abstract

ENDS: Final = "$ends"  # in the data of a scope's element instance: end events that a token has reached in it
ENDED: Final = b"ended"
Signature = tuple[Any, ...]


def canonical(process: Abstract, state: State) -> tuple[bytes, int]:
    """The canonical bytes of a state, and the next unused key of the state that they decode to."""
    if state.status in {Status.COMPLETED, Status.TERMINATED}:
        return ENDED, 1
    _settle_joins(process, state)
    return _Renamed(process, state).encode()


def _settle_joins(process: Abstract, state: State) -> None:
    """Give the tokens at parallel joins their one form."""
    if not process.joins:
        return
    for node in state.nodes.values():
        waiting = [token for token in state.pending if token[2] == node.key and token[1] in process.joins]
        touched = {token[1] for token in waiting} | (process.joins & (node.arrived or {}).keys())
        for join in touched:
            _settle_join(process, state, node, join)


def _settle_join(process: Abstract, state: State, node: ElementInstance, join: int) -> None:
    arrived = dict((node.arrived or {}).get(join, {}))
    for flow, index, scope in state.pending:
        if index == join and scope == node.key:
            arrived[flow] = arrived.get(flow, 0) + 1
    resting = [token for token in state.pending if token[1] != join or token[2] != node.key]
    incoming = process.definition.elements[join].incoming
    if all(flow in arrived for flow in incoming):
        last = incoming[-1]
        resting += [(last, join, node.key)] * arrived.pop(last)
    state.pending = resting
    others = {index: counts for index, counts in (node.arrived or {}).items() if index != join}
    if arrived:
        others[join] = arrived
    node.arrived = others or None


class _Renamed:
    """A state whose keys are being numbered anew."""

    def __init__(self, process: Abstract, state: State) -> None:
        self._process = process
        self._state = state
        self._next = 1
        self._keys: dict[int, int] = {}  # old key of an element instance -> new key
        self._signatures: dict[int, Signature] = {}
        self._nodes: list[ElementInstance] = []
        self._incidents: list[Incident] = []
        self._pending: dict[int, list[tuple[int, int]]] = {}
        for flow, element, scope in state.pending:
            self._pending.setdefault(scope, []).append((flow, element))

    def encode(self) -> tuple[bytes, int]:
        """Number everything and encode it."""
        state = self._state
        self._sign(state.root)
        self._visit(state.root, 0)
        for node in self._nodes:
            self._rename_references(node)
        new = State(
            key=1,
            root=1,
            status=state.status,
            nodes={node.key: node for node in self._nodes},
            incidents={incident.key: incident for incident in self._incidents},
            pending=sorted(
                (flow, element, self._keys[scope])
                for scope, tokens in self._pending.items()
                for flow, element in tokens
            ),
        )
        return encode_state(new), self._next

    def _take(self) -> int:
        key = self._next
        self._next += 1
        return key

    def _sign(self, key: int) -> Signature:
        """What an element instance is, with all within it, in a form that can be compared."""
        node = self._state.nodes[key]
        children = self._state.children.get(key)
        within = sorted(self._sign(child) for child in children) if children else []
        signature = (
            node.element,
            node.phase,
            node.body,
            node.loop_index > 0,
            bool(node.job),
            bool(node.user_task),
            bool(node.incident),
            sorted((wait.element, wait.spec, wait.seen) for wait in node.waits or ()),
            sorted((join, sorted(counts.items())) for join, counts in (node.arrived or {}).items()),
            sorted(self._pending.get(key, ())),
            _text(self._loop(node)),
            _text(self._data(node, named=False)),
            _text(_records(node.compensations)),
            within,
        )
        self._signatures[key] = signature
        return signature

    def _visit(self, key: int, scope: int) -> None:
        """Number an element instance, what it holds, and all within it."""
        state = self._state
        node = state.nodes[key]
        new = self._take()
        self._keys[key] = new
        waits = sorted(node.waits or (), key=lambda wait: (wait.element, wait.spec, wait.seen))
        self._nodes.append(
            ElementInstance(
                key=new,
                element=node.element,
                scope=scope,
                phase=node.phase,
                job=self._take() if node.job else 0,
                user_task=self._take() if node.user_task else 0,
                waits=[Wait(self._take(), wait.element, wait.spec, wait.due, seen=wait.seen) for wait in waits] or None,
                arrived=_sorted_counts(node.arrived),
                body=node.body,
                loop=self._loop(node),
                loop_index=1 if node.loop_index else 0,
                compensations=_records(node.compensations),
                data=self._data(node, named=True),
            )
        )
        if node.incident:
            incident = state.incidents[node.incident]
            self._nodes[-1].incident = self._take()
            self._incidents.append(Incident(self._nodes[-1].incident, incident.kind, new, ""))
        children = state.children.get(key)
        if children:
            ordered = sorted(children, key=self._signatures.__getitem__) if len(children) > 1 else list(children)
            for child in ordered:
                self._visit(child, new)

    def _rename_references(self, node: ElementInstance) -> None:
        """Keys of other element instances that an element instance names."""
        if node.data and "compensates" in node.data:
            node.data["compensates"] = self._keys.get(node.data["compensates"], 0)
        for record in node.compensations or ():
            _rename_handlers(record, self._keys)

    def _loop(self, node: ElementInstance) -> dict[str, Any] | None:
        """The counters of a loop; the turns of a standard loop are not told apart."""
        if node.loop is None or (not node.body and self._process.definition.elements[node.element].ad_hoc is not None):
            return None
        spec = self._process.definition.elements[node.element].loop
        if spec is not None and not spec.multi_instance:
            return {"next": 1, "done": 0}
        return dict(sorted(node.loop.items()))

    def _data(self, node: ElementInstance, *, named: bool) -> dict[str, Any] | None:
        """What an element family keeps; ``named``: with the keys of others."""
        if not node.data:
            return None
        kept = {name: value for name, value in sorted(node.data.items()) if value is not None}
        if "compensates" in kept and not named:
            kept["compensates"] = self._state.nodes[kept["compensates"]].element
        return kept or None


def _text(value: object) -> str:
    """Plain data as a text that can be compared."""
    return "" if value is None else msgspec.json.encode(value, order="sorted").decode()


def _sorted_counts(arrived: Mapping[int, Mapping[int, int]] | None) -> dict[int, dict[int, int]] | None:
    if not arrived:
        return None
    return {join: dict(sorted(counts.items())) for join, counts in sorted(arrived.items())}


def _records(records: list[Compensation] | None) -> list[Compensation] | None:
    """Records of compensation without variables, the latest of each activity and state."""
    if not records:
        return None
    latest: dict[tuple[int, int, bool, str], Compensation] = {}
    for record in records:
        nested = _records(record.nested)
        key = (record.element, record.state, record.gathers, _text(nested))
        latest.pop(key, None)
        latest[key] = Compensation(record.element, None, nested, record.state, record.handler, record.gathers)
    return list(latest.values())


def _rename_handlers(record: Compensation, keys: Mapping[int, int]) -> None:
    if record.handler:
        record.handler = keys.get(record.handler, 0)
    for nested in record.nested or ():
        _rename_handlers(nested, keys)


def ends_in(node: ElementInstance) -> list[int]:
    """The end events that a token has reached in a scope."""
    return cast("list[int]", (node.data or {}).get(ENDS) or [])
