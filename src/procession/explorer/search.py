"""The search: every situation once, nearest first, so that the way by which one is found is a shortest one.

Bounded by states, depth and moves; what was not followed is noted. It judges nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from procession.explorer.limits import DEPTH_MAX, MOVES_MAX, STATES_MAX
from procession.explorer.world import Situation, Step, World


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How far a search goes."""

    states: int = STATES_MAX
    depth: int = DEPTH_MAX
    moves: int = MOVES_MAX


class Seen(NamedTuple):
    """A step that the search takes: from which situation, and what it is."""

    source: int
    step: Step


Watch = Callable[[Seen], None]


class Graph:
    """The situations that were found, and the steps between them. Situation 0 is the first."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.situations: list[Situation] = []
        self.depths = array("l")
        self.moves = 0
        self.reached: set[str] = set()  # names of the bounds that were reached
        self.dead_ends: list[int] = []  # situations without any step
        self.open: list[int] = []  # situations that were not followed, or not in every direction
        self._numbers: dict[Situation, int] = {}
        self._ways: list[Seen | None] = []  # the step by which each situation was found
        self._sources = array("l")  # of all steps, beside their targets
        self._targets = array("l")
        self._keep(world.initial, None, 0)

    def explore(self, bounds: Bounds, watch: Watch, found: Callable[[int], None]) -> None:
        """Search; every step is shown to ``watch`` and every new situation to ``found``."""
        found(0)
        position = 0
        while position < len(self.situations):
            if self.moves >= bounds.moves:
                self.reached.add("MOVES_MAX")
                self.open += range(position, len(self.situations))
                return
            self._expand(position, bounds, watch, found)
            position += 1

    def _expand(self, position: int, bounds: Bounds, watch: Watch, found: Callable[[int], None]) -> None:
        """Take every step that leads out of a situation."""
        situation = self.situations[position]
        if self.world.is_crowded(situation):
            self._leave_open(position, "TOKENS_MAX")
            return
        depth = self.depths[position] + 1
        if depth > bounds.depth:
            self._leave_open(position, "DEPTH_MAX")
            return
        goes_on = False
        for step in self.world.steps(situation):
            goes_on = True
            self.moves += 1
            seen = Seen(position, step)
            if step.outcome.is_cut:
                self._leave_open(position, "OUTCOMES_MAX")
            watch(seen)
            number = self._numbers.get(step.target, -1)
            if number < 0:
                if len(self.situations) >= bounds.states:
                    self._leave_open(position, "STATES_MAX")
                    continue
                number = self._keep(step.target, seen, depth)
                found(number)
            self._sources.append(position)
            self._targets.append(number)
        if not goes_on:
            self.dead_ends.append(position)

    def _leave_open(self, position: int, bound: str) -> None:
        self.reached.add(bound)
        self.open.append(position)

    def _keep(self, situation: Situation, way: Seen | None, depth: int) -> int:
        number = self._numbers[situation] = len(self.situations)
        self.situations.append(situation)
        self.depths.append(depth)
        self._ways.append(way)
        return number

    @property
    def is_complete(self) -> bool:
        """Whether nothing was left out."""
        return not self.reached

    def way_to(self, number: int) -> list[Step]:
        """The shortest way to a situation."""
        steps: list[Step] = []
        way = self._ways[number]
        while way is not None:
            steps.append(way.step)
            way = self._ways[way.source]
        return steps[::-1]

    def that_reach(self, goals: Iterator[int]) -> bytearray:
        """For each situation, 1 if a way leads from it to one of the goals."""
        marked = bytearray(len(self.situations))
        sources: list[list[int]] = [[] for _ in self.situations]
        for source, target in zip(self._sources, self._targets, strict=True):
            sources[target].append(source)
        stack = list(goals)
        for number in stack:
            marked[number] = 1
        while stack:
            for source in sources[stack.pop()]:
                if not marked[source]:
                    marked[source] = 1
                    stack.append(source)
        return marked
