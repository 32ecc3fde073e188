// A drawing for BPMN files that have none: columns from left to right, sub-processes open, lanes and pools below each other.

import { framesOf, LABEL, overhang } from "./groups";
import { lanesOf, levelsOf, type Lane } from "./lanes";
import { layers, type Band, type Box, type GraphEdge, type GraphNode, type Laid, type Point } from "./layers";

const MODEL = "http://www.omg.org/spec/BPMN/20100524/MODEL";
const BPMNDI = "http://www.omg.org/spec/BPMN/20100524/DI";
const DC = "http://www.omg.org/spec/DD/20100524/DC";
const DI = "http://www.omg.org/spec/DD/20100524/DI";

const EVENT_PX = 36;
const PADDING = 36;
const POOL_HEAD = 30;
const BESIDE = 44; // from one event on an edge to the next
const HANG = EVENT_PX / 2 + 34; // a flow from an event on an edge goes down first
const NOTE: [number, number] = [150, 40];
const CONTAINERS = new Set(["subProcess", "transaction", "adHocSubProcess"]);

/** Where everything in a scope stands, relative to the scope. */
interface Scene {
  boxes: Map<string, Box>;
  edges: Map<string, Point[]>;
  bands: Band[]; // of the lanes that have none within
  lanes: Lane[];
  width: number;
  height: number;
}

/** Whether a file says where its elements stand. */
export function hasDrawing(xml: string): boolean {
  return /<(?:\w+:)?BPMNShape[\s>]/.test(xml);
}

/** The same file with a drawing; one that has a drawing, or is no BPMN, is left as it is. */
export function laidOut(xml: string): string {
  if (hasDrawing(xml)) return xml;
  const document = new DOMParser().parseFromString(xml, "text/xml");
  const definitions = document.documentElement;
  if (document.querySelector("parsererror") || definitions.namespaceURI !== MODEL) return xml;
  for (const old of document.getElementsByTagNameNS(BPMNDI, "BPMNDiagram")) old.remove();
  const root = rootOf(definitions);
  if (!root) return xml;
  const scene = root.localName === "collaboration" ? collaboration(root, definitions) : alone(root);
  definitions.append(diagram(document, root, scene));
  return new XMLSerializer().serializeToString(document);
}

function rootOf(definitions: Element): Element | undefined {
  const roots = [...definitions.children].filter((each) => each.namespaceURI === MODEL);
  const processes = roots.filter((each) => each.localName === "process" && each.id);
  return (
    roots.find((each) => each.localName === "collaboration" && each.id && childrenOf(each, "participant").length > 0) ??
    processes.find((each) => each.getAttribute("isExecutable") === "true") ??
    processes[0]
  );
}

// -- scopes ------------------------------------------------------------------------------------------------------------
function scope(container: Element): Scene {
  const inner = new Map<string, Scene>();
  const elements = [...container.children].filter((each) => each.id && each.namespaceURI === MODEL);
  const hosts = new Map<string, Element[]>(); // events on the edge of each activity
  const nodes: GraphNode[] = [];
  for (const element of elements) {
    if (element.localName === "boundaryEvent") {
      const host = element.getAttribute("attachedToRef") ?? "";
      hosts.set(host, [...(hosts.get(host) ?? []), element]);
    }
  }
  for (const element of elements) {
    if (!isNode(element)) continue;
    if (CONTAINERS.has(element.localName)) inner.set(element.id, scope(element));
    nodes.push(nodeOf(element, inner.get(element.id), hosts.get(element.id)?.length ?? 0));
  }
  const edges = edgesOf(container, elements, new Set(nodes.map((node) => node.id)), hosts);
  const lanes = lanesOf(container, nodes);
  const scene = lanes.length
    ? { ...layers(nodes, edges, Math.max(...nodes.map((node) => (node.lane ?? 0) + 1), ...lanes.map((lane) => lane.last + 1))), lanes }
    : stacked(components(nodes, edges).map((part) => layers(part.nodes, part.edges)));
  for (const [host, events] of hosts) attach(scene, host, events, edges);
  for (const [id, part] of inner) put(scene, shifted(part, (scene.boxes.get(id)?.x ?? 0) + PADDING, (scene.boxes.get(id)?.y ?? 0) + PADDING));
  annotate(scene, container, elements);
  frame(scene, container);
  return scene;
}

function isNode(element: Element): boolean {
  const name = element.localName;
  return name !== "boundaryEvent" && /(?:^task|Task|Event|Gateway|^callActivity)$/.test(name) || CONTAINERS.has(name);
}

function nodeOf(element: Element, inner: Scene | undefined, events: number): GraphNode {
  const name = element.localName;
  const below = events ? EVENT_PX / 2 + 16 : 0;
  if (inner) {
    return { id: element.id, width: Math.max(120, inner.width + 2 * PADDING), height: Math.max(80, inner.height + 2 * PADDING), below };
  }
  if (name.endsWith("Event")) return { id: element.id, width: EVENT_PX, height: EVENT_PX, below: element.getAttribute("name") ? 24 : 0 };
  if (name.endsWith("Gateway")) return { id: element.id, width: 50, height: 50, below: 0 };
  return { id: element.id, width: Math.max(100, events * BESIDE + 20), height: 80, below };
}

/** Flows between nodes, those from events on an edge as flows of their host that begin below it; handlers of compensation too. */
function edgesOf(container: Element, elements: Element[], known: Set<string>, hosts: Map<string, Element[]>): GraphEdge[] {
  const hostOf = new Map([...hosts].flatMap(([host, events]) => events.map((event) => [event.id, host] as const)));
  const activities = new Set(elements.filter((each) => each.getAttribute("isForCompensation") === "true").map((each) => each.id));
  const found: GraphEdge[] = [];
  for (const flow of [...childrenOf(container, "sequenceFlow"), ...childrenOf(container, "association")]) {
    const source = flow.getAttribute("sourceRef") ?? "";
    const to = flow.getAttribute("targetRef") ?? "";
    const host = hostOf.get(source);
    if (!flow.id || !known.has(to) || !known.has(host ?? source)) continue;
    if (flow.localName === "association" && !activities.has(to)) continue;
    const height = host ? heightOf(elements, host) : 0;
    found.push({ id: flow.id, from: host ?? source, to, hangs: host ? height / 2 + HANG : 0 });
  }
  return found;
}

function heightOf(elements: Element[], id: string): number {
  const element = elements.find((each) => each.id === id);
  return element && CONTAINERS.has(element.localName) ? Math.max(80, scope(element).height + 2 * PADDING) : 80;
}

/** The parts of a graph that hang together, in the order of the file; what hangs on nothing is a part each. */
function components(nodes: GraphNode[], edges: GraphEdge[]): { nodes: GraphNode[]; edges: GraphEdge[] }[] {
  const leader = new Map(nodes.map((node) => [node.id, node.id]));
  const find = (id: string): string => {
    let top = id;
    while (leader.get(top) !== top) top = leader.get(top) ?? top;
    return top;
  };
  for (const edge of edges) leader.set(find(edge.to), find(edge.from));
  const parts = Map.groupBy(nodes, (node) => find(node.id));
  return [...parts].map(([top, members]) => ({ nodes: members, edges: edges.filter((edge) => find(edge.from) === top) }));
}

function stacked(parts: Laid[]): Scene {
  const scene: Scene = { boxes: new Map(), edges: new Map(), bands: [], lanes: [], width: 0, height: 0 };
  for (const part of parts) {
    const y = scene.height ? scene.height + 50 : 0;
    put(scene, shifted(part, 0, y));
    scene.width = Math.max(scene.width, part.width);
    scene.height = y + part.height;
  }
  return scene;
}

/** Sets events on the lower edge of their host, and lets their flows begin there. */
function attach(scene: Scene, host: string, events: Element[], edges: GraphEdge[]): void {
  const box = scene.boxes.get(host);
  if (!box) return;
  for (const [index, event] of events.entries()) {
    const x = box.x + 16 + index * BESIDE;
    const y = box.y + box.height - EVENT_PX / 2;
    scene.boxes.set(event.id, { x, y, width: EVENT_PX, height: EVENT_PX });
    const own = [...event.parentElement?.children ?? []].filter((each) => each.getAttribute("sourceRef") === event.id);
    for (const flow of own) {
      const points = scene.edges.get(flow.id);
      if (!points || !edges.some((edge) => edge.id === flow.id)) continue;
      const [first, ...rest] = points;
      const start = { x: x + EVENT_PX / 2, y: y + EVENT_PX };
      scene.edges.set(flow.id, [start, { x: start.x, y: first?.y ?? start.y }, ...rest]);
    }
  }
}

/** Notes and data stand above what they belong to, or at the top. */
function annotate(scene: Scene, container: Element, elements: Element[]): void {
  const notes = elements.filter((each) => /^(?:textAnnotation|dataObjectReference|dataStoreReference)$/.test(each.localName));
  if (notes.length === 0) return;
  const room = 90;
  const moved = shifted(scene, 0, room);
  Object.assign(scene, moved);
  scene.height += room;
  const associations = childrenOf(container, "association");
  let x = 0;
  for (const { note, wanted } of notes.map((each) => ({ note: each, wanted: above(scene, each, associations) })).sort((one, other) => one.wanted - other.wanted)) {
    const [width, height] = note.localName === "textAnnotation" ? NOTE : [46, 50];
    x = Math.max(x, wanted);
    scene.boxes.set(note.id, { x, y: 0, width, height });
    x += width + 40;
  }
  scene.width = Math.max(scene.width, x - 40);
  for (const association of associations) {
    const one = scene.boxes.get(association.getAttribute("sourceRef") ?? "");
    const other = scene.boxes.get(association.getAttribute("targetRef") ?? "");
    if (association.id && one && other && !scene.edges.has(association.id)) scene.edges.set(association.id, between(one, other));
  }
}

/** Groups are frames around what stands already; there has to be room for them. */
function frame(scene: Scene, container: Element): void {
  const frames = framesOf(container, scene.boxes, scene.height);
  if (frames.size === 0) return;
  for (const [id, box] of frames) scene.boxes.set(id, box);
  const { x, y } = overhang(frames);
  Object.assign(scene, shifted(scene, x, y));
  scene.width = Math.max(scene.width + x, ...[...frames.values()].map((box) => box.x + box.width + x));
  scene.height = Math.max(scene.height + y, ...[...frames.values()].map((box) => box.y + box.height + y));
}

/** The left side of what a note belongs to. */
function above(scene: Scene, note: Element, associations: Element[]): number {
  for (const association of associations) {
    const ends = [association.getAttribute("sourceRef") ?? "", association.getAttribute("targetRef") ?? ""];
    if (ends.includes(note.id)) return scene.boxes.get(ends[0] === note.id ? (ends[1] ?? "") : (ends[0] ?? ""))?.x ?? 0;
  }
  return 0;
}

/** A straight line between the nearer sides. */
function between(one: Box, other: Box): Point[] {
  const isBelow = one.y > other.y;
  return [
    { x: one.x + one.width / 2, y: isBelow ? one.y : one.y + one.height },
    { x: other.x + other.width / 2, y: isBelow ? other.y + other.height : other.y },
  ];
}

// -- pools and lanes ---------------------------------------------------------------------------------------------------
const LEFT = 160;
const TOP = 80;

/** A process that is in no pool: its lanes have no head of a pool before them. */
function alone(root: Element): Scene {
  const scene = scope(root);
  const head = levelsOf(scene.lanes) * POOL_HEAD;
  if (!head) return shifted(scene, LEFT, TOP);
  const all: Scene = { ...scene, boxes: new Map(), edges: new Map() };
  const outer = { x: LEFT, y: TOP, width: head + scene.width + 2 * PADDING, height: scene.height + 2 * PADDING };
  within(all, scene, outer, head);
  return all;
}

function collaboration(root: Element, definitions: Element): Scene {
  const all: Scene = { boxes: new Map(), edges: new Map(), bands: [], lanes: [], width: 0, height: 0 };
  const pools = childrenOf(root, "participant").filter((each) => each.id);
  const scenes = pools.map((pool) => {
    const name = (pool.getAttribute("processRef") ?? "").replace(/^.*:/, "");
    const process = [...definitions.children].find((each) => each.localName === "process" && each.id === name);
    const scene = process ? scope(process) : undefined;
    return { pool, scene, head: POOL_HEAD * (1 + levelsOf(scene?.lanes ?? [])) };
  });
  const width = Math.max(400, ...scenes.map(({ scene, head }) => (scene?.width ?? 0) + head + 2 * PADDING));
  let y = TOP;
  for (const { pool, scene, head } of scenes) {
    const height = scene?.boxes.size ? scene.height + 2 * PADDING : 60;
    all.boxes.set(pool.id, { x: LEFT, y, width, height });
    if (scene) within(all, scene, { x: LEFT + POOL_HEAD, y, width: width - POOL_HEAD, height }, head - POOL_HEAD);
    y += height + 40;
  }
  for (const flow of childrenOf(root, "messageFlow")) {
    const one = all.boxes.get((flow.getAttribute("sourceRef") ?? "").replace(/^.*:/, ""));
    const other = all.boxes.get((flow.getAttribute("targetRef") ?? "").replace(/^.*:/, ""));
    if (flow.id && one && other) all.edges.set(flow.id, between(one, other));
  }
  for (const [id, box] of framesOf(root, all.boxes, y)) all.boxes.set(id, { ...box, x: Math.max(box.x, LEFT - PADDING) });
  return all;
}

/** Puts a scene into its place, with its lanes, which fill the place, around it. */
function within(all: Scene, scene: Scene, place: Box, head: number): void {
  const y = place.y + PADDING;
  for (const { id, depth, first, last } of scene.lanes) {
    const top = first === 0 ? place.y : y + (scene.bands[first]?.top ?? 0);
    const bottom = last === scene.bands.length - 1 ? place.y + place.height : y + (scene.bands[last]?.bottom ?? 0);
    const shift = depth * POOL_HEAD;
    all.boxes.set(id, { x: place.x + shift, y: top, width: place.width - shift, height: bottom - top });
  }
  put(all, shifted(scene, place.x + head + PADDING, y));
}

// -- scenes ------------------------------------------------------------------------------------------------------------
function shifted<Part extends Pick<Scene, "boxes" | "edges" | "bands">>(scene: Part, x: number, y: number): Part {
  return {
    ...scene,
    boxes: new Map([...scene.boxes].map(([id, box]) => [id, { ...box, x: box.x + x, y: box.y + y }])),
    edges: new Map([...scene.edges].map(([id, points]) => [id, points.map((point) => ({ x: point.x + x, y: point.y + y }))])),
    bands: scene.bands.map((band) => ({ top: band.top + y, bottom: band.bottom + y })),
  };
}

function put(into: Scene, part: Pick<Scene, "boxes" | "edges">): void {
  for (const [id, box] of part.boxes) into.boxes.set(id, box);
  for (const [id, points] of part.edges) into.edges.set(id, points);
}

function childrenOf(element: Element, name: string): Element[] {
  return [...element.children].filter((each) => each.localName === name && each.namespaceURI === MODEL);
}

// -- the drawing as XML --------------------------------------------------------------------------------------------------
function diagram(document: XMLDocument, root: Element, scene: Scene): Element {
  const made = document.createElementNS(BPMNDI, "bpmndi:BPMNDiagram");
  made.setAttribute("id", `${root.id}_drawing`);
  const plane = made.appendChild(document.createElementNS(BPMNDI, "bpmndi:BPMNPlane"));
  plane.setAttribute("id", `${root.id}_plane`);
  plane.setAttribute("bpmnElement", root.id);
  for (const [id, box] of scene.boxes) plane.append(shape(document, id, box));
  for (const [id, points] of scene.edges) plane.append(edge(document, id, points));
  return made;
}

function shape(document: XMLDocument, id: string, box: Box): Element {
  const made = document.createElementNS(BPMNDI, "bpmndi:BPMNShape");
  made.setAttribute("id", `${id}_shape`);
  made.setAttribute("bpmnElement", id);
  const element = document.getElementById(id) ?? document.querySelector(`[id="${CSS.escape(id)}"]`);
  if (element && CONTAINERS.has(element.localName)) made.setAttribute("isExpanded", "true");
  if (element?.localName === "participant" || element?.localName === "lane") made.setAttribute("isHorizontal", "true");
  made.append(boundsOf(document, box));
  if (element?.localName === "group") {
    const label = made.appendChild(document.createElementNS(BPMNDI, "bpmndi:BPMNLabel"));
    label.append(boundsOf(document, { ...box, y: box.y - LABEL, height: LABEL - 4 }));
  }
  return made;
}

function boundsOf(document: XMLDocument, box: Box): Element {
  const bounds = document.createElementNS(DC, "dc:Bounds");
  for (const [name, value] of Object.entries(box)) bounds.setAttribute(name, String(Math.round(value)));
  return bounds;
}

function edge(document: XMLDocument, id: string, points: Point[]): Element {
  const made = document.createElementNS(BPMNDI, "bpmndi:BPMNEdge");
  made.setAttribute("id", `${id}_edge`);
  made.setAttribute("bpmnElement", id);
  for (const point of points) {
    const waypoint = made.appendChild(document.createElementNS(DI, "di:waypoint"));
    waypoint.setAttribute("x", String(Math.round(point.x)));
    waypoint.setAttribute("y", String(Math.round(point.y)));
  }
  return made;
}
