"""Which elements can still send a token to a join: computed once, so that joins are decided by a mask.

For each incoming flow of an inclusive or complex join: the elements of its scope from which a token could come to that
flow by a path that avoids the join. Boundary events are reached from their host, link catches from their throws.

A path to a join outside every cycle cannot pass through it, so its masks are plain ancestor sets. Only joins inside a
cycle need a search of their own, and that only within the cycle's strongly connected component.
"""

from __future__ import annotations

from procession.limits import REACH_STEPS_MAX
from procession.model.definition import Kind
from procession.model.draft import SCOPES, ElementDraft, ProcessDraft
from procession.model.problems import Findings

JOINS = frozenset({Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})


def fill_upstream(process: ProcessDraft, findings: Findings) -> None:
    """Set `upstream` of every inclusive and complex gateway."""
    steps = 0
    for scope in process.elements:
        if scope.kind not in SCOPES:
            continue
        joins = [draft for draft in process.children(scope) if draft.kind in JOINS and draft.incoming]
        if not joins:
            continue
        graph = _Graph(process, scope)
        for join in joins:
            join.upstream = tuple(graph.mask(process.flows[flow].source, join.index) for flow in join.incoming)
        steps += graph.steps
        if steps > REACH_STEPS_MAX:
            message = f"The inclusive joins of {scope.label} need more than REACH_STEPS_MAX = {REACH_STEPS_MAX} steps"
            findings.error("TOO_MANY_JOINS", message, scope.xml, "Split the process into called processes")
            return


def predecessors(process: ProcessDraft, scope: ElementDraft) -> dict[int, list[int]]:
    """For each element of a scope, the elements that a token can come from directly."""
    found: dict[int, list[int]] = {child: [] for child in scope.children}
    for child in process.children(scope):
        found[child.index].extend(process.flows[flow].source for flow in child.incoming)
        if child.attached_to >= 0:
            found[child.index].append(child.attached_to)
        if child.link_target >= 0:
            found[child.link_target].append(child.index)
    return found


class _Graph:
    """The flows of one scope, backwards, with its components and ancestor sets."""

    def __init__(self, process: ProcessDraft, scope: ElementDraft) -> None:
        self.steps = 0
        self._before = predecessors(process, scope)
        self._component: dict[int, int] = {}
        self._members: list[list[int]] = []
        self._ancestors: list[int] = []
        for members in components(self._before):
            self._add_component(members)

    def _add_component(self, members: list[int]) -> None:
        """Components come with their predecessors first, so ancestor sets are complete when they are needed."""
        number = len(self._members)
        self._members.append(members)
        mask = 0
        for member in members:
            self._component[member] = number
            mask |= 1 << member
        for member in members:
            for before in self._before[member]:
                if self._component[before] != number:
                    mask |= self._ancestors[self._component[before]]
        self._ancestors.append(mask)

    def mask(self, source: int, join: int) -> int:
        """The elements that reach a flow from `source` without passing through the join."""
        if source == join:
            return 0
        component = self._component[source]
        if component != self._component[join]:
            return self._ancestors[component]
        mask = 1 << source
        stack = [source]
        while stack and self.steps <= REACH_STEPS_MAX:
            for before in self._before[stack.pop()]:
                self.steps += 1
                if before == join or mask >> before & 1:
                    continue
                mask |= 1 << before
                if self._component[before] == component:
                    stack.append(before)
                else:
                    mask |= self._ancestors[self._component[before]]
        return mask


def components(before: dict[int, list[int]]) -> list[list[int]]:
    """Strongly connected components, those that come before others first (Tarjan, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    found: list[list[int]] = []
    for root in before:
        if root in order:
            continue
        work: list[tuple[int, int]] = [(root, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                order[node] = low[node] = len(order)
                open_nodes.append(node)
                is_open.add(node)
            neighbours = before[node]
            while position < len(neighbours) and neighbours[position] in order:
                if neighbours[position] in is_open:
                    low[node] = min(low[node], order[neighbours[position]])
                position += 1
            if position < len(neighbours):
                work.append((node, position + 1))
                work.append((neighbours[position], 0))
                continue
            _close(node, order, low, open_nodes, is_open, found)
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
    return found


def _close(
    node: int,
    order: dict[int, int],
    low: dict[int, int],
    open_nodes: list[int],
    is_open: set[int],
    found: list[list[int]],
) -> None:
    if low[node] != order[node]:
        return
    members: list[int] = []
    while not members or members[-1] != node:
        members.append(open_nodes.pop())
        is_open.discard(members[-1])
    found.append(members)
