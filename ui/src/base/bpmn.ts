// What a BPMN file says about its elements, without drawing it: names, kinds, what is within what, what flows where.

export interface BpmnElement {
  id: string;
  type: string; // "serviceTask", "startEvent", …
  name: string; // its id where it has none
  parent: string; // the process or sub-process around it
  attachedTo: string;
  isFlow: boolean;
  text: string; // what it says of itself, for comparisons
}

export interface BpmnModel {
  processId: string;
  processName: string;
  elements: Map<string, BpmnElement>;
}

const BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL";
const WITHIN = new Set(["process", "subProcess", "adHocSubProcess", "transaction"]);
const NODE = /(Task|task|Event|Gateway|callActivity|ubProcess|transaction)$/;

const known = new Map<string, BpmnModel>();

/** Reads a file; the same text is read once. A file that is no XML gives an empty model. */
export function readBpmn(xml: string): BpmnModel {
  const found = known.get(xml);
  if (found) return found;
  const elements = new Map<string, BpmnElement>();
  const document = new DOMParser().parseFromString(xml, "text/xml");
  const process = document.getElementsByTagNameNS(BPMN, "process")[0];
  for (const each of document.getElementsByTagNameNS(BPMN, "process")) collect(each, elements);
  const model = {
    processId: process?.getAttribute("id") ?? "",
    processName: process?.getAttribute("name") ?? "",
    elements,
  };
  known.set(xml, model);
  return model;
}

function collect(scope: Element, into: Map<string, BpmnElement>): void {
  for (const child of scope.children) {
    const id = child.getAttribute("id");
    const type = child.localName;
    if (child.namespaceURI !== BPMN || !id || !(type === "sequenceFlow" || NODE.test(type))) continue;
    into.set(id, {
      id,
      type,
      name: child.getAttribute("name")?.trim() || id,
      parent: scope.getAttribute("id") ?? "",
      attachedTo: child.getAttribute("attachedToRef") ?? "",
      isFlow: type === "sequenceFlow",
      text: said(child),
    });
    if (WITHIN.has(type)) collect(child, into);
  }
}

/** An element's own words in a fixed order: what stands within it as elements of the flow, and how it is reached, is left out. */
function said(element: Element): string {
  const attributes = [...element.attributes].map((each) => `${each.name}=${each.value}`).sort();
  const inner = [...element.children].filter((child) => {
    if (child.namespaceURI !== BPMN) return true;
    return !["incoming", "outgoing", "laneSet", "sequenceFlow", "textAnnotation", "association"].includes(child.localName) &&
      !(NODE.test(child.localName) && child.getAttribute("id"));
  });
  const own = inner.length === 0 ? (element.textContent ?? "").trim() : "";
  return [element.localName, ...attributes, own, ...inner.map(said)].filter(Boolean).join("\n");
}

export interface Differences {
  added: BpmnElement[];
  removed: BpmnElement[];
  changed: { element: BpmnElement; before: BpmnElement }[];
}

/** What one version has that another has not, or says otherwise. */
export function compareBpmn(before: BpmnModel, after: BpmnModel): Differences {
  const changed = [...after.elements.values()].flatMap((element) => {
    const old = before.elements.get(element.id);
    return old && old.text !== element.text ? [{ element, before: old }] : [];
  });
  return {
    added: [...after.elements.values()].filter(({ id }) => !before.elements.has(id)),
    removed: [...before.elements.values()].filter(({ id }) => !after.elements.has(id)),
    changed,
  };
}
