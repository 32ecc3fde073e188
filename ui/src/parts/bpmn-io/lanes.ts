// The lanes of a process: which stand within which, and in which of them each element is.

import type { GraphNode } from "./layers";

const MODEL = "http://www.omg.org/spec/BPMN/20100524/MODEL";

/** A lane over the bands from the first to the last one: a lane without lanes within has one. */
export interface Lane {
  id: string;
  depth: number;
  first: number;
  last: number;
}

/** The lanes of a process, outer ones first; tells each node its band. What is in no lane stands below them all. */
export function lanesOf(container: Element, nodes: GraphNode[]): Lane[] {
  const lanes: Lane[] = [];
  const bands = new Map<string, number>(); // of elements
  let count = 0;
  const read = (set: Element, depth: number): void => {
    for (const element of childrenOf(set, "lane").filter((each) => each.id)) {
      const lane = { id: element.id, depth, first: count, last: count };
      lanes.push(lane);
      for (const inner of childrenOf(element, "childLaneSet")) read(inner, depth + 1);
      if (count === lane.first) count += 1;
      lane.last = count - 1;
      for (const each of childrenOf(element, "flowNodeRef")) {
        const id = (each.textContent ?? "").trim();
        if (!bands.has(id)) bands.set(id, lane.first); // an inner lane has told before
      }
    }
  };
  for (const set of childrenOf(container, "laneSet")) read(set, 0);
  if (lanes.length) for (const node of nodes) node.lane = bands.get(node.id) ?? count;
  return lanes;
}

/** How many heads of lanes stand beside each other. */
export function levelsOf(lanes: readonly Lane[]): number {
  return Math.max(0, ...lanes.map((lane) => lane.depth + 1));
}

function childrenOf(element: Element, name: string): Element[] {
  return [...element.children].filter((each) => each.localName === name && each.namespaceURI === MODEL);
}
