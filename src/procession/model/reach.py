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
    search = _Tarjan(before)
    for root in before:
        if root not in search.order:
            search.visit(root)
    return search.found


class _Tarjan:
    """The state of the search: order of discovery, lowest node reached, nodes whose component is still open."""

    def __init__(self, before: dict[int, list[int]]) -> None:
        self.order: dict[int, int] = {}
        self.found: list[list[int]] = []
        self._before = before
        self._low: dict[int, int] = {}
        self._open: list[int] = []
        self._is_open: set[int] = set()

    def visit(self, root: int) -> None:
        """Find every component that reaches this node and was not found yet."""
        work: list[tuple[int, int]] = [(root, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                self._enter(node)
            position = self._skip_known(node, position)
            if position < len(self._before[node]):
                work.append((node, position + 1))
                work.append((self._before[node][position], 0))
                continue
            self._leave(node)
            if work:
                parent = work[-1][0]
                self._low[parent] = min(self._low[parent], self._low[node])

    def _enter(self, node: int) -> None:
        self.order[node] = self._low[node] = len(self.order)
        self._open.append(node)
        self._is_open.add(node)

    def _skip_known(self, node: int, position: int) -> int:
        neighbours = self._before[node]
        while position < len(neighbours) and neighbours[position] in self.order:
            if neighbours[position] in self._is_open:
                self._low[node] = min(self._low[node], self.order[neighbours[position]])
            position += 1
        return position

    def _leave(self, node: int) -> None:
        if self._low[node] != self.order[node]:
            return
        members: list[int] = []
        while not members or members[-1] != node:
            members.append(self._open.pop())
            self._is_open.discard(members[-1])
        self.found.append(members)
