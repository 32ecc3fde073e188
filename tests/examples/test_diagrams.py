"""The diagrams of the examples and the documents can be deployed as they are, and look in a modeler as they should."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from lxml import etree

from procession.model.compile import lint_resource
from tests.support.sources import ROOT

DIAGRAMS = sorted(path for name in ("examples", "docs") for path in (ROOT / name).rglob("*.bpmn"))
METHODS = {"order.bpmn": {"price-order"}, "payment.bpmn": {"price-order"}}

diagrams = pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.name)


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: Box) -> bool:
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def has_on_its_border(self, x: float, y: float) -> bool:
        inside = self.left <= x <= self.right and self.top <= y <= self.bottom
        return inside and (x in {self.left, self.right} or y in {self.top, self.bottom})


def test_there_are_diagrams():
    assert len(DIAGRAMS) >= 4


@diagrams
def test_a_diagram_has_nothing_to_remark(path: Path):
    assert lint_resource(path.read_bytes(), methods=METHODS.get(path.name, ())) == []


@diagrams
def test_everything_is_drawn(path: Path):
    tree = etree.parse(path)
    process = tree.find("{*}process")
    drawn = {shape.get("bpmnElement") for shape in tree.iter("{*}BPMNShape", "{*}BPMNEdge")}
    to_draw = {
        element.get("id")
        for element in process.iter("{*}*")
        if element is not process and element.get("id") and "EventDefinition" not in element.tag
    }
    assert to_draw == drawn


@diagrams
def test_shapes_do_not_overlap_but_for_boundaries_and_sub_processes(path: Path):
    tree = etree.parse(path)
    boundaries = {element.get("id") for element in tree.iter("{*}boundaryEvent")}
    boxes = {name: box for name, box in boxes_of(tree).items() if name not in boundaries}
    overlapping = [
        (one, two)
        for (one, box), (two, other) in combinations(boxes.items(), 2)
        if box.overlaps(other) and not box.holds(other) and not other.holds(box)
    ]
    assert overlapping == []


@diagrams
def test_a_boundary_event_sits_on_the_border_of_its_activity(path: Path):
    tree = etree.parse(path)
    boxes = boxes_of(tree)
    for event in tree.iter("{*}boundaryEvent"):
        box, host = boxes[event.get("id")], boxes[event.get("attachedToRef")]
        assert host.has_on_its_border((box.left + box.right) / 2, (box.top + box.bottom) / 2), event.get("id")


@diagrams
def test_a_flow_is_drawn_from_its_source_to_its_target_in_right_angles(path: Path):
    tree = etree.parse(path)
    boxes = boxes_of(tree)
    points = {
        edge.get("bpmnElement"): [(float(p.get("x")), float(p.get("y"))) for p in edge.iter("{*}waypoint")]
        for edge in tree.iter("{*}BPMNEdge")
    }
    for flow in tree.iter("{*}sequenceFlow"):
        way = points[flow.get("id")]
        assert boxes[flow.get("sourceRef")].has_on_its_border(*way[0]), flow.get("id")
        assert boxes[flow.get("targetRef")].has_on_its_border(*way[-1]), flow.get("id")
        assert all(x1 == x2 or y1 == y2 for (x1, y1), (x2, y2) in pairwise(way)), flow.get("id")


def boxes_of(tree: etree._ElementTree) -> dict[str, Box]:
    found = {}
    for shape in tree.iter("{*}BPMNShape"):
        x, y, width, height = (float(shape.find("{*}Bounds").get(name)) for name in ("x", "y", "width", "height"))
        found[shape.get("bpmnElement")] = Box(x, y, x + width, y + height)
    return found
