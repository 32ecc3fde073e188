// DMN files as dmn-js wants them: in the namespace that it knows, and with a drawing of the graph.

const MODEL = "https://www.omg.org/spec/DMN/20191111/MODEL/";
const DMNDI = "https://www.omg.org/spec/DMN/20191111/DMNDI/";
const DC = "http://www.omg.org/spec/DMN/20180521/DC/";
const DI = "http://www.omg.org/spec/DMN/20180521/DI/";

// DMN 1.1, 1.2, 1.4 and 1.5 differ from 1.3 in what tables do not use.
const MODELS = /http:\/\/www\.omg\.org\/spec\/DMN\/(?:20151101\/dmn\.xsd|20180521\/MODEL\/)|https:\/\/www\.omg\.org\/spec\/DMN\/(?:20211108|20230324)\/MODEL\//g;
const DRAWINGS = /http:\/\/www\.omg\.org\/spec\/DMN\/20180521\/DMNDI\/|https:\/\/www\.omg\.org\/spec\/DMN\/(?:20211108|20230324)\/DMNDI\//g;

const SIZES: Record<string, [width: number, height: number]> = {
  decision: [180, 80],
  inputData: [125, 45],
  businessKnowledgeModel: [135, 46],
  knowledgeSource: [100, 63],
};
const GAP_X = 60;
const GAP_Y = 80;
const LEFT = 160;
const TOP = 80;

interface Node {
  id: string;
  kind: string;
  element: Element;
  below: string[]; // what it requires
}

/** The file in the namespace of DMN 1.3, with a drawing if it has none. */
export function shown(xml: string): string {
  const text = xml.replace(MODELS, MODEL).replace(DRAWINGS, DMNDI);
  if (hasDrawing(text)) return text;
  const document = new DOMParser().parseFromString(text, "text/xml");
  const definitions = document.documentElement;
  if (document.querySelector("parsererror") || definitions.namespaceURI !== MODEL) return text;
  draw(document, nodesOf(definitions));
  return new XMLSerializer().serializeToString(document);
}

/** Whether the file says where its elements stand. */
export function hasDrawing(xml: string): boolean {
  return /<(?:\w+:)?DMNShape[\s>]/.test(xml);
}

function nodesOf(definitions: Element): Map<string, Node> {
  const nodes = new Map<string, Node>();
  for (const element of definitions.children) {
    const id = element.getAttribute("id");
    if (!id || !(element.localName in SIZES)) continue;
    const required = [...element.querySelectorAll("requiredDecision, requiredInput, requiredKnowledge, requiredAuthority")];
    const below = required.map((each) => (each.getAttribute("href") ?? "").replace(/^.*#/, ""));
    nodes.set(id, { id, kind: element.localName, element, below });
  }
  return nodes;
}

/** How many levels stand below each; what requires itself is where it was first met. */
function levelsOf(nodes: Map<string, Node>): Map<string, number> {
  const levels = new Map<string, number>();
  const level = (id: string, path: ReadonlySet<string>): number => {
    const known = levels.get(id);
    const node = nodes.get(id);
    if (known !== undefined || !node || path.has(id)) return known ?? 0;
    const inner = node.below.filter((each) => nodes.has(each)).map((each) => level(each, new Set([...path, id])) + 1);
    levels.set(id, Math.max(0, ...inner));
    return levels.get(id) ?? 0;
  };
  for (const id of nodes.keys()) level(id, new Set());
  return levels;
}

/** The decision that nothing requires stands at the top, what it requires below it. */
function draw(document: XMLDocument, nodes: Map<string, Node>): void {
  const levels = levelsOf(nodes);
  const highest = Math.max(0, ...levels.values());
  const rows = [...Map.groupBy(nodes.values(), (node) => levels.get(node.id) ?? 0)];
  const width = Math.max(0, ...rows.map(([, row]) => row.reduce((sum, node) => sum + sizeOf(node)[0] + GAP_X, -GAP_X)));
  const places = new Map<string, { x: number; y: number; width: number; height: number }>();
  for (const [level, row] of rows) {
    const own = row.reduce((sum, node) => sum + sizeOf(node)[0] + GAP_X, -GAP_X);
    let x = LEFT + (width - own) / 2;
    for (const node of row) {
      const [w, h] = sizeOf(node);
      places.set(node.id, { x, y: TOP + (highest - level) * (80 + GAP_Y), width: w, height: h });
      x += w + GAP_X;
    }
  }
  const root = document.createElementNS(DMNDI, "dmndi:DMNDI");
  const diagram = root.appendChild(document.createElementNS(DMNDI, "dmndi:DMNDiagram"));
  for (const [id, place] of places) diagram.append(shapeOf(document, id, place));
  for (const node of nodes.values()) {
    const requirements = node.element.querySelectorAll("informationRequirement, knowledgeRequirement, authorityRequirement");
    for (const [index, requirement] of [...requirements].entries()) {
      const href = requirement.querySelector("[href]")?.getAttribute("href") ?? "";
      const from = places.get(href.replace(/^.*#/, ""));
      const to = places.get(node.id);
      if (!from || !to) continue;
      const id = requirement.getAttribute("id") ?? `${node.id}_requirement_${index}`;
      requirement.setAttribute("id", id);
      diagram.append(edgeOf(document, id, { x: from.x + from.width / 2, y: from.y }, { x: to.x + to.width / 2, y: to.y + to.height }));
    }
  }
  document.documentElement.append(root);
}

function sizeOf(node: Node): [width: number, height: number] {
  return SIZES[node.kind] ?? [180, 80];
}

function shapeOf(document: XMLDocument, id: string, place: { x: number; y: number; width: number; height: number }): Element {
  const shape = document.createElementNS(DMNDI, "dmndi:DMNShape");
  shape.setAttribute("dmnElementRef", id);
  const bounds = shape.appendChild(document.createElementNS(DC, "dc:Bounds"));
  for (const [name, value] of Object.entries(place)) bounds.setAttribute(name, String(Math.round(value)));
  return shape;
}

function edgeOf(document: XMLDocument, id: string, ...points: { x: number; y: number }[]): Element {
  const edge = document.createElementNS(DMNDI, "dmndi:DMNEdge");
  edge.setAttribute("dmnElementRef", id);
  for (const point of points) {
    const waypoint = edge.appendChild(document.createElementNS(DI, "di:waypoint"));
    waypoint.setAttribute("x", String(Math.round(point.x)));
    waypoint.setAttribute("y", String(Math.round(point.y)));
  }
  return edge;
}
