"""Fills in what a token simulator does not need and an engine does: triggers, codes, conditions, executable marks.

Every change follows one rule for its kind of gap (the corpus' README names them); no file is treated by name. A sending
or receiving element gets a message of its own; drawn message flows decide to whom it goes.
"""

from __future__ import annotations

from typing import Any

from lxml import etree

NAMESPACE = "http://www.omg.org/spec/BPMN/20100524/MODEL"
BPMN = f"{{{NAMESPACE}}}"
ZEEBE = "{http://camunda.org/schema/zeebe/1.0}"
LONG = "PT1000H"
PASSING = ("userTask", "serviceTask", "scriptTask", "businessRuleTask", "manualTask", "callActivity")
CATCHING = ("startEvent", "intermediateCatchEvent", "boundaryEvent")
THROWING = ("endEvent", "intermediateThrowEvent")

Element = Any  # lxml ships no precise types


def completed(content: bytes, wait_at: set[str], configured: dict[str, list[str]]) -> bytes:
    """The diagram as an engine wants it. ``configured``: gateways whose flows a case chooses."""
    root = etree.fromstring(content)
    model = _Model(root)
    model.make_executable()
    model.fill_messages()
    model.fill_signals()
    model.fill_codes()
    model.fill_timers_and_conditions()
    model.fill_links()
    model.fill_gateways(configured)
    model.fill_tasks(wait_at)
    model.fill_structure()
    return etree.tostring(root)


class _Model:
    """One file."""

    def __init__(self, root: Element) -> None:
        self.root = root
        drawn = [(flow.get("sourceRef"), flow.get("targetRef")) for flow in root.iter(f"{BPMN}messageFlow")]
        pools = {pool.get("id") for pool in root.iter(f"{BPMN}participant")}
        self.flows = dict(sorted(drawn, key=lambda flow: flow[1] not in pools))  # an element before a whole pool
        self.targets = {target for _, target in drawn}

    def every(self, *names: str) -> list[Element]:
        return [node for node in self.root.iter() if isinstance(node.tag, str) and self.name(node) in names]

    def name(self, node: Element) -> str:
        return node.tag.removeprefix(BPMN)

    def declare(self, tag: str, key: str, **attributes: str) -> str:
        """A root element, once. Returns its id."""
        key = "".join(letter if letter.isalnum() else "_" for letter in key)
        if not any(node.get("id") == key for node in self.every(tag)):
            self.root.insert(0, etree.Element(f"{BPMN}{tag}", id=key, **attributes))
        return key

    def make_executable(self) -> None:
        for process in self.every("process"):
            process.set("isExecutable", "true")

    def fill_messages(self) -> None:
        """Each catcher waits for its own message; a thrower sends to where its message flow leads."""
        for node in self.every(*CATCHING, "receiveTask"):
            identity = node.get("id")
            definition = node.find(f"{BPMN}messageEventDefinition")
            if self.name(node) == "startEvent" and identity in self.targets and not self.definitions(node):
                definition = etree.SubElement(node, f"{BPMN}messageEventDefinition")
            receiver = node if self.name(node) == "receiveTask" else definition
            if receiver is not None:
                receiver.set("messageRef", self.declare("message", f"message_to_{identity}", name=f"to {identity}"))
        for node in self.every(*THROWING, "sendTask"):
            definition = node.find(f"{BPMN}messageEventDefinition")
            if node.get("id") in self.flows and not self.definitions(node) and self.name(node) != "sendTask":
                definition = etree.SubElement(node, f"{BPMN}messageEventDefinition")
            sender = node if self.name(node) == "sendTask" else definition
            if sender is not None:
                self.address(node.get("id"), sender)

    def address(self, identity: str, sender: Element) -> None:
        target = self.flows.get(identity, f"nobody by {identity}")
        sender.set("messageRef", self.declare("message", f"message_to_{target}", name=f"to {target}"))

    def definitions(self, node: Element) -> list[Element]:
        return [child for child in node if isinstance(child.tag, str) and child.tag.endswith("EventDefinition")]

    def fill_signals(self) -> None:
        """Signals without a reference are one and the same."""
        for definition in self.every("signalEventDefinition"):
            if not definition.get("signalRef"):
                definition.set("signalRef", self.declare("signal", "the_nameless_signal", name="nameless"))
        for signal in self.every("signal"):
            signal.set("name", signal.get("name") or signal.get("id"))

    def fill_codes(self) -> None:
        """Throwers without a reference throw a code of their own; catchers without one catch all."""
        for kind in ("error", "escalation"):
            for definition in self.every(f"{kind}EventDefinition"):
                throws = self.name(definition.getparent()) in THROWING
                if throws and not definition.get(f"{kind}Ref"):
                    code = f"{kind}_by_{definition.getparent().get('id')}"
                    definition.set(f"{kind}Ref", self.declare(kind, code, **{f"{kind}Code": code}))
            for declared in self.every(kind):
                declared.set(f"{kind}Code", declared.get(f"{kind}Code") or declared.get("id"))

    def fill_timers_and_conditions(self) -> None:
        """Timers are far away and conditions false: the case says when they happen."""
        for definition in self.every("timerEventDefinition"):
            repeats = definition.getparent().get("cancelActivity") == "false"
            repeats = repeats or definition.getparent().get("isInterrupting") == "false"
            if len(definition) == 0:
                tag = "timeCycle" if repeats else "timeDuration"
                etree.SubElement(definition, f"{BPMN}{tag}").text = f"R/{LONG}" if repeats else LONG
        for definition in self.every("conditionalEventDefinition"):
            condition = definition.find(f"{BPMN}condition")
            if condition is None:
                condition = etree.SubElement(definition, f"{BPMN}condition")
            condition.text = "=false"

    def fill_links(self) -> None:
        for definition in self.every("linkEventDefinition"):
            definition.set("name", definition.get("name") or "the nameless link")

    def fill_gateways(self, configured: dict[str, list[str]]) -> None:
        """The flows of a configured gateway are chosen by a variable."""
        for flow in self.every("sequenceFlow"):
            if flow.get("sourceRef") in configured:
                for condition in flow.findall(f"{BPMN}conditionExpression"):
                    flow.remove(condition)
                condition = etree.SubElement(flow, f"{BPMN}conditionExpression")
                condition.text = f'=list contains(get value(chosen, "{flow.get("sourceRef")}"), "{flow.get("id")}")'
        for identity in configured:
            for gateway in self.root.iter():
                if isinstance(gateway.tag, str) and gateway.get("id") == identity:
                    gateway.attrib.pop("default", None)

    def fill_tasks(self, wait_at: set[str]) -> None:
        """Tasks pass, but where the case waits; plain tasks with message flows send or receive."""
        for node in self.every(*PASSING, "task"):
            identity = node.get("id")
            if identity in wait_at:
                node.tag = f"{BPMN}userTask"
            elif identity in self.targets:
                node.tag = f"{BPMN}receiveTask"
                node.set("messageRef", self.declare("message", f"message_to_{identity}", name=f"to {identity}"))
            elif identity in self.flows:
                node.tag = f"{BPMN}sendTask"
                self.address(identity, node)
            else:
                node.tag = f"{BPMN}task"
        for node in self.every("subProcess", "transaction", "adHocSubProcess"):
            if node.get("id") in wait_at:
                extensions = etree.Element(f"{BPMN}extensionElements")
                listeners = etree.SubElement(extensions, f"{ZEEBE}executionListeners")
                etree.SubElement(listeners, f"{ZEEBE}executionListener", eventType="start", type="wait")
                node.insert(0, extensions)

    def fill_structure(self) -> None:
        """A boundary event without trigger gets one."""
        for node in self.every("boundaryEvent"):
            if not self.definitions(node):
                definition = etree.SubElement(node, f"{BPMN}messageEventDefinition")
                identity = node.get("id")
                definition.set("messageRef", self.declare("message", f"message_to_{identity}", name=f"to {identity}"))
