// What the three editors of bpmn.io have in common, so that the page knows none of them.

export type Kind = "bpmn" | "dmn" | "form";

/** Something that the server's rules say about a file. */
export interface Finding {
  severity: "error" | "warning" | "info";
  code: string;
  message: string;
  elementId: string;
  line: number;
  column: number;
  suggestion: string;
}

/** One of the views that a file has: a graph, a table. */
export interface View {
  id: string;
  name: string;
  kind: "graph" | "table" | "expression";
  isOpen: boolean;
}

/** What a reader of an editor is told. */
export interface Told {
  changed: () => void; // the content, or what can be undone
  viewed: () => void; // which view is open, whether tokens are simulated
}

/** How the opening of a file went. */
export interface Opened {
  warnings: string[]; // what of it could not be read
  isLaidOut: boolean; // by us: it had no drawing
}

export interface Editor {
  readonly kind: Kind;
  /** Opens a file. Throws what bpmn.io throws if it cannot be read at all. */
  open(content: string): Promise<Opened>;
  content(): Promise<string>;
  canUndo(): boolean;
  canRedo(): boolean;
  undo(): void;
  redo(): void;
  /** Selects the element that was found fault with and shows it; its field in the panel, where one is known, gets the focus. */
  select(finding: Finding): void;
  /** Marks what the server's rules found. */
  mark(findings: Finding[]): void;
  /** Fits the whole into the window. */
  fit(): void;
  views(): View[];
  show(viewId: string): Promise<void>;
  /** Turns the simulation of tokens on or off; undefined where there is none. */
  simulate?: (isOn: boolean) => void;
  isSimulating(): boolean;
  destroy(): void;
}

/** Where an editor draws itself. */
export interface Places {
  canvas: HTMLElement;
  panel: HTMLElement;
}

/** The suffix of each kind of file. */
export const SUFFIXES: Record<Kind, string> = { bpmn: ".bpmn", dmn: ".dmn", form: ".form" };

/** Which editor a file needs, by its name and, failing that, by what is in it. */
export function kindOf(name: string, content: string): Kind | undefined {
  const lower = name.toLowerCase();
  if (lower.endsWith(".bpmn") || lower.endsWith(".bpmn20.xml")) return "bpmn";
  if (lower.endsWith(".dmn")) return "dmn";
  if (lower.endsWith(".form") || lower.endsWith(".form.json")) return "form";
  if (content.includes("http://www.omg.org/spec/BPMN/20100524/MODEL")) return "bpmn";
  if (/https?:\/\/www\.omg\.org\/spec\/DMN\//.test(content)) return "dmn";
  if (content.trimStart().startsWith("{") && content.includes('"components"')) return "form";
  return undefined;
}

/** Loads the editor of a kind; each is a part of the page of its own. */
export async function openEditor(kind: Kind, places: Places, told: Told): Promise<Editor> {
  switch (kind) {
    case "bpmn":
      return (await import("./bpmn")).bpmnEditor(places, told);
    case "dmn":
      return (await import("./dmn")).dmnEditor(places, told);
    case "form":
      return (await import("./form")).formEditor(places, told);
  }
}
