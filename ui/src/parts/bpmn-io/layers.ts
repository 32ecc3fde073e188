// A graph in columns, from left to right: what follows stands further to the right, what belongs together in one row.
// Pure: sizes in, places out.

export interface Point {
  x: number;
  y: number;
}
export interface Box extends Point {
  width: number;
  height: number;
}
export interface GraphNode {
  id: string;
  width: number;
  height: number;
  below: number; // what hangs from it: a label, events on its edge
  lane?: number; // the band that it stands in, from the top
}
export interface Band {
  top: number;
  bottom: number;
}
export interface GraphEdge {
  id: string;
  from: string;
  to: string;
  hangs: number; // how far below the middle of its source it begins; 0: at its right side
}
export interface Laid {
  boxes: Map<string, Box>;
  edges: Map<string, Point[]>; // from the right side of the source to the left side of the target
  bands: Band[]; // one for each lane
  width: number;
  height: number;
}

const COLUMN_GAP = 64;
const ROW_GAP = 32;
const LANE_PX = 14; // between ways back, below the graph
const SWEEPS = 6;
const BAND_PADDING = 28; // in a lane, above and below what stands in it
const BAND_LEAST = 100; // of a lane in which nothing stands: its name needs room

/** A node, or the place where a long edge passes a column. */
interface Cell {
  id: string;
  rank: number;
  width: number;
  height: number;
  below: number;
  lane: number;
  y: number; // of its middle
  from: { cell: Cell; shift: number }[];
  to: Cell[];
}

interface Way {
  edge: GraphEdge;
  cells: Cell[]; // from the source to the target
}

/** Places a graph at the origin; with lanes, each node within the band of its lane. */
export function layers(nodes: readonly GraphNode[], edges: readonly GraphEdge[], lanes = 0): Laid {
  const backward = backwardEdges(nodes, edges);
  const forward = edges.filter((edge) => !backward.has(edge));
  const ranks = ranksOf(nodes, forward);
  const cells = new Map(nodes.map((node) => [node.id, cellOf(node, ranks.get(node.id) ?? 0)]));
  const columns: Cell[][] = [];
  for (const cell of cells.values()) (columns[cell.rank] ??= []).push(cell);
  const ways = forward.map((edge) => wayOf(edge, cells, columns));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) order(columns, sweep % 2 === 0);
  settle(columns);
  const bands = banded(columns.flat(), lanes);
  return drawn(nodes, cells, columns, ways, [...backward], bands);
}

function cellOf(node: GraphNode, rank: number): Cell {
  return { id: node.id, rank, width: node.width, height: node.height, below: node.below, lane: node.lane ?? 0, y: 0, from: [], to: [] };
}

/** The edges that close a circle, as a walk from the beginning meets them. */
function backwardEdges(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Set<GraphEdge> {
  const out = Map.groupBy(edges, (edge) => edge.from);
  const targets = new Set(edges.map((edge) => edge.to));
  const state = new Map<string, "open" | "done">();
  const backward = new Set<GraphEdge>();
  const first = nodes.filter((node) => !targets.has(node.id));
  for (const root of [...first, ...nodes]) {
    if (state.has(root.id)) continue;
    const stack: { id: string; next: number }[] = [{ id: root.id, next: 0 }];
    state.set(root.id, "open");
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const edge = out.get(top.id)?.[top.next++];
      if (!edge) {
        state.set(top.id, "done");
        stack.pop();
      } else if (state.get(edge.to) === "open") {
        backward.add(edge);
      } else if (!state.has(edge.to)) {
        state.set(edge.to, "open");
        stack.push({ id: edge.to, next: 0 });
      }
    }
  }
  return backward;
}

/** The column of each node: one more than the furthest of those before it. */
function ranksOf(nodes: readonly GraphNode[], forward: readonly GraphEdge[]): Map<string, number> {
  const waiting = new Map(nodes.map((node) => [node.id, 0]));
  for (const edge of forward) waiting.set(edge.to, (waiting.get(edge.to) ?? 0) + 1);
  const out = Map.groupBy(forward, (edge) => edge.from);
  const ranks = new Map<string, number>();
  const ready = nodes.filter((node) => waiting.get(node.id) === 0).map((node) => node.id);
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    const rank = ranks.get(id) ?? 0;
    ranks.set(id, rank);
    for (const edge of out.get(id) ?? []) {
      ranks.set(edge.to, Math.max(ranks.get(edge.to) ?? 0, rank + 1));
      const left = (waiting.get(edge.to) ?? 1) - 1;
      waiting.set(edge.to, left);
      if (left === 0) ready.push(edge.to);
    }
  }
  return ranks;
}

/** An edge through every column on its way: where it passes one, room is kept for it. */
function wayOf(edge: GraphEdge, cells: Map<string, Cell>, columns: Cell[][]): Way {
  const source = cells.get(edge.from) as Cell;
  const target = cells.get(edge.to) as Cell;
  const way: Way = { edge, cells: [source] };
  let last = source;
  for (let rank = source.rank + 1; rank < target.rank; rank += 1) {
    const passing: Cell = { id: `${edge.id} ${rank}`, rank, width: 0, height: 8, below: 0, lane: source.lane, y: 0, from: [], to: [] };
    columns[rank]?.push(passing);
    link(last, passing, last === source ? edge.hangs : 0);
    way.cells.push(passing);
    last = passing;
  }
  link(last, target, last === source ? edge.hangs : 0);
  way.cells.push(target);
  return way;
}

function link(one: Cell, other: Cell, shift: number): void {
  one.to.push(other);
  other.from.push({ cell: one, shift });
}

/** Sorts each column by its lanes, within them by the middle of its neighbours on one side, which takes crossings out. */
function order(columns: Cell[][], isForward: boolean): void {
  const places = new Map<Cell, number>();
  const note = (column: Cell[]): void => column.forEach((cell, index) => places.set(cell, index));
  columns.forEach(note);
  for (const column of isForward ? columns : columns.toReversed()) {
    const wanted = new Map<Cell, number>();
    for (const cell of column) {
      const near = isForward
        ? cell.from.map((each) => (places.get(each.cell) ?? 0) + (each.shift ? 0.4 : 0))
        : cell.to.map((each) => places.get(each) ?? 0);
      wanted.set(cell, near.length ? near.reduce((sum, each) => sum + each, 0) / near.length : (places.get(cell) ?? 0));
    }
    column.sort((one, other) => one.lane - other.lane || (wanted.get(one) ?? 0) - (wanted.get(other) ?? 0));
    note(column);
  }
}

/** Gives each cell its height on the page: beside those before it, then beside those after it, never on another. */
function settle(columns: Cell[][]): void {
  for (const column of columns) spread(column, column.map((_, index) => index * 100));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0 || sweep === SWEEPS - 1;
    for (const column of isForward ? columns : columns.toReversed()) {
      spread(column, column.map((cell) => wish(cell, isForward)));
    }
  }
}

function wish(cell: Cell, isForward: boolean): number {
  if (!isForward) {
    const straight = cell.to.find((each) => each.from.length === 1 || each.from[0]?.cell === cell);
    return straight?.y ?? cell.y;
  }
  if (cell.from.length === 0) return cell.y;
  const [first] = cell.from;
  if (cell.from.length === 1 && first) {
    const index = first.cell.to.indexOf(cell);
    const middle = (first.cell.to.length - 1) / 2;
    return first.cell.y + first.shift + (index - middle) * 40;
  }
  return cell.from.reduce((sum, each) => sum + each.cell.y + each.shift, 0) / cell.from.length;
}

/** As near to the wishes as the order and the room of a column allow. */
function spread(column: Cell[], wishes: number[]): void {
  let floor = -Infinity;
  const down = column.map((cell, index) => {
    const y = Math.max(wishes[index] ?? 0, floor + cell.height / 2);
    floor = y + cell.height / 2 + cell.below + ROW_GAP;
    return y;
  });
  let ceiling = Infinity;
  const up: number[] = [];
  for (let index = column.length - 1; index >= 0; index -= 1) {
    const cell = column[index] as Cell;
    const y = Math.min(wishes[index] ?? 0, ceiling - cell.height / 2 - cell.below);
    ceiling = y - cell.height / 2 - ROW_GAP;
    up[index] = y;
  }
  column.forEach((cell, index) => (cell.y = ((down[index] ?? 0) + (up[index] ?? 0)) / 2));
  floor = -Infinity;
  for (const cell of column) {
    cell.y = Math.max(cell.y, floor + cell.height / 2);
    floor = cell.y + cell.height / 2 + cell.below + ROW_GAP;
  }
}

/** Moves what stands in each lane, as a whole, into a band of its own: the lanes' order is that of each column already. */
function banded(all: Cell[], lanes: number): Band[] {
  let top = 0;
  return Array.from({ length: lanes }, (_, lane) => {
    const own = all.filter((cell) => cell.lane === lane);
    const first = own.length ? Math.min(...own.map((cell) => cell.y - cell.height / 2)) : 0;
    const last = own.length ? Math.max(...own.map((cell) => cell.y + cell.height / 2 + cell.below)) : 0;
    const height = Math.max(BAND_LEAST, last - first + 2 * BAND_PADDING);
    const shift = top + (height - (last - first)) / 2 - first;
    for (const cell of own) cell.y += shift;
    const band = { top, bottom: top + height };
    top = band.bottom;
    return band;
  });
}

function drawn(nodes: readonly GraphNode[], cells: Map<string, Cell>, columns: Cell[][], ways: Way[], backward: GraphEdge[], bands: Band[]): Laid {
  const all = columns.flat();
  const top = bands.length ? 0 : Math.min(...all.map((cell) => cell.y - cell.height / 2));
  for (const cell of all) cell.y -= top;
  let x = 0;
  const lefts = columns.map((column) => {
    const left = x;
    x += Math.max(...column.map((cell) => cell.width)) + COLUMN_GAP;
    return left;
  });
  const widths = columns.map((column) => Math.max(...column.map((cell) => cell.width)));
  const boxes = new Map<string, Box>();
  for (const node of nodes) {
    const cell = cells.get(node.id) as Cell;
    const left = (lefts[cell.rank] ?? 0) + ((widths[cell.rank] ?? 0) - node.width) / 2;
    boxes.set(node.id, { x: left, y: cell.y - node.height / 2, width: node.width, height: node.height });
  }
  const edges = new Map(ways.map((way) => [way.edge.id, forwardPoints(way, boxes, lefts, widths)]));
  let bottom = Math.max(bands.at(-1)?.bottom ?? 0, ...all.map((cell) => cell.y + cell.height / 2 + cell.below));
  for (const edge of backward) {
    bottom += LANE_PX;
    edges.set(edge.id, backwardPoints(boxes.get(edge.from) as Box, boxes.get(edge.to) as Box, edge, bottom));
  }
  return { boxes, edges, bands, width: x - COLUMN_GAP, height: bottom };
}

/** To the right, with a turn between two columns where the rows differ. */
function forwardPoints(way: Way, boxes: Map<string, Box>, lefts: number[], widths: number[]): Point[] {
  const source = boxes.get(way.edge.from) as Box;
  const target = boxes.get(way.edge.to) as Box;
  let y = source.y + source.height / 2 + way.edge.hangs;
  const points: Point[] = [{ x: source.x + source.width, y }];
  for (const [index, cell] of way.cells.slice(1).entries()) {
    const before = way.cells[index] as Cell;
    if (Math.abs(cell.y - y) >= 1) {
      const turn = (lefts[before.rank] ?? 0) + (widths[before.rank] ?? 0) + COLUMN_GAP / 2;
      points.push({ x: turn, y }, { x: turn, y: cell.y });
      y = cell.y;
    }
  }
  points.push({ x: target.x, y });
  return points;
}

/** Down, back below everything, and up again. */
function backwardPoints(source: Box, target: Box, edge: GraphEdge, y: number): Point[] {
  const x = source.x + source.width / 2;
  const from = edge.hangs ? source.y + source.height / 2 + edge.hangs : source.y + source.height;
  const to = target.x + target.width / 2;
  return [{ x, y: from }, { x, y }, { x: to, y }, { x: to, y: target.y + target.height }];
}
