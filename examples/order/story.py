"""What happened to one order, for people: the engine's history and the world's answers on one line of time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from shop import Call

from procession.app.views import HistoryEvent

SYMBOLS = {"startEvent": "○", "endEvent": "●", "subProcess": "▣", "exclusiveGateway": "◇"}
BOUNDARIES = {"timerEventDefinition": "◷", "errorEventDefinition": "↯"}
TASK = "▭"
HOW = {"task": "a method, within the step", "receiveTask": "a message", "userTask": "a person", "serviceTask": "a job"}
# Which job asks the world for what, as its books call it.
ASKS = {
    "charge-card": "charge",
    "refund-card": "refund",
    "ask-warehouse": "ask",
    "ship-order": "ship",
    "notify-customer": "notify",
    "remind-warehouse": "remind warehouse",
    "remind-managers": "remind managers",
}


@dataclass
class Element:
    """What the diagram says about an element."""

    name: str
    kind: str
    depth: int  # sub-processes around it, and one more on a way that runs beside the main one
    symbol: str  # as BPMN draws it, nearly


@dataclass
class Line:
    """One thing that happened."""

    at: float  # seconds since the order was received
    element_id: str
    depth: int
    symbol: str
    text: str
    note: str = ""
    took: float | None = None  # seconds; None while it lasts, and for what takes no time


class Diagram:
    """The elements of a BPMN file, by id."""

    def __init__(self, path: Path) -> None:
        self.elements: dict[str, Element] = {}
        self._flows: dict[str, list[str]] = {}
        process = etree.parse(path).find("{*}process")
        assert process is not None
        self._read(process, 0)
        for boundary in process.iter("{*}boundaryEvent"):
            if boundary.get("cancelActivity") == "false":
                self._move_aside(boundary.get("id", ""))

    def _read(self, scope: etree._Element, depth: int) -> None:
        """The elements directly within a scope, and below."""
        for child in scope.iterchildren("{*}*"):
            kind = etree.QName(child).localname
            if kind == "sequenceFlow":
                self._flows.setdefault(child.get("sourceRef", ""), []).append(child.get("targetRef", ""))
            elif child.get("id") and "EventDefinition" not in kind:
                symbol = SYMBOLS.get(kind) or _boundary(child) or TASK
                self.elements[child.get("id", "")] = Element(child.get("name", ""), kind, depth, symbol)
                if kind == "subProcess":
                    self._read(child, depth + 1)

    def _move_aside(self, start: str) -> None:
        """What follows a non-interrupting event runs beside the rest."""
        todo = [start]
        while todo:
            element_id = todo.pop()
            self.elements[element_id].depth += 1
            todo += self._flows.get(element_id, [])


def tell(diagram: Diagram, history: Sequence[HistoryEvent], calls: Sequence[Call]) -> list[Line]:
    """The lines of an order's story, in order of time; what the world answered stands under its task."""
    lines: list[Line] = []
    active: dict[int, Line] = {}
    start = history[0].at.timestamp()
    for event in history:
        at = event.at.timestamp() - start
        element = diagram.elements.get(event.element_id)
        if event.event in {"activated", "passed"} and element is not None and element.name:
            note = HOW.get(element.kind, "")
            line = Line(at, event.element_id, element.depth, element.symbol, element.name, note)
            lines.append(line)
            if event.event == "activated":
                active[event.details["key"]] = line
        elif event.event in {"completed", "terminated"} and event.details["key"] in active:
            line = active.pop(event.details["key"])
            line.took = at - line.at
            if event.event == "terminated":
                line.note += ", interrupted"
    for call in calls:
        _add_call(lines, call, call.at - start)
    return lines


def trail(lines: Sequence[Line]) -> str:
    """The story in one line: a symbol for every element that was entered, a cross for every failed attempt."""
    return "".join(line.symbol for line in lines if line.symbol != "✓")


def where(diagram: Diagram, element_ids: Sequence[str]) -> str:
    """Names of elements; a sub-process that contains another of them is left out."""
    found = [diagram.elements[element_id] for element_id in element_ids]
    inner = [element for element in found if element.kind != "subProcess"]
    return " + ".join(element.name for element in inner or found)


def _boundary(xml: etree._Element) -> str:
    """The symbol of a boundary event; empty for anything else."""
    return "".join(BOUNDARIES.get(etree.QName(child).localname, "") for child in xml.iterchildren("{*}*"))


def _add_call(lines: list[Line], call: Call, at: float) -> None:
    """Put a call under the last task that may have made it and had begun then."""
    made_by = [
        index for index, line in enumerate(lines) if ASKS.get(line.element_id) == call.what and line.symbol not in "✓✗"
    ]
    if not made_by or (call.attempt == 1 and call.answer == "done"):
        return  # nothing to tell: it was asked once and answered
    index = made_by[-1] + 1
    while index < len(lines) and lines[index].symbol in "✓✗":
        index += 1
    task = lines[made_by[-1]]
    symbol = "✓" if call.answer == "done" else "✗"
    text = f"attempt {call.attempt}: {call.answer or 'killed before the answer came'}"
    at = max(at, task.at)
    lines.insert(index, Line(at, task.element_id, task.depth + 1, symbol, text))
