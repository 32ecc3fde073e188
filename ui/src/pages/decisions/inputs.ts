// Which values a decision is made of, read from its file: the data that it and what it requires ask for.

export interface Input {
  name: string;
  type: "string" | "number" | "boolean" | "date" | "time" | "dateTime" | "any";
  options: string[]; // strings that it may be, where the file says so
}

const TYPES: Record<string, Input["type"]> = {
  string: "string",
  number: "number",
  integer: "number",
  long: "number",
  double: "number",
  boolean: "boolean",
  date: "date",
  time: "time",
  dateTime: "dateTime",
  "date and time": "dateTime",
};

/** The inputs of a decision, those of the decisions that it requires among them. */
export function inputsOf(xml: string, decisionId: string): Input[] {
  const document = new DOMParser().parseFromString(xml, "text/xml");
  const elements = new Map<string, Element>();
  for (const element of document.querySelectorAll("decision[id], inputData[id]")) elements.set(element.id, element);
  const reached = reachedFrom(elements, decisionId);
  const inputs = new Map<string, Input>();
  const add = (name: string, typeRef: string, options: string[] = []): void => {
    const known = inputs.get(name);
    const type = typeOf(document, typeRef);
    inputs.set(name, {
      name,
      type: known && known.type !== "any" ? known.type : type.type,
      options: known?.options.length ? known.options : options.length ? options : type.options,
    });
  };
  for (const element of reached) {
    if (element.localName !== "inputData") continue;
    const variable = child(element, "variable");
    add(variable?.getAttribute("name") ?? element.getAttribute("name") ?? element.id, variable?.getAttribute("typeRef") ?? "");
  }
  const isDrawn = inputs.size > 0;
  const made = new Set(reached.filter((each) => each.localName === "decision").flatMap((each) => namesOf(each)));
  for (const clause of reached.flatMap((each) => [...each.querySelectorAll("decisionTable > input")])) {
    const expression = child(clause, "inputExpression");
    const name = expression && child(expression, "text")?.textContent?.trim();
    if (!name || made.has(name) || !/^[\p{L}_][\p{L}\p{N}_ ]*$/u.test(name)) continue;
    if (isDrawn && !inputs.has(name)) continue; // the drawing says what it needs
    add(name, expression.getAttribute("typeRef") ?? "", optionsOf(child(clause, "inputValues")));
  }
  return [...inputs.values()];
}

function reachedFrom(elements: Map<string, Element>, id: string): Element[] {
  const reached = new Map<string, Element>();
  const waiting = [id];
  while (waiting.length) {
    const next = waiting.pop() ?? "";
    const element = elements.get(next);
    if (!element || reached.has(next)) continue;
    reached.set(next, element);
    for (const required of element.querySelectorAll("requiredDecision, requiredInput")) {
      waiting.push((required.getAttribute("href") ?? "").replace(/^.*#/, ""));
    }
  }
  return [...reached.values()];
}

/** The names under which the result of a decision is known to others. */
function namesOf(decision: Element): string[] {
  const outputs = [...decision.querySelectorAll("decisionTable > output")].map((output) => output.getAttribute("name") ?? "");
  return [decision.id, decision.getAttribute("name") ?? "", child(decision, "variable")?.getAttribute("name") ?? "", ...outputs].filter(Boolean);
}

function typeOf(document: XMLDocument, typeRef: string): { type: Input["type"]; options: string[] } {
  const name = typeRef.replace(/^(?:feel[:.]|.*:)/, "");
  const known = TYPES[name] ?? TYPES[typeRef];
  if (known) return { type: known, options: [] };
  const definition = [...document.querySelectorAll("definitions > itemDefinition")].find((each) => each.getAttribute("name") === name);
  const inner = definition && child(definition, "typeRef")?.textContent?.trim();
  if (!definition || !inner || definition.getAttribute("isCollection") === "true") return { type: "any", options: [] };
  return { type: TYPES[inner.replace(/^.*:/, "")] ?? "any", options: optionsOf(child(definition, "allowedValues")) };
}

/** `"Fall","Winter"`: what may be chosen, if it is a list of strings. */
function optionsOf(values: Element | undefined): string[] {
  const text = (values && child(values, "text")?.textContent) ?? "";
  const found = text.match(/"[^"]*"/g) ?? [];
  return text.replace(/"[^"]*"/g, "").replace(/[\s,]/g, "") === "" ? found.map((each) => each.slice(1, -1)) : [];
}

function child(element: Element, name: string): Element | undefined {
  return [...element.children].find((each) => each.localName === name);
}
