// Decisions: dmn-js with its graph, tables and expressions.

import "@/parts/bpmn-io/dmn-styles";
import "@bpmn-io/properties-panel/dist/assets/properties-panel.css";

import DmnModeler from "dmn-js/lib/Modeler";
import {
  DmnPropertiesPanelModule,
  DmnPropertiesProviderModule,
  ZeebePropertiesProviderModule,
} from "dmn-js-properties-panel";
import zeebe from "zeebe-dmn-moddle/resources/zeebe.json";

import { hasDrawing, shown } from "@/parts/bpmn-io/dmn-file";
import { fitBeside, type Canvas } from "@/parts/bpmn-io/fit";
import { fontLoaded, TEXT } from "@/parts/bpmn-io/font";
import { overwrite } from "@/parts/bpmn-io/overwrite";
import { RUSSIAN } from "@/parts/bpmn-io/russian";
import { translateModule } from "@/parts/bpmn-io/translate";
import type { Editor, Finding, Opened, Places, Told, View } from "./editor";
import { badge } from "./badge";
import { worst } from "./findings";

const KINDS = { drd: "graph", decisionTable: "table", literalExpression: "expression", boxedExpression: "expression" } as const;
const COLOURS = { defaultFillColor: "var(--diagram-fill)", defaultStrokeColor: "var(--diagram-stroke)", defaultLabelColor: "var(--diagram-label)" };
const PANEL = ".bio-properties-panel-header-type, .bio-properties-panel-group-header-title, .bio-properties-panel-label, .bio-properties-panel-description";
const MARK = "finding-in-table";

interface Overlays {
  add(element: string, type: string, overlay: { position: object; html: HTMLElement }): void;
  remove(filter: { type: string }): void;
}

interface Stack {
  canUndo(): boolean;
  canRedo(): boolean;
  undo(): void;
  redo(): void;
}

/** The editor of decisions. */
export function dmnEditor(places: Places, told: Told): Editor {
  const additionalModules = [translateModule()];
  const modeler = new DmnModeler({
    container: places.canvas,
    common: {
      expressionLanguages: { options: [{ value: "feel", label: "FEEL" }], defaults: { editor: "feel" } },
    },
    drd: {
      propertiesPanel: { parent: places.panel },
      drdRenderer: COLOURS,
      textRenderer: TEXT,
      additionalModules: [
        DmnPropertiesPanelModule,
        DmnPropertiesProviderModule,
        ZeebePropertiesProviderModule,
        translateModule(),
      ],
    },
    decisionTable: { additionalModules },
    literalExpression: { additionalModules },
    boxedExpression: { additionalModules },
    moddleExtensions: { zeebe },
  });
  return new DmnEditor(modeler, told, places.panel);
}

class DmnEditor implements Editor {
  readonly kind = "dmn";
  private findings: Finding[] = [];

  private readonly end: () => void;

  constructor(
    private readonly modeler: DmnJs,
    told: Told,
    panel: HTMLElement,
  ) {
    this.end = overwrite(panel, RUSSIAN, PANEL);
    modeler.on("viewer.created", ({ viewer }) => viewer?.on("commandStack.changed", ({ trigger }) => trigger !== "clear" && told.changed()));
    modeler.on("views.changed", () => {
      told.viewed();
      // the panel comes and goes with the view: only then is it known how much room there is
      requestAnimationFrame(() => requestAnimationFrame(() => {
        this.fit();
        this.mark(this.findings);
      }));
    });
  }

  async open(content: string): Promise<Opened> {
    await fontLoaded();
    const { warnings } = await this.modeler.importXML(shown(content));
    this.fit();
    return { warnings: warnings.map((warning) => warning.message), isLaidOut: !hasDrawing(content) };
  }

  async content(): Promise<string> {
    return (await this.modeler.saveXML({ format: true })).xml;
  }

  private stack(): Stack | undefined {
    return this.modeler.getActiveViewer()?.get<Stack>("commandStack", false);
  }

  canUndo = (): boolean => this.stack()?.canUndo() ?? false;
  canRedo = (): boolean => this.stack()?.canRedo() ?? false;
  undo = (): void => this.stack()?.undo();
  redo = (): void => this.stack()?.redo();
  isSimulating = (): boolean => false;

  fit(): void {
    if (this.modeler.getActiveView()?.type !== "drd") return;
    const canvas = this.modeler.getActiveViewer()?.get<Canvas>("canvas");
    if (canvas) fitBeside(canvas);
  }

  views(): View[] {
    const open = this.modeler.getActiveView();
    return this.modeler.getViews().map((view) => ({
      id: view.element.id,
      name: view.element.name ?? view.element.id,
      kind: KINDS[view.type],
      isOpen: view.element.id === open?.element.id,
    }));
  }

  async show(viewId: string): Promise<void> {
    const view = this.modeler.getViews().find((each) => each.element.id === viewId);
    if (!view) return;
    await this.modeler.open(view);
    this.fit();
  }

  select(finding: Finding): void {
    void this.selected(finding.elementId);
  }

  /** Opens the table that an element stands in: the decision itself, or one of its columns, rules or cells. */
  private async selected(elementId: string): Promise<void> {
    const view = this.modeler.getViews().find((each) => each.element.id === elementId || holds(each.element, elementId));
    if (view && view.element.id !== this.modeler.getActiveView()?.element.id) await this.show(view.element.id);
    const cell = this.cell(elementId);
    cell?.scrollIntoView({ block: "nearest" });
    cell?.classList.add("finding-shown");
  }

  mark(findings: Finding[]): void {
    this.findings = findings;
    for (const old of document.querySelectorAll(`.${MARK}`)) old.classList.remove(MARK, "error", "warning", "info");
    for (const [id, of] of Map.groupBy(findings, (finding) => finding.elementId)) {
      this.cell(id)?.classList.add(MARK, worst(of));
    }
    this.markGraph(findings);
  }

  /** In the graph a decision bears the marks of all that stands in it. */
  private markGraph(findings: Finding[]): void {
    if (this.modeler.getActiveView()?.type !== "drd") return;
    const overlays = this.modeler.getActiveViewer()?.get<Overlays>("overlays");
    overlays?.remove({ type: MARK });
    const views = this.modeler.getViews().filter((view) => view.type !== "drd");
    for (const { element } of views) {
      const own = findings.filter((finding) => finding.elementId === element.id || holds(element, finding.elementId));
      const [first] = own;
      if (first) overlays?.add(element.id, MARK, { position: { top: -9, right: 11 }, html: badge(own, () => this.select(first)) });
    }
  }

  private cell(id: string): HTMLElement | null {
    return id ? document.querySelector<HTMLElement>(`.dmn-decision-table-container [data-element-id="${CSS.escape(id)}"]`) : null;
  }

  destroy(): void {
    this.end();
    this.modeler.destroy();
  }
}

/** Whether an element of the file stands within another one. */
function holds(element: DmnElement, id: string): boolean {
  const seen = new Set<unknown>();
  const search = (value: unknown): boolean => {
    if (typeof value !== "object" || value === null || seen.has(value)) return false;
    seen.add(value);
    if (Array.isArray(value)) return value.some(search);
    if ((value as DmnElement).id === id) return true;
    return Object.entries(value).some(([name, inner]) => !name.startsWith("$") && name !== "di" && search(inner));
  };
  return Object.entries(element).some(([name, inner]) => ["decisionLogic", "encapsulatedLogic"].includes(name) && search(inner));
}
