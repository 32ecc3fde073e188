"""Explore one process, or several together, and judge what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from procession.explorer.limits import FINDINGS_MAX
from procession.explorer.local import Local, Place, Stuck
from procession.explorer.network import Network
from procession.explorer.report import Found, Report, Verdict
from procession.explorer.search import Bounds, Graph, Seen
from procession.explorer.words import Words
from procession.explorer.world import World
from procession.model import MessageFlow
from procession.model.definition import Definition, Element, Kind, Trigger

ORDER = tuple(Verdict)


def explore(definition: Definition, bounds: Bounds | None = None, *, reduced: bool = True) -> Report:
    """Explore a process by itself: whatever it waits for may come from outside at any time, in any order.

    Deterministic: the same model and bounds give the same report. It never fails for a model that compiles.
    ``reduced`` off looks at orders that make no difference too (see ``abstraction.py``): to check that they make none.
    """
    return _Exploration(World([definition], reduced=reduced), bounds or Bounds()).report()


def explore_together(
    definitions: Sequence[Definition],
    message_flows: Iterable[MessageFlow],
    bounds: Bounds | None = None,
    *,
    network: Network = Network.BAG,
) -> Report:
    """Explore processes that message each other: elements with message flows wait for the messages of these flows.

    There is one instance of each process. One that a message flow starts begins with such a message, the others begin
    by themselves.
    """
    return _Exploration(World(definitions, message_flows, network), bounds or Bounds()).report()


class _Exploration:
    """One search and what it has seen."""

    def __init__(self, world: World, bounds: Bounds) -> None:
        self._world = world
        self._bounds = bounds
        self._graph = Graph(world)
        self._words = Words(world)
        self._active: list[set[int]] = [set() for _ in world.spaces]
        self._judged: list[set[int]] = [set() for _ in world.spaces]  # states of each process that were looked at
        self._unsafe: list[dict[Place, int]] = [{} for _ in world.spaces]  # with the situation where it was seen
        self._stuck: dict[tuple[int, Stuck], int] = {}
        self._again: dict[tuple[int, int], Seen] = {}  # end events reached again: process, element
        self._incidents: dict[tuple[int, int], tuple[Seen, str]] = {}
        self._ends_once = True

    def report(self) -> Report:
        """Search, judge, tell."""
        graph = self._graph
        graph.explore(self._bounds, self._watch, self._look)
        ends = [number for number in graph.dead_ends if self._world.is_over(graph.situations[number])]
        left = [number for number in ends if graph.situations[number][1]]
        can_end = all(graph.that_reach(iter([*ends, *graph.open])))
        findings = [
            *self._deadlocks(),
            *self._unsafe_places(),
            *self._improper_ends(),
            *self._messages_left(left),
            *self._without_end(),
            *self._dead_elements(),
            *self._problems(),
            *self._bound(),
        ]
        return Report(
            process_ids=tuple(space.process.original.process_id for space in self._world.spaces),
            findings=tuple(_shortened(findings)),
            states=len(graph.situations),
            moves=graph.moves,
            depth=max(graph.depths),
            is_complete=graph.is_complete,
            bounds=tuple(sorted(graph.reached)),
            is_safe=not any(self._unsafe),
            can_end=can_end,
            ends_once=self._ends_once,
            leaves_messages=bool(left),
        )

    # -- while searching ------------------------------------------------------------------------------------------
    def _watch(self, seen: Seen) -> None:
        step = seen.step
        self._active[step.process].update(step.outcome.active)
        for end in step.outcome.again:
            self._again.setdefault((step.process, end), seen)
        if step.outcome.again_in_process:
            self._ends_once = False
        for element, message in step.outcome.incidents:
            self._incidents.setdefault((step.process, element), (seen, message))

    def _look(self, number: int) -> None:
        for process, local in enumerate(self._world.locals(self._graph.situations[number])):
            if local.number in self._judged[process]:
                continue
            self._judged[process].add(local.number)
            for place in local.unsafe:
                self._unsafe[process].setdefault(place, number)
            for stuck in local.stuck:
                self._stuck.setdefault((process, stuck), number)

    # -- findings -------------------------------------------------------------------------------------------------
    def _deadlocks(self) -> list[Found]:
        """Scopes that can never go on, and situations in which nothing can happen at all."""
        told: set[tuple[int, int]] = set()
        found: list[Found] = []
        for (process, stuck), number in self._stuck.items():
            if (process, stuck.join) not in told:
                told.add((process, stuck.join))
                found.append(self._words.deadlock(process, stuck, self._graph.way_to(number)))
        for number in self._graph.dead_ends:
            here = self._world.locals(self._graph.situations[number])
            if any(local.stuck or local.has_incident for local in here):
                continue
            waiting = [(process, element) for process, local in enumerate(here) for element in _waiting(local)]
            new = [entry for entry in waiting if entry not in told]
            if new:
                told.update(waiting)
                found.append(self._words.waits_in_vain(new, self._graph.way_to(number)))
        return found

    def _unsafe_places(self) -> list[Found]:
        """Places with two tokens; those that only follow from another are told with it."""
        found: list[Found] = []
        for process, places in enumerate(self._unsafe):
            definition = self._world.spaces[process].process.original
            heads = [place for place in places if not any(one in places for one in _before(definition, place))]
            heads = heads or list(places)[:1]
            others = tuple(place for place in places if place not in heads)
            for place in heads:
                way = self._graph.way_to(places[place])
                found.append(self._words.unsafe(process, place, others if place is heads[0] else (), way))
        return found

    def _improper_ends(self) -> list[Found]:
        return [
            self._words.reached_again(process, end, [*self._graph.way_to(seen.source), seen.step])
            for (process, end), seen in self._again.items()
        ]

    def _messages_left(self, left: list[int]) -> list[Found]:
        told: set[int] = set()
        found: list[Found] = []
        for number in left:
            for message in dict.fromkeys(self._graph.situations[number][1]):
                if message not in told:
                    told.add(message)
                    found.append(self._words.message_left(message, self._graph.way_to(number)))
        return found

    def _without_end(self) -> list[Found]:
        """The nearest situation from which steps go on for ever: neither an end nor a deadlock can be reached."""
        graph = self._graph
        if not graph.is_complete:
            return []
        stops = graph.that_reach(iter(graph.dead_ends))
        for number, reaches in enumerate(stops):
            here = self._world.locals(graph.situations[number])
            holding = [(process, element) for process, local in enumerate(here) for element in local.holding]
            if not reaches and holding:
                is_told = any(local.stuck for local in here)
                return [] if is_told else [self._words.no_end(holding, graph.way_to(number))]
        return []

    def _dead_elements(self) -> list[Found]:
        """Elements that were never active; those behind others are told with the first."""
        if not self._graph.is_complete:
            return []
        found: list[Found] = []
        for process, space in enumerate(self._world.spaces):
            definition = space.process.original
            dead = {element.index for element in definition.elements[1:] if _can_be_active(element)}
            dead -= self._active[process]
            heads = sorted(index for index in dead if not _reasons(definition, index) & dead)
            heads = heads or sorted(dead)[:1]
            others = tuple(sorted(dead - set(heads)))
            found += [self._words.dead(process, index, others if index == heads[0] else ()) for index in heads]
        return found

    def _problems(self) -> list[Found]:
        return [
            self._words.incident(process, element, message, [*self._graph.way_to(seen.source), seen.step])
            for (process, element), (seen, message) in self._incidents.items()
        ]

    def _bound(self) -> list[Found]:
        graph = self._graph
        return [self._words.bound(name, self._bounds, len(graph.situations)) for name in sorted(graph.reached)]


def _can_be_active(element: Element) -> bool:
    """Whether a token ever is at an element: not at a compensation boundary event, which only names the handler."""
    return not any(spec.trigger == Trigger.COMPENSATION for spec in element.events if element.attached_to >= 0)


def _waiting(local: Local) -> tuple[int, ...]:
    return () if local.is_ended or not local.is_started else local.holding


def _before(definition: Definition, place: Place) -> list[Place]:
    """The places from which tokens come to a place."""
    if place.flow >= 0:
        source = definition.elements[definition.flows[place.flow].source]
        if source.kind == Kind.BOUNDARY_EVENT:
            return [Place(element=source.attached_to)]
        return [Place(element=source.index), *(Place(flow=index) for index in source.incoming)]
    element = definition.elements[place.element]
    return [*(Place(flow=index) for index in element.incoming), Place(element=element.scope)]


def _reasons(definition: Definition, index: int) -> set[int]:
    """The elements whose being dead explains that of another: what leads to it, its host, its scope."""
    element = definition.elements[index]
    found = {definition.flows[flow].source for flow in element.incoming}
    found |= {element.attached_to} if element.attached_to >= 0 else set()
    found |= {other.index for other in definition.elements if other.link_target == index}
    hosts = {other.index for other in definition.elements if other.compensation_handler == index}
    scope = {element.scope} if element.scope > 0 else set[int]()
    return (found | hosts | scope) - {index}


def _shortened(findings: list[Found]) -> list[Found]:
    """By kind, the shortest traces first, not more than FINDINGS_MAX of each."""
    kept: list[Found] = []
    for verdict in ORDER:
        same = [one for one in findings if one.verdict == verdict]
        kept += sorted(same, key=lambda one: len(one.trace))[:FINDINGS_MAX]
    return kept
