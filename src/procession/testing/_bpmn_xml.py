"""The XML under the builder of `bpmn`: nodes, what stands in extensionElements, event definitions, the root."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast
from xml.sax.saxutils import escape, quoteattr

_ROOT = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
                  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
                  xmlns:camunda="http://camunda.org/schema/1.0/bpmn"
                  id="definitions" targetNamespace="http://procession.example/models">
"""
_TIMERS = {"date": "timeDate", "cycle": "timeCycle"}


class Node:
    """An element of the file: tag, attributes, text, children, and its extension elements."""

    def __init__(self, tag: str, attributes: Mapping[str, str] | None = None, text: str = "") -> None:
        self.tag = tag
        self.attributes = dict(attributes or {})
        self.text = text
        self.children: list[Node | str] = []
        self.extensions: list[Node | str] = []
        self.message: tuple[str, str] | None = None  # a message that it refers to: name and correlation key
        self.declares: tuple[str, str] | None = None  # a signal, error or escalation: its kind and name or code

    def add(self, child: Node | str) -> None:
        """A child element."""
        self.children.append(child)

    def extend(self, extension: Node | str) -> None:
        """A child of extensionElements."""
        self.extensions.append(extension)

    def describe(self, options: Mapping[str, object]) -> None:
        """Mappings, headers, listeners and raw parts, from a builder's options."""
        mapping = Node("zeebe:ioMapping")
        for option, tag in (("inputs", "zeebe:input"), ("outputs", "zeebe:output")):
            for target, source in pairs(options.get(option)):
                mapping.add(Node(tag, {"source": source, "target": target}))
        listeners, task_listeners = Node("zeebe:executionListeners"), Node("zeebe:taskListeners")
        for event, kind in pairs(options.get("listeners")):
            around = listeners if event in {"start", "end"} else task_listeners
            around.add(Node(around.tag.removesuffix("s"), {"eventType": event, "type": kind}))
        headers = Node("zeebe:taskHeaders")
        for key, value in pairs(options.get("headers")):
            headers.add(Node("zeebe:header", {"key": key, "value": value}))
        properties = Node("zeebe:properties")
        for name, value in pairs(options.get("properties")):
            properties.add(Node("zeebe:property", {"name": name, "value": value}))
        for node in (mapping, listeners, task_listeners, headers, properties):
            if node.children:
                self.extend(node)
        if options.get("extensions"):
            self.extend(str(options["extensions"]))
        if options.get("raw"):
            self.add(str(options["raw"]))
        loop = options.get("loop")
        if isinstance(loop, Node):
            self.add(loop)

    def lines(self, indent: str = "  ") -> list[str]:
        """The element as lines of XML."""
        written = "".join(f" {name}={quoteattr(value)}" for name, value in self.attributes.items() if value)
        children = list(self.children)
        if self.extensions:
            extensions = Node("bpmn:extensionElements")
            extensions.children = list(self.extensions)
            children.insert(0, extensions)
        if not children:
            body = f">{escape(self.text)}</{self.tag}>" if self.text else " />"
            return [f"{indent}<{self.tag}{written}{body}"]
        inner: list[str] = []
        for child in children:
            inner.extend([f"{indent}  {child}"] if isinstance(child, str) else child.lines(indent + "  "))
        return [f"{indent}<{self.tag}{written}>", *inner, f"{indent}</{self.tag}>"]


def pairs(value: object) -> list[tuple[str, str]]:
    """The entries of an option that is a mapping."""
    if not isinstance(value, Mapping):
        return []
    return [(key, str(item)) for key, item in cast("Mapping[str, object]", value).items()]


def multi_instance(
    collection: str = "",
    *,
    element: str = "",
    output: str = "",
    result: str = "",
    sequential: bool = False,
    until: str = "",
    cardinality: str = "",
) -> Node:
    """Multi-instance characteristics: over a collection (``=items``) or a number of times; ``until`` ends it early."""
    node = Node("bpmn:multiInstanceLoopCharacteristics", {"isSequential": "true" if sequential else ""})
    if collection:
        attributes = {
            "inputCollection": collection,
            "inputElement": element,
            "outputCollection": output,
            "outputElement": result,
        }
        node.extend(Node("zeebe:loopCharacteristics", attributes))
    if cardinality:
        node.add(Node("bpmn:loopCardinality", {}, cardinality))
    if until:
        node.add(Node("bpmn:completionCondition", {}, until))
    return node


def standard_loop(condition: str = "", *, test_before: bool = False, maximum: int | None = None) -> Node:
    """Standard loop characteristics: repeat while the condition holds."""
    attributes = {"testBefore": "true" if test_before else "", "loopMaximum": "" if maximum is None else str(maximum)}
    node = Node("bpmn:standardLoopCharacteristics", attributes)
    if condition:
        node.add(Node("bpmn:loopCondition", {}, condition))
    return node


def event_definitions(element: str, options: Mapping[str, object]) -> list[Node]:
    """The event definitions that the options of an event ask for, in the order given."""
    found: list[Node] = []
    for option, value in options.items():
        definition = _definition(option, str(value), options)
        if definition is not None:
            definition.attributes = {"id": f"{element}.{option}", **definition.attributes}
            found.append(definition)
    return found


def _definition(option: str, value: str, options: Mapping[str, object]) -> Node | None:
    match option:
        case "message":
            node = Node("bpmn:messageEventDefinition", {"messageRef": f"message_{value}"})
            node.message = (value, str(options.get("key", "")))
            return node
        case "signal" | "error" | "escalation":
            node = Node(f"bpmn:{option}EventDefinition", {f"{option}Ref": f"{option}_{value}" if value else ""})
            node.declares = (option, value) if value else None
            return node
        case "timer" | "date" | "cycle":
            node = Node("bpmn:timerEventDefinition")
            node.add(Node(f"bpmn:{_TIMERS.get(option) or _timer_tag(value)}", {}, value))
            return node
        case "condition":
            node = Node("bpmn:conditionalEventDefinition")
            node.add(Node("bpmn:condition", {"xsi:type": "bpmn:tFormalExpression"}, value))
            return node
        case "link":
            return Node("bpmn:linkEventDefinition", {"name": value})
        case "compensate":
            return Node("bpmn:compensateEventDefinition", {"activityRef": value})
        case "terminate" | "cancel":
            return Node(f"bpmn:{option}EventDefinition") if options[option] else None
        case _:
            return None


def _timer_tag(text: str) -> str:
    if text.startswith(("P", "=", "-P", "$")):
        return "timeDuration"
    return "timeDate" if re.match(r"\d{4}-", text) else "timeCycle"


def declarations(processes: Sequence[Node]) -> list[Node]:
    """The root elements that the processes refer to."""
    found: dict[str, Node] = {}
    stack: list[Node | str] = list(processes)
    while stack:
        node = stack.pop(0)
        if isinstance(node, str):
            continue
        stack.extend(node.children)
        if node.message is not None and node.message[0]:
            _declare_message(found, *node.message)
        if node.declares is not None:
            kind, value = node.declares
            attributes = {"id": f"{kind}_{value}", "name": value}
            if kind != "signal":
                attributes[f"{kind}Code"] = value
            found.setdefault(f"{kind}_{value}", Node(f"bpmn:{kind}", attributes))
    return list(found.values())


def _declare_message(found: dict[str, Node], name: str, key: str) -> None:
    node = found.setdefault(f"message_{name}", Node("bpmn:message", {"id": f"message_{name}", "name": name}))
    if key and not node.extensions:
        node.extend(Node("zeebe:subscription", {"correlationKey": key}))


def write(nodes: Sequence[Node], raw: str = "") -> bytes:
    """A whole file."""
    lines = [line for node in nodes for line in node.lines()]
    if raw:
        lines.append(f"  {raw}")
    return (_ROOT + "\n".join(lines) + "\n</bpmn:definitions>\n").encode()
