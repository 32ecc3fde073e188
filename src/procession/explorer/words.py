"""Findings and traces in words: which element, in which line, what happens, what to do. It decides nothing."""

from __future__ import annotations

from typing import assert_never

from procession.explorer.choices import Choice
from procession.explorer.local import Place, Stuck
from procession.explorer.moves import Act
from procession.explorer.report import Decision, Found, TraceStep, Verdict
from procession.explorer.search import Bounds
from procession.explorer.world import Step, World
from procession.model.definition import Definition, Element, Flow, Kind, Trigger

NAMES_MAX = 5  # of elements in one sentence
_ACTIONS = {
    Act.START: "start",
    Act.GO: "enter",
    Act.COMPLETE: "complete",
    Act.THROW: "throw",
    Act.HAPPEN: "happen",
    Act.RECEIVE: "receive",
}


class Words:
    """Tells what a world's numbers mean."""

    def __init__(self, world: World) -> None:
        self._world = world

    def deadlock(self, process: int, stuck: Stuck, way: list[Step]) -> Found:
        """A join whose tokens can never go on."""
        definition = self._definition(process)
        join = definition.elements[stuck.join]
        missing = _listed([_flow(definition, definition.flows[index]) for index in stuck.missing])
        by = f" by {missing}" if missing else ""
        message = f"{_label(join)} can wait for ever: no further token can come{by}"
        if join.kind == Kind.PARALLEL_GATEWAY:
            suggestion = "Join with the kind of gateway that split: exclusive with exclusive, inclusive with inclusive"
        else:
            suggestion = "See that a token comes by each of these flows"
        return self._found(Verdict.DEADLOCK, process, join, message, suggestion, way)

    def waits_in_vain(self, waiting: list[tuple[int, int]], way: list[Step]) -> Found:
        """Nothing can happen any more in any of the processes, and not all are over."""
        process, index = waiting[0]
        element = self._element(process, index)
        names = _listed([f"'{self._element(*entry).id}'" for entry in waiting])
        message = f"Nothing can happen any more: {names} still hold{'s' if len(waiting) == 1 else ''} a token"
        suggestion = "See that what is waited for is sent on every way, or give the wait another way out"
        return self._found(Verdict.DEADLOCK, process, element, message, suggestion, way)

    def unsafe(self, process: int, place: Place, others: tuple[Place, ...], way: list[Step]) -> Found:
        """Two tokens in one place."""
        definition = self._definition(process)
        also = tuple(
            definition.flows[one.flow].id if one.flow >= 0 else definition.elements[one.element].id for one in others
        )
        suggestion = "Join the ways before with a parallel or inclusive gateway, or let only one of them lead here"
        if place.flow >= 0:
            flow = definition.flows[place.flow]
            message = f"Two tokens can be on {_flow(definition, flow)} at the same time: what follows runs twice"
            return Found(
                verdict=Verdict.UNSAFE,
                process_id=definition.process_id,
                element_id=flow.id,
                line=flow.line,
                message=message,
                suggestion=suggestion,
                trace=self.trace(way),
                also=also,
            )
        element = definition.elements[place.element]
        message = f"{_label(element)} can be active twice at the same time: what follows runs twice"
        return self._found(Verdict.UNSAFE, process, element, message, suggestion, way, also)

    def reached_again(self, process: int, end: int, way: list[Step]) -> Found:
        """An end event that a second token reaches."""
        element = self._element(process, end)
        message = f"{_label(element)} can be reached again while the same instance is still running or just ending"
        suggestion = "Join the ways before the end, or give each way an end event of its own"
        return self._found(Verdict.IMPROPER_COMPLETION, process, element, message, suggestion, way)

    def message_left(self, number: int, way: list[Step]) -> Found:
        """A message that nobody receives."""
        link = self._world.links[number]
        element = self._element(link.sender, link.source)
        message = f"All processes can end while a message of '{link.id}', sent by '{element.id}', is still waiting"
        suggestion = "Receive it on every way, or do not send it where nobody waits"
        return self._found(Verdict.IMPROPER_COMPLETION, link.sender, element, message, suggestion, way)

    def no_end(self, holding: list[tuple[int, int]], way: list[Step]) -> Found:
        """A situation from which steps go on for ever."""
        process, index = holding[0] if holding else (0, 0)
        element = self._element(process, index)
        names = _listed([f"'{self._element(*entry).id}'" for entry in holding])
        message = f"From here on the process can go on for ever, but never end: what {names} leads to leads back"
        return self._found(Verdict.NO_END, process, element, message, "Give the loop a way out", way)

    def dead(self, process: int, index: int, others: tuple[int, ...]) -> Found:
        """An element that is never active."""
        definition = self._definition(process)
        element = definition.elements[index]
        also = tuple(definition.elements[other].id for other in others)
        more = ", nor is what lies only behind it" if also else ""
        message = f"{_label(element)} is never active, whatever happens{more}"
        return self._found(Verdict.DEAD_ELEMENT, process, element, message, _why_dead(definition, element), [], also)

    def incident(self, process: int, index: int, message: str, way: list[Step]) -> Found:
        """Something in the model stops a token."""
        element = self._element(process, index)
        catch = "Catch it with a boundary event, an event sub-process, or around the call of this process"
        suggestion = catch if "No event catches" in message else "Correct the model there"
        return self._found(Verdict.INCIDENT, process, element, message, suggestion, way)

    def bound(self, name: str, bounds: Bounds, states: int) -> Found:
        """A bound that was reached."""
        limits = {"STATES_MAX": bounds.states, "DEPTH_MAX": bounds.depth, "MOVES_MAX": bounds.moves}
        limit = f"{name} = {limits[name]}" if name in limits else name
        message = f"The exploration stopped at {limit} after {states} states: there may be more to find"
        definition = self._definition(0)
        return Found(
            verdict=Verdict.BOUND,
            process_id=definition.process_id,
            element_id=definition.process_id,
            line=definition.line,
            message=message,
            suggestion="Allow more states, or look at a part of the process alone",
        )

    # -- traces -----------------------------------------------------------------------------------------------------
    def trace(self, way: list[Step]) -> tuple[TraceStep, ...]:
        """A way as steps with names."""
        return tuple(self._step(step) for step in way)

    def _step(self, step: Step) -> TraceStep:
        definition = self._definition(step.process)
        index = step.move.element
        active = [one for one in step.outcome.active if one != index]
        if step.move.act == Act.START and index == 0:
            index = max(definition.none_start, 0)
            active = [one for one in active if one != index]
        element = definition.elements[index]
        decisions = [self._decision(definition, choice) for choice in step.outcome.made]
        decisions += [
            Decision(
                element_id=definition.elements[choice.element].id,
                flows=tuple(self._world.links[number].id for number in choice.flows),
                answer="sends",
            )
            for choice in step.sent
        ]
        return TraceStep(
            process_id=definition.process_id,
            action=_ACTIONS[step.move.act],
            element_id=element.id,
            name=element.name,
            detail=self._detail(step, element),
            decisions=tuple(decisions),
            active=tuple(definition.elements[one].id for one in active),
        )

    def _decision(self, definition: Definition, choice: Choice) -> Decision:
        element = definition.elements[choice.element]
        flows = choice.flows
        if not flows and not choice.answer and element.default_flow >= 0:
            flows = (element.default_flow,)
        return Decision(
            element_id=element.id, flows=tuple(definition.flows[flow].id for flow in flows), answer=choice.answer
        )

    def _detail(self, step: Step, element: Element) -> str:
        match step.move.act:
            case Act.THROW:
                return step.move.code
            case Act.RECEIVE:
                return self._world.links[step.received].id
            case Act.HAPPEN:
                triggers = dict.fromkeys(spec.trigger for spec in element.events if spec.trigger != Trigger.NONE)
                return " or ".join(trigger.name.lower() for trigger in triggers)
            case Act.GO:
                definition = self._definition(step.process)
                return definition.flows[step.move.flow].id if step.move.flow >= 0 else ""
            case Act.START | Act.COMPLETE:
                return ""
            case _:
                assert_never(step.move.act)

    # -- helpers ----------------------------------------------------------------------------------------------------
    def _definition(self, process: int) -> Definition:
        return self._world.spaces[process].process.original

    def _element(self, process: int, index: int) -> Element:
        return self._definition(process).elements[index]

    def _found(
        self,
        verdict: Verdict,
        process: int,
        element: Element,
        message: str,
        suggestion: str,
        way: list[Step],
        also: tuple[str, ...] = (),
    ) -> Found:
        return Found(
            verdict=verdict,
            process_id=self._definition(process).process_id,
            element_id=element.id,
            line=element.line,
            message=message,
            suggestion=suggestion,
            trace=self.trace(way),
            also=also,
        )


def _label(element: Element) -> str:
    """An element, as a sentence begins with it."""
    kind = element.kind.name.replace("_", " ").capitalize()
    name = " ".join(element.name.split())
    return f"{kind} '{name}' ({element.id})" if name and name != element.id else f"{kind} '{element.id}'"


def _flow(definition: Definition, flow: Flow) -> str:
    """A flow in a sentence."""
    source, target = definition.elements[flow.source], definition.elements[flow.target]
    return f"the flow '{flow.id}' from '{source.name or source.id}' to '{target.name or target.id}'"


def _listed(names: list[str]) -> str:
    """Some names, and how many more there are."""
    shown = ", ".join(names[:NAMES_MAX])
    return f"{shown} and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else shown


def _why_dead(definition: Definition, element: Element) -> str:
    """What to do about an element that is never active."""
    if element.kind == Kind.BOUNDARY_EVENT:
        host = definition.elements[element.attached_to]
        return f"'{host.id}' never waits, or nothing within throws what the event catches: remove one of them"
    if element.kind == Kind.PARALLEL_GATEWAY and len(element.incoming) > 1:
        return "A token never comes by all of its flows: use an exclusive or inclusive gateway"
    return "Lead a way here, or remove it"
