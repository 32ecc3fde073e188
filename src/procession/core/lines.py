"""Straight lines: what a token does from one wait to the next where nothing has to be asked on the way. Pure.

Most steps of most processes are one: the instance starts, or a job is done, and its token goes through elements that
do not wait to the next task, or to the end, with no condition, mapping, listener or other token to look at. Which
elements those are is found out once for each version of a process; a step along such a line then emits the events that
``decide`` would give at length, in the same order and with the same keys, without asking every element what it is. What
is not known to be plain is not on a line. Whoever tests the core decides each step both ways and compares.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from procession.core import events as e
from procession.core.apply import ended, started, work_begun, work_done
from procession.core.commands import CompleteJob, StartInstance
from procession.core.state import ElementInstance, Phase, State, Status
from procession.core.waits import SHORT
from procession.ids import Keys
from procession.jobs.kinds import JobKind
from procession.model.definition import Definition, Element, Evaluable, Kind, Work
from procession.model.expressions import Static

HOPS_MAX: Final = 50  # elements that a line passes through; what goes on for longer may be an endless loop
KNOWN_MAX: Final = 1_000  # definitions whose lines are kept
RETRIES_MAX: Final = 32_767
ACTIVE, COMPLETED, AT_WORK = int(Status.ACTIVE), int(Status.COMPLETED), int(Phase.ACTIVE)
PASSED_BY: Final = frozenset(
    {
        *(Kind.START_EVENT, Kind.END_EVENT, Kind.INTERMEDIATE_THROW_EVENT, Kind.INTERMEDIATE_CATCH_EVENT),
        *(Kind.EXCLUSIVE_GATEWAY, Kind.TASK, Kind.MANUAL_TASK),
    }
)
WORKED_ON: Final = frozenset({Kind.TASK, Kind.SERVICE_TASK, Kind.SEND_TASK, Kind.SCRIPT_TASK, Kind.BUSINESS_RULE_TASK})
# What an element may have without being anything but plain. A field that is not named here has to be as by default, so
# that whatever is added to elements later keeps them off the lines until somebody thinks of it.
HARMLESS: Final = frozenset(
    {"index", "id", "kind", "name", "line", "scope", "incoming", "outgoing", "default_flow", "properties"}
)
OF_WORK: Final = frozenset({"work", "work_name", "job", "result_variable"})
OF_START: Final = frozenset({"user_task"})  # its form
OF_PROCESS: Final = frozenset({"starts", "children"})

Events = list[e.Event]
Hop = tuple[int, int]  # a flow (-1: none) and the element that it leads to


class Task(msgspec.Struct, frozen=True, gc=False):
    """The task at the end of a line."""

    flow: int
    element: int
    kind: int
    type: str
    retries: int


class Line(msgspec.Struct, frozen=True, gc=False):
    """From an element that is left to the next that waits: flows and the elements passed, then a task or the end."""

    hops: tuple[Hop, ...]
    task: Task | None
    keys: int  # that a token needs on its way: one for each element, and one for the job


class Trail(msgspec.Struct, frozen=True, gc=False):
    """What a step along a line did, for whoever makes its rows: at most one job closed, at most one opened."""

    closed: int  # the job's key; 0: none
    opened: e.JobCreated | None
    written: int  # where among the events the variables are that were set; -1: none were


class Lines:
    """The lines of one definition, found as they are needed."""

    __slots__ = ("_after", "_definition", "_start", "elements", "may_be")

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self.elements = definition.elements
        self.may_be = not (definition.has_conditions or definition.has_inclusive_joins) and is_plain(
            definition.elements[0], OF_PROCESS
        )
        self._after: dict[int, Line | None] = {}
        self._start: Line | None = None

    def of_start(self) -> Line | None:
        """The line of a new instance."""
        if -1 not in self._after:
            starts = self.elements[0].starts
            line = None
            if self.may_be and len(starts) == 1:
                start = self.elements[starts[0]]
                if start.kind == Kind.START_EVENT and is_plain(start, OF_START):
                    line = self._from(start, ((-1, start.index),))
            self._after[-1] = line
        return self._after[-1]

    def after(self, index: int) -> Line | None:
        """The line that begins when the work of an element of the process' own scope is done."""
        try:
            return self._after[index]
        except KeyError:
            element = self.elements[index]
            on_one = self.may_be and element.scope == 0 and element.kind in WORKED_ON and is_plain(element, OF_WORK)
            line = self._after[index] = self._from(element, ()) if on_one else None
            return line

    def _from(self, element: Element, before: tuple[Hop, ...]) -> Line | None:
        """Follow the only way from an element."""
        hops = list(before)
        while len(hops) < HOPS_MAX:
            if not element.outgoing:
                return Line(tuple(hops), None, len(hops))
            flow = self._definition.flows[element.outgoing[0]]
            if len(element.outgoing) > 1 or flow.condition is not None or flow.listeners:
                return None
            element = self.elements[flow.target]
            if element.scope != 0:
                return None
            if element.kind in PASSED_BY and is_plain(element):
                hops.append((flow.index, element.index))
                continue
            task = work_of(element, flow.index)
            return None if task is None else Line(tuple(hops), task, len(hops) + 2)
        return None


def is_plain(element: Element, also: frozenset[str] = frozenset()) -> bool:
    """Whether an element has nothing about it that a rule might look at."""
    fields = zip(element.__struct_fields__, DEFAULTS, strict=True)
    return all(name in HARMLESS or name in also or getattr(element, name) == default for name, default in fields)


DEFAULTS: Final = msgspec.structs.astuple(Element(index=0, id="", kind=Kind.PROCESS))


def work_of(element: Element, flow: int) -> Task | None:
    """The task at which a line ends; None if it is not plain."""
    if element.kind not in WORKED_ON or not is_plain(element, OF_WORK):
        return None
    spec = element.job
    retries = 3 if spec is None else fixed(spec.retries, int)
    if retries is None or not 1 <= retries <= RETRIES_MAX:
        return None
    if element.work == Work.METHOD:
        return Task(flow, element.index, JobKind.METHOD, element.work_name, retries)
    job_type = None if spec is None or spec.priority is not None else fixed(spec.type, str)
    if element.work != Work.JOB or job_type is None or len(job_type) > SHORT:
        return None
    return Task(flow, element.index, JobKind.SERVICE, job_type, retries)


def fixed(expression: Evaluable, kind: type) -> Any:  # noqa: ANN401 - a value of that type
    """The value that the model gives as it is; None if there is an expression, or another type of value."""
    return expression.value if type(expression) is Static and type(expression.value) is kind else None


_known: dict[int, Lines] = {}  # by the identity of a definition's elements, which they hold


def lines_of(definition: Definition) -> Lines:
    """The lines of a definition, kept from step to step."""
    lines = _known.get(id(definition.elements))
    if lines is None:
        lines = _known[id(definition.elements)] = Lines(definition)
        if len(_known) > KNOWN_MAX:
            del _known[next(iter(_known))]
    return lines


def started_along(
    definition: Definition, state: State, command: StartInstance, keys: Keys
) -> tuple[Events, Trail] | None:
    """The events of a start along a line; None, with nothing changed, where it is none."""
    if command.start or command.at or command.after or command.start_channel:
        return None
    line = lines_of(definition).of_start()
    if line is None or (line.task is None and command.parent):
        return None
    instance = command.instance
    begun = e.Started(
        instance,
        definition.key,
        command.business_id,
        command.parent,
        command.parent_element_instance,
        command.depth,
        command.start_channel,
    )
    started(state, begun)
    events: Events = [begun]
    written = -1
    if command.variables:
        written = 1
        values = dict(command.variables)
        events.append(e.VariablesSet(instance, values))
        state.variables.update(values)
    return events, Trail(0, go(line, state, instance, keys, events), written)


def completed_along(
    definition: Definition, state: State, command: CompleteJob, keys: Keys
) -> tuple[Events, Trail] | None:
    """The events of a completed job along a line; None, with nothing changed, where it is none."""
    root, nodes = state.root, state.nodes
    key = state.jobs.get(command.job, 0)
    node, scope = nodes.get(key), nodes.get(root)
    if node is None or scope is None or node.scope != root or not is_bare(state, node, scope):
        return None
    line = lines_of(definition).after(node.element)
    if line is None or command.activate or (line.task is None and (state.parent or scope.waits)):
        return None
    closed = e.JobClosed(command.job, "completed")
    left = e.Completed(key)
    work_done(state, closed, left)
    events: Events = [closed]
    written = -1
    if command.variables:
        written = 1
        values = dict(command.variables)
        events.append(e.VariablesSet(root, values))
        state.variables.update(values)
    events.append(left)
    return events, Trail(command.job, go(line, state, root, keys, events), written)


def is_bare(state: State, node: ElementInstance, scope: ElementInstance) -> bool:
    """Whether an element instance is at work and holds nothing but its job, and its process goes on as usual.

    Then no token is put off, and nothing is on its way out.
    """
    return (
        node.phase == scope.phase == AT_WORK
        and state.status == ACTIVE
        and scope.data is None
        and not (scope.incident or state.pending or state.ending)
        and node.variables is None
        and node.data is None
        and node.waits is None
        and node.loop is None
        and node.compensations is None
        and not (node.incident or node.body or node.loop_index or node.user_task or node.called)
    )


def go(line: Line, state: State, root: int, keys: Keys, events: Events) -> e.JobCreated | None:
    """Emit what happens along a line, to the task that waits at its end (its job) or to the end of the process."""
    task = line.task
    key = keys.take_row(line.keys)
    new = iter(range(key, key + line.keys) if key else keys.take_many(line.keys))
    for flow, element in line.hops:
        if flow >= 0:
            events.append(e.FlowTaken(flow, root))
        events.append(e.Passed(next(new), element, root))
    if task is not None:
        key = next(new)
        active = e.Activated(key, task.element, root, task.flow, False, 0)  # noqa: FBT003 - a positional record
        job = e.JobCreated(next(new), key, task.kind, task.type, task.retries, 0)
        work_begun(state, active, job)
        events += (e.FlowTaken(task.flow, root), active, job)
        return job
    if not (state.children.get(root) or state.nodes[root].arrived):
        over = e.Ended(COMPLETED, "")
        ended(state, over)
        events.append(over)
    return None
