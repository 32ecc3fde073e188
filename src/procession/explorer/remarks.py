"""What a linter says about models that compile: small ones are explored, and common sense is applied to all.

Nothing here keeps a model from being deployed: data may rule out what a drawing allows, so all are warnings or less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from procession.errors import InvalidValue
from procession.explorer.explore import explore
from procession.explorer.limits import LINT_MOVES_MAX, LINT_STATES_MAX
from procession.explorer.report import Found, Verdict
from procession.explorer.search import Bounds
from procession.jobs.schedule import duration_due
from procession.model import Problem, Resource, Static
from procession.model.definition import Definition, Element, Kind, TimerKind, Trigger

UNREACHABLE: Final = "UNREACHABLE"  # the code of the model's own rule
_SEVERITIES: Final = {
    Verdict.DEADLOCK: "warning",
    Verdict.UNSAFE: "warning",
    Verdict.NO_END: "warning",
    Verdict.DEAD_ELEMENT: "warning",
    Verdict.IMPROPER_COMPLETION: "info",  # harmless for an engine that counts tokens; worth a look nevertheless
    Verdict.INCIDENT: "info",
    Verdict.BOUND: "info",
}
_CODES: Final = {Verdict.INCIDENT: "POSSIBLE_INCIDENT", Verdict.BOUND: "NOT_EXPLORED"}
_ROUTING: Final = frozenset(
    {Kind.EXCLUSIVE_GATEWAY, Kind.PARALLEL_GATEWAY, Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY}
)
NOW: Final = 0


def remarks(resource: Resource) -> list[Problem]:
    """What exploring and common sense find in a resource, by line; `resource.problems` is not repeated.

    Bounded: together the processes of a file take at most LINT_MOVES_MAX moves, well under half a second. A process
    that needs more is explored in part, and that is said.
    """
    known = {problem.element_id for problem in resource.problems if problem.code == UNREACHABLE}
    found: list[Problem] = []
    moves = LINT_MOVES_MAX
    for definition in resource.definitions:
        unreached = _unreached(definition)
        explored = _explored(definition, Bounds(states=LINT_STATES_MAX, moves=moves), known)
        moves = max(0, moves - explored[1])
        deadlocks = {problem.element_id for problem in explored[0] if problem.code == Verdict.DEADLOCK}
        told = known | {problem.element_id for problem in explored[0] if problem.code == Verdict.DEAD_ELEMENT}
        found += explored[0]
        found += _loops_apart(definition, unreached, told)
        found += _joins_that_never_fire(definition, unreached, deadlocks)
        found += _timers_at_once(definition)
        found += _gateways_without_purpose(definition)
    return sorted(found, key=lambda problem: problem.line)


def _explored(definition: Definition, bounds: Bounds, known: set[str]) -> tuple[list[Problem], int]:
    """The findings of an exploration, and how many moves it took."""
    report = explore(definition, bounds)
    deadlocks = {found.element_id for found in report.of(Verdict.DEADLOCK)}
    explained = _behind(definition, known)
    problems = [
        _problem(found)
        for found in report.findings
        if found.verdict != Verdict.DEAD_ELEMENT or found.element_id not in deadlocks | explained
    ]
    return problems, report.moves


def _problem(found: Found) -> Problem:
    way = _way(found)
    return Problem(
        severity=_SEVERITIES[found.verdict],
        code=_CODES.get(found.verdict, found.verdict.value),
        message=found.message + (f" (after {way})" if way else ""),
        element_id=found.element_id,
        line=found.line,
        suggestion=found.suggestion,
    )


def _way(found: Found) -> str:
    """The decisions that lead to a finding: what a reader needs first."""
    taken = [flow for step in found.trace for decision in step.decisions for flow in decision.flows]
    return " → ".join(taken[-6:])


def _behind(definition: Definition, known: set[str]) -> set[str]:
    """Elements that are explained by elements of which nothing leads there: all that only follow from those."""
    explained = {definition.index_of[name] for name in known if name in definition.index_of}
    if not explained:
        return set()
    unreached = _unreached(definition)
    grown = True
    while grown:
        new = {
            index
            for index in unreached - explained
            if _sources(definition, definition.elements[index]) & explained
            or definition.elements[index].scope in explained
        }
        explained |= new
        grown = bool(new)
    return {definition.elements[index].id for index in explained}


def _unreached(definition: Definition) -> set[int]:
    """Elements that no way leads to, whatever is decided."""
    elements = definition.elements
    reached = {0, *definition.start_events}
    stack = list(reached)
    while stack:
        for index in _leads_to(definition, elements[stack.pop()]):
            if index not in reached:
                reached.add(index)
                stack.append(index)
    return {element.index for element in elements} - reached


def _leads_to(definition: Definition, element: Element) -> Iterator[int]:
    """The elements that may become active because of one."""
    yield from (definition.flows[flow].target for flow in element.outgoing)
    yield from element.starts
    yield from element.boundaries
    yield from element.event_sub_processes
    yield from (
        index for index in (element.start_event, element.link_target, element.compensation_handler) if index > 0
    )


def _sources(definition: Definition, element: Element) -> set[int]:
    sources = {definition.flows[flow].source for flow in element.incoming}
    return sources | ({element.attached_to} if element.attached_to >= 0 else set())


def _loops_apart(definition: Definition, unreached: set[int], told: set[str]) -> Iterator[Problem]:
    """Elements that lead to each other, but that nothing else leads to: the first of each such group."""
    explained = _behind(definition, told)
    left = sorted(index for index in unreached if definition.elements[index].id not in explained)
    while left:
        element = definition.elements[left[0]]
        message = f"'{element.id}' is never reached: it and what leads to it have no way in"
        yield _warning(UNREACHABLE, message, element, "Lead a flow there, or remove them")
        behind = _behind(definition, {element.id})
        left = [index for index in left[1:] if definition.elements[index].id not in behind]


def _joins_that_never_fire(definition: Definition, unreached: set[int], told: set[str]) -> Iterator[Problem]:
    """Parallel joins that wait for a token from where none can come."""
    for element in definition.elements:
        if element.kind != Kind.PARALLEL_GATEWAY or len(element.incoming) < 2 or element.index in unreached:
            continue
        dry = [flow for flow in element.incoming if definition.flows[flow].source in unreached]
        if dry and element.id not in told:
            source = definition.elements[definition.flows[dry[0]].source]
            message = f"The parallel join '{element.id}' never fires: no token ever comes from '{source.id}'"
            yield _warning("JOIN_NEVER_FIRES", message, element, f"Lead a way to '{source.id}', or remove the flow")


def _timers_at_once(definition: Definition) -> Iterator[Problem]:
    """Timers that are due when they are armed: what they would interrupt has hardly begun."""
    for element in definition.elements:
        for spec in element.events:
            if spec.trigger != Trigger.TIMER or spec.timer_kind != TimerKind.DURATION:
                continue
            if isinstance(spec.timer, Static) and _takes_no_time(spec.timer):
                message = f"The timer of '{element.id}' takes no time ('{spec.timer.text}'): it fires at once"
                yield _warning("TIMER_AT_ONCE", message, element, "Write the duration that is meant, such as PT15M")


def _takes_no_time(duration: Static) -> bool:
    try:
        return duration_due(duration.value, NOW).at <= NOW
    except InvalidValue:
        return False  # too long to be counted: the element becomes an incident when it is reached


def _gateways_without_purpose(definition: Definition) -> Iterator[Problem]:
    """Gateways that neither split nor join."""
    for element in definition.elements:
        decides = any(definition.flows[flow].condition is not None for flow in element.outgoing)
        if element.kind in _ROUTING and len(element.incoming) == 1 and len(element.outgoing) == 1 and not decides:
            message = f"The gateway '{element.id}' has one way in and one way out: it does nothing"
            yield Problem(
                severity="info",
                code="GATEWAY_WITHOUT_PURPOSE",
                message=message,
                element_id=element.id,
                line=element.line,
                suggestion="Remove it, or draw the flow that is missing",
            )


def _warning(code: str, message: str, element: Element, suggestion: str) -> Problem:
    return Problem(
        severity="warning",
        code=code,
        message=message,
        element_id=element.id,
        line=element.line,
        suggestion=suggestion,
    )


def codes() -> Iterable[str]:
    """Every code that `remarks` can give."""
    explored = [_CODES.get(verdict, verdict.value) for verdict in Verdict]
    return (*explored, UNREACHABLE, "JOIN_NEVER_FIRES", "TIMER_AT_ONCE", "GATEWAY_WITHOUT_PURPOSE")
