// Groups in a drawing that is made: a frame around the elements that are of the group's category.

import type { Box } from "./layers";

const MODEL = "http://www.omg.org/spec/BPMN/20100524/MODEL";
const AROUND = 20;
export const LABEL = 18; // above the frame
const EMPTY: [number, number] = [300, 80];
const GAP = 40;

/** A frame for each group of a container, by its id, among the boxes that stand already; `bottom` is below them all. */
export function framesOf(container: Element, boxes: Map<string, Box>, bottom: number): Map<string, Box> {
  const frames = new Map<string, Box>();
  const groups = [...container.children].filter((each) => each.localName === "group" && each.namespaceURI === MODEL && each.id);
  const empty: string[] = []; // in which nothing is known to stand
  for (const group of groups) {
    const members = membersOf(group).flatMap((id) => boxes.get(id) ?? []);
    if (members.length > 0) frames.set(group.id, apart(around(members), [...frames.values()]));
    else empty.push(group.id);
  }
  const y = Math.max(bottom, ...[...frames.values()].map((box) => box.y + box.height)) + GAP;
  for (const [index, id] of empty.entries()) frames.set(id, { x: index * (EMPTY[0] + GAP), y, width: EMPTY[0], height: EMPTY[1] });
  return frames;
}

/** How far frames stand out to the left of, and above, what is at the origin: their labels too. */
export function overhang(frames: Map<string, Box>): { x: number; y: number } {
  const all = [...frames.values()];
  return { x: Math.max(0, ...all.map((box) => -box.x)), y: Math.max(0, ...all.map((box) => LABEL - box.y)) };
}

/** The ids of elements of the same category value: BPMN says in no other way what stands in a group. */
function membersOf(group: Element): string[] {
  const value = local(group.getAttribute("categoryValueRef"));
  if (!value) return [];
  const named = [...group.ownerDocument.getElementsByTagNameNS(MODEL, "categoryValueRef")].filter((each) => local(each.textContent) === value);
  return named.flatMap((each) => each.parentElement?.id || []);
}

function local(name: string | null): string {
  return (name ?? "").trim().replace(/^.*:/, "");
}

function around(boxes: Box[]): Box {
  const left = Math.min(...boxes.map((box) => box.x)) - AROUND;
  const top = Math.min(...boxes.map((box) => box.y)) - AROUND;
  const right = Math.max(...boxes.map((box) => box.x + box.width)) + AROUND;
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + AROUND;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** A frame that covers no other one exactly. */
function apart(frame: Box, others: Box[]): Box {
  const grown = { x: frame.x - 10, y: frame.y - LABEL - 4, width: frame.width + 20, height: frame.height + LABEL + 14 };
  return others.some((box) => box.x === frame.x && box.y === frame.y && box.width === frame.width && box.height === frame.height)
    ? apart(grown, others)
    : frame;
}
