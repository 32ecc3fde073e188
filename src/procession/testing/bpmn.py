"""Write BPMN models in Python: a fluent builder for tests. It draws no diagram and checks no rule.

    content = (
        process("order")
        .start()
        .service("pay", type="charge-card", retries=5, inputs={"amount": "=total * 1.19"})
        .exclusive("paid?")
        .when("=paid").end("done")
        .at("paid?").otherwise().user("call customer").end("open")
        .boundary("too late", on="pay", timer="PT1H").end("expired")
        .xml()
    )

Every element method adds an element, connects it with the element before, and goes on from there. ``at`` goes back to
an element, ``to`` connects with one that exists or will, ``when`` and ``otherwise`` say something about the next flow.
Sub-processes open a scope (``sub_process``, ``event_sub_process``, ...) that ``done`` closes. Ids are free texts as
long as they have no blanks; flows are called ``<source>_<target>``. Expressions are written as in Camunda 8: ``=...``
is FEEL, the rest is static. Any attribute or extension can be added: ``attributes={"camunda:asyncBefore": "true"}``,
``extensions="<zeebe:.../>"``, ``raw="<bpmn:.../>"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self, TypedDict, Unpack

from procession.testing._bpmn_xml import Node, declarations, event_definitions, multi_instance, standard_loop, write

__all__ = ["ElementOptions", "EventOptions", "ProcessBuilder", "multi_instance", "process", "resource", "standard_loop"]


class ElementOptions(TypedDict, total=False):
    """What every element may be given."""

    name: str
    inputs: Mapping[str, str]  # target: source
    outputs: Mapping[str, str]
    loop: Node  # made by multi_instance() or standard_loop()
    headers: Mapping[str, str]
    properties: Mapping[str, str]
    listeners: Mapping[str, str]  # event type: job type, e.g. {"start": "audit"}
    attributes: Mapping[str, str]
    extensions: str  # XML to stand in extensionElements
    raw: str  # XML to stand in the element


class EventOptions(ElementOptions, total=False):
    """What an event waits for or throws; several of them make a multiple event, in the order given."""

    message: str
    key: str  # the message's correlation key
    signal: str
    timer: str  # PT10S, R3/PT10S, a date, a cron expression; an expression (=...) is a duration
    date: str
    cycle: str
    error: str  # "" catches every code
    escalation: str
    condition: str
    link: str
    compensate: str  # an activity's id, "" for the whole scope
    terminate: bool
    cancel: bool
    parallel_multiple: bool


def process(id: str, *, name: str = "", executable: bool | None = True, version_tag: str = "") -> ProcessBuilder:  # noqa: A002 - BPMN's word
    """Begin a process. ``executable=None`` leaves the attribute out."""
    return ProcessBuilder(id, name=name, executable=executable, version_tag=version_tag)


def resource(*processes: ProcessBuilder, raw: str = "") -> bytes:
    """One file of several processes; ``raw`` is XML to stand at the root."""
    roots = declarations([builder.node for builder in processes])
    return write([*roots, *(builder.node for builder in processes)], raw)


class ProcessBuilder:
    """A process that is being written. ``node`` is its XML."""

    def __init__(self, id: str, *, name: str, executable: bool | None, version_tag: str) -> None:  # noqa: A002
        attributes = {"id": id, "name": name}
        if executable is not None:
            attributes["isExecutable"] = "true" if executable else "false"
        self.node = Node("bpmn:process", attributes)
        if version_tag:
            self.node.extend(f'<zeebe:versionTag value="{version_tag}" />')
        self._scopes: list[Node] = [self.node]
        self._cursor = ""
        self._ids: dict[str, Node] = {id: self.node}
        self._flows: dict[str, Node] = {}
        self._condition = ""
        self._is_default = False
        self._flow_id = ""

    # -- the way ------------------------------------------------------------------------------------------------------

    def at(self, id: str) -> Self:  # noqa: A002
        """Go on from an element that exists."""
        if id not in self._ids:
            message = f"There is no element '{id}' to go on from"
            raise ValueError(message)
        self._cursor = id
        return self

    def apart(self) -> Self:
        """The next element is connected with nothing."""
        self._cursor = ""
        return self

    def to(self, id: str) -> Self:  # noqa: A002
        """Connect with an element that exists or will be added."""
        self._connect(id)
        return self

    def when(self, condition: str, *, id: str = "") -> Self:  # noqa: A002
        """The next flow has this condition (``=...``)."""
        self._condition, self._flow_id = condition, id
        return self

    def otherwise(self, *, id: str = "") -> Self:  # noqa: A002
        """The next flow is the default flow of the element that it leaves."""
        self._is_default, self._flow_id = True, id
        return self

    def flow(self, id: str) -> Self:  # noqa: A002
        """The next flow has this id."""
        self._flow_id = id
        return self

    # -- events -------------------------------------------------------------------------------------------------------

    def start(self, id: str = "", *, interrupting: bool = True, **options: Unpack[EventOptions]) -> Self:  # noqa: A002
        """A start event. In an event sub-process it has a trigger and may be non-interrupting."""
        attributes = {} if interrupting else {"isInterrupting": "false"}
        self._cursor = ""
        return self._event("startEvent", id or self._free_id("start"), attributes, options)

    def end(self, id: str = "", **options: Unpack[EventOptions]) -> Self:  # noqa: A002
        """An end event."""
        return self._event("endEvent", id or self._free_id("end"), {}, options)

    def catch(self, id: str, **options: Unpack[EventOptions]) -> Self:  # noqa: A002
        """An intermediate catch event."""
        if "link" in options:
            self._cursor = ""  # nothing flows into a link catch
        return self._event("intermediateCatchEvent", id, {}, options)

    def throw(self, id: str, *, type: str = "", **options: Unpack[EventOptions]) -> Self:  # noqa: A002
        """An intermediate throw event; with a ``type`` a job does it."""
        self._event("intermediateThrowEvent", id, {}, options)
        if type:
            self._ids[id].extend(f'<zeebe:taskDefinition type="{type}" />')
        return self

    def boundary(self, id: str, *, on: str, interrupting: bool = True, **options: Unpack[EventOptions]) -> Self:  # noqa: A002
        """A boundary event of the activity ``on``; the way goes on from it."""
        attributes = {"attachedToRef": on, "cancelActivity": "true" if interrupting else "false"}
        self._cursor = ""
        return self._event("boundaryEvent", id, attributes, options)

    def compensation(self, id: str, *, on: str, type: str = "", **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A compensation handler of the activity ``on``, with its boundary event; the way goes on from ``on``.

        With a ``type`` the handler is a service task, else a task.
        """
        boundary = f"compensate_{on}"
        self.boundary(boundary, on=on, compensate="")
        self._cursor = ""
        self._add("serviceTask" if type else "task", id, {"isForCompensation": "true"}, options)
        if type:
            self._ids[id].extend(f'<zeebe:taskDefinition type="{type}" />')
        association = {"id": f"{boundary}_{id}", "sourceRef": boundary, "targetRef": id, "associationDirection": "One"}
        self._scopes[-1].add(Node("bpmn:association", association))
        self._cursor = on
        return self

    # -- activities ---------------------------------------------------------------------------------------------------

    def task(self, id: str, **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A task without a type: passes, or is a method where the application binds one to its id."""
        return self._add("task", id, {}, options)

    def manual(self, id: str, **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A manual task."""
        return self._add("manualTask", id, {}, options)

    def service(self, id: str, *, type: str = "", retries: int | str = "", **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A service task whose job has this type, by default its id."""
        self._add("serviceTask", id, {}, options)
        self._ids[id].extend(_task_definition(type or id, retries))
        return self

    def send(self, id: str, *, type: str = "", message: str = "", **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A send task: a job with this type, or a message that the engine publishes."""
        self._add("sendTask", id, {"messageRef": f"message_{message}"} if message else {}, options)
        self._ids[id].message = (message, "")
        if type:
            self._ids[id].extend(_task_definition(type, ""))
        return self

    def user(
        self,
        id: str,  # noqa: A002
        *,
        assignee: str = "",
        candidate_groups: str = "",
        due_date: str = "",
        form_id: str = "",
        **options: Unpack[ElementOptions],
    ) -> Self:
        """A native user task."""
        self._add("userTask", id, {}, options)
        node = self._ids[id]
        node.extend("<zeebe:userTask />")
        if assignee or candidate_groups:
            node.extend(Node("zeebe:assignmentDefinition", {"assignee": assignee, "candidateGroups": candidate_groups}))
        if due_date:
            node.extend(Node("zeebe:taskSchedule", {"dueDate": due_date}))
        if form_id:
            node.extend(Node("zeebe:formDefinition", {"formId": form_id}))
        return self

    def script(self, id: str, expression: str, *, result: str = "result", **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A script task that evaluates FEEL into a variable."""
        self._add("scriptTask", id, {}, options)
        text = expression if expression.startswith("=") else f"={expression}"
        self._ids[id].extend(Node("zeebe:script", {"expression": text, "resultVariable": result}))
        return self

    def receive(
        self,
        id: str,  # noqa: A002
        *,
        message: str,
        key: str = "",
        instantiate: bool = False,
        **options: Unpack[ElementOptions],
    ) -> Self:
        """A receive task; with ``instantiate`` it starts the process."""
        if instantiate:
            self._cursor = ""
        attributes = {"messageRef": f"message_{message}", **({"instantiate": "true"} if instantiate else {})}
        self._add("receiveTask", id, attributes, options)
        self._ids[id].message = (message, key)
        return self

    def rule(self, id: str, *, decision: str, result: str = "result", **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A business rule task that evaluates a decision into a variable."""
        self._add("businessRuleTask", id, {}, options)
        self._ids[id].extend(Node("zeebe:calledDecision", {"decisionId": decision, "resultVariable": result}))
        return self

    def call(
        self,
        id: str,  # noqa: A002
        *,
        process: str,
        propagate_parent: bool | None = None,
        propagate_child: bool | None = None,
        binding: str = "",
        version_tag: str = "",
        **options: Unpack[ElementOptions],
    ) -> Self:
        """A call activity."""
        attributes = {"processId": process, "bindingType": binding, "versionTag": version_tag}
        if propagate_parent is not None:
            attributes["propagateAllParentVariables"] = str(propagate_parent).lower()
        if propagate_child is not None:
            attributes["propagateAllChildVariables"] = str(propagate_child).lower()
        self._add("callActivity", id, {}, options)
        self._ids[id].extend(Node("zeebe:calledElement", attributes))
        return self

    # -- gateways -----------------------------------------------------------------------------------------------------

    def exclusive(self, id: str, **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """An exclusive gateway."""
        return self._add("exclusiveGateway", id, {}, options)

    def parallel(self, id: str, **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A parallel gateway."""
        return self._add("parallelGateway", id, {}, options)

    def inclusive(self, id: str, **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """An inclusive gateway."""
        return self._add("inclusiveGateway", id, {}, options)

    def complex(self, id: str, *, activation: str = "", **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """A complex gateway; ``activation`` is its activation condition."""
        self._add("complexGateway", id, {}, options)
        if activation:
            self._ids[id].add(Node("bpmn:activationCondition", {}, activation))
        return self

    def events(
        self,
        id: str,  # noqa: A002
        *,
        instantiate: bool = False,
        type: Literal["Exclusive", "Parallel"] = "Exclusive",  # noqa: A002 - BPMN calls it eventGatewayType
        **options: Unpack[ElementOptions],
    ) -> Self:
        """An event-based gateway."""
        attributes = {"instantiate": "true" if instantiate else "", "eventGatewayType": type}
        if instantiate:
            self._cursor = ""
        return self._add("eventBasedGateway", id, attributes, options)

    # -- scopes -------------------------------------------------------------------------------------------------------

    def sub_process(self, id: str, **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """Open an embedded sub-process; close it with ``done``."""
        return self._open("subProcess", id, {}, options)

    def transaction(self, id: str, **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """Open a transaction; close it with ``done``."""
        return self._open("transaction", id, {}, options)

    def event_sub_process(self, id: str, **options: Unpack[ElementOptions]) -> Self:  # noqa: A002
        """Open an event sub-process of the scope that is open; nothing connects with it."""
        self._cursor = ""
        return self._open("subProcess", id, {"triggeredByEvent": "true"}, options)

    def ad_hoc(
        self,
        id: str,  # noqa: A002
        *,
        active: str = "",
        completion: str = "",
        sequential: bool = False,
        cancel_remaining: bool = True,
        **options: Unpack[ElementOptions],
    ) -> Self:
        """Open an ad-hoc sub-process; ``active`` lists the ids to start, ``completion`` ends it."""
        attributes = {"ordering": "Sequential" if sequential else "Parallel"}
        if not cancel_remaining:
            attributes["cancelRemainingInstances"] = "false"
        self._open("adHocSubProcess", id, attributes, options)
        if active:
            self._ids[id].extend(Node("zeebe:adHoc", {"activeElementsCollection": active}))
        if completion:
            self._ids[id].add(Node("bpmn:completionCondition", {}, completion))
        return self

    def done(self) -> Self:
        """Close the scope that is open and go on from it (not from an event sub-process)."""
        if len(self._scopes) == 1:
            message = "No sub-process is open"
            raise ValueError(message)
        closed = self._scopes.pop()
        self._cursor = "" if closed.attributes.get("triggeredByEvent") else closed.attributes["id"]
        return self

    # -- results ------------------------------------------------------------------------------------------------------

    def xml(self) -> bytes:
        """The file with this process alone."""
        return resource(self)

    def text(self) -> str:
        """The same as text."""
        return self.xml().decode()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _event(self, tag: str, id: str, attributes: dict[str, str], options: EventOptions) -> Self:  # noqa: A002
        if options.get("parallel_multiple"):
            attributes["parallelMultiple"] = "true"
        self._add(tag, id, attributes, options)
        node = self._ids[id]
        for definition in event_definitions(id, options):
            node.add(definition)
        return self

    def _open(self, tag: str, id: str, attributes: dict[str, str], options: ElementOptions) -> Self:  # noqa: A002
        self._add(tag, id, attributes, options)
        self._scopes.append(self._ids[id])
        self._cursor = ""
        return self

    def _add(self, tag: str, id: str, attributes: dict[str, str], options: ElementOptions) -> Self:  # noqa: A002
        if id in self._ids:
            message = f"There is already an element '{id}'"
            raise ValueError(message)
        all_attributes = {"id": id, "name": options.get("name", ""), **attributes, **options.get("attributes", {})}
        node = Node(f"bpmn:{tag}", all_attributes)
        node.describe(options)
        self._ids[id] = node
        self._scopes[-1].add(node)
        if self._cursor:
            self._connect(id)
        self._cursor = id
        return self

    def _connect(self, target: str) -> None:
        source = self._cursor
        flow_id = self._flow_id or f"{source}_{target}"
        while flow_id in self._flows:
            flow_id += "+"
        flow = Node("bpmn:sequenceFlow", {"id": flow_id, "sourceRef": source, "targetRef": target})
        if self._condition:
            flow.add(Node("bpmn:conditionExpression", {"xsi:type": "bpmn:tFormalExpression"}, self._condition))
        if self._is_default:
            self._ids[source].attributes["default"] = flow_id
        self._flows[flow_id] = flow
        self._scopes[-1].add(flow)
        self._condition, self._is_default, self._flow_id = "", False, ""

    def _free_id(self, word: str) -> str:
        number = 1
        while (candidate := word if number == 1 else f"{word}{number}") in self._ids:
            number += 1
        return candidate


def _task_definition(type: str, retries: int | str) -> Node:  # noqa: A002
    return Node("zeebe:taskDefinition", {"type": type, "retries": str(retries)})
