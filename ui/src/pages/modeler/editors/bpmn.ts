// Processes: bpmn-js with the panel for what engines read, and the simulation of tokens.

import "bpmn-js/dist/assets/diagram-js.css";
import "bpmn-js/dist/assets/bpmn-js.css";
import "bpmn-js/dist/assets/bpmn-font/css/bpmn.css";
import "@bpmn-io/properties-panel/dist/assets/properties-panel.css";
import "bpmn-js-token-simulation/assets/css/bpmn-js-token-simulation.css";
import "@/parts/bpmn-io/bpmn-io.css";

import Modeler from "bpmn-js/lib/Modeler";
import { CreateAppendAnythingModule } from "bpmn-js-create-append-anything";
import {
  BpmnPropertiesPanelModule,
  BpmnPropertiesProviderModule,
  ZeebePropertiesProviderModule,
} from "bpmn-js-properties-panel";
import TokenSimulationModule from "bpmn-js-token-simulation";
import ZeebeBehaviorsModule from "camunda-bpmn-js-behaviors/lib/camunda-cloud";
import zeebe from "zeebe-bpmn-moddle/resources/zeebe.json";

import { fitBeside, type Canvas } from "@/parts/bpmn-io/fit";
import { fontLoaded, TEXT } from "@/parts/bpmn-io/font";
import { overwrite } from "@/parts/bpmn-io/overwrite";
import { RUSSIAN } from "@/parts/bpmn-io/russian";
import { translateModule } from "@/parts/bpmn-io/translate";
import type { Editor, Finding, Opened, Places, Told } from "./editor";
import { fieldOf, said } from "./findings";
import { badge } from "./badge";
import { laidOut } from "@/parts/bpmn-io/bpmn-layout";

interface Shape {
  id: string;
  type: string;
  parent?: Shape;
  businessObject: { get(name: string): unknown };
  waypoints?: { x: number; y: number }[];
}
interface Services {
  canvas: Canvas & { zoom(): number; zoom(scale: number): void; getRootElement(): Shape; scrollToElement(element: Shape, padding?: number): void };
  commandStack: { canUndo(): boolean; canRedo(): boolean; undo(): void; redo(): void };
  elementRegistry: { get(id: string): Shape | undefined; filter(fits: (element: Shape) => boolean): Shape[] };
  eventBus: { on(event: string, call: (event: never) => void): void; fire(event: string, data: object): void };
  overlays: { add(element: string, type: string, overlay: object): string; remove(filter: { type: string }): void };
  selection: { get(): Shape[]; select(element: Shape): void };
  toggleMode: { toggleMode(isOn: boolean): void };
}

const MARK = "finding";
const NOTHING: Finding = { severity: "error", code: "", message: "", elementId: "", line: 0, column: 0, suggestion: "" };
const SIMULATED_SCALE = 0.75;

/** The editor of processes. */
export function bpmnEditor(places: Places, told: Told): Editor {
  const modeler = new Modeler({
    container: places.canvas,
    propertiesPanel: { parent: places.panel },
    additionalModules: [
      BpmnPropertiesPanelModule,
      BpmnPropertiesProviderModule,
      ZeebePropertiesProviderModule,
      ZeebeBehaviorsModule,
      CreateAppendAnythingModule,
      TokenSimulationModule,
      translateModule(),
    ],
    moddleExtensions: { zeebe },
    textRenderer: TEXT,
    bpmnRenderer: { defaultFillColor: "var(--diagram-fill)", defaultStrokeColor: "var(--diagram-stroke)", defaultLabelColor: "var(--diagram-stroke)" },
  } as ConstructorParameters<typeof Modeler>[0]);
  return new BpmnEditor(modeler, told, places.panel);
}

class BpmnEditor implements Editor {
  readonly kind = "bpmn";
  private isOn = false;
  private findings: Finding[] = [];
  private readonly end: () => void;

  constructor(
    private readonly modeler: Modeler,
    told: Told,
    panel: HTMLElement,
  ) {
    this.end = overwrite(panel, RUSSIAN, ".bio-properties-panel-header-type");
    const events = this.service("eventBus");
    events.on("commandStack.changed", ({ trigger }: { trigger?: string }) => trigger !== "clear" && told.changed());
    events.on("selection.changed", () => this.tellPanel());
    events.on("tokenSimulation.toggleMode", (event: { active: boolean }) => {
      this.isOn = event.active;
      told.viewed();
    });
  }

  private service<Name extends keyof Services>(name: Name): Services[Name] {
    return this.modeler.get<Services[Name]>(name);
  }

  async open(content: string): Promise<Opened> {
    await fontLoaded();
    const drawn = laidOut(content);
    const { warnings } = await this.modeler.importXML(drawn);
    this.fit();
    return {
      warnings: warnings.map((warning) => (typeof warning === "string" ? warning : (warning as Error).message)),
      isLaidOut: drawn !== content,
    };
  }

  async content(): Promise<string> {
    const { xml } = await this.modeler.saveXML({ format: true });
    return xml ?? "";
  }

  canUndo = (): boolean => this.service("commandStack").canUndo();
  canRedo = (): boolean => this.service("commandStack").canRedo();
  undo = (): void => this.service("commandStack").undo();
  redo = (): void => this.service("commandStack").redo();
  fit = (): void => fitBeside(this.service("canvas"));
  views = (): [] => [];
  show = async (): Promise<void> => undefined;
  isSimulating = (): boolean => this.isOn;
  simulate(isOn: boolean): void {
    this.service("toggleMode").toggleMode(isOn);
    const canvas = this.service("canvas");
    if (!isOn || canvas.zoom() >= SIMULATED_SCALE) return;
    canvas.zoom(SIMULATED_SCALE); // what is smaller has no buttons
    const [start] = this.service("elementRegistry").filter((element) => element.type === "bpmn:StartEvent");
    if (start) canvas.scrollToElement(start, 200);
  }


  select(finding: Pick<Finding, "elementId"> & Partial<Finding>): void {
    const element = this.service("elementRegistry").get(finding.elementId) ?? this.service("canvas").getRootElement();
    this.service("selection").select(element);
    if (element.parent) this.service("canvas").scrollToElement(element, 120);
    const field = fieldOf({ ...NOTHING, ...finding }, element.businessObject);
    if (field) requestAnimationFrame(() => this.service("eventBus").fire("propertiesPanel.showEntry", { id: field }));
  }

  mark(findings: Finding[]): void {
    this.findings = findings;
    const overlays = this.service("overlays");
    overlays.remove({ type: MARK });
    const registry = this.service("elementRegistry");
    for (const [id, of] of Map.groupBy(findings, (finding) => finding.elementId)) {
      const element = registry.get(id);
      if (!element?.parent) continue; // the process itself has no place on the canvas: the list tells of it
      const position = element.waypoints ? middleOf(element.waypoints) : { top: -9, left: -9 };
      overlays.add(id, MARK, { position, html: badge(of, () => this.select(of[0] ?? { elementId: id })) });
    }
    this.tellPanel();
  }

  /** The fields of the selected element that are to blame say so themselves. */
  private tellPanel(): void {
    const selected = this.service("selection").get();
    const element = selected.length === 1 ? selected[0] : this.service("canvas").getRootElement();
    const errors: Record<string, string> = {};
    for (const finding of this.findings) {
      const field = finding.elementId === element?.id && finding.severity === "error" ? fieldOf(finding, element.businessObject) : undefined;
      if (field) errors[field] = said(finding).text;
    }
    this.service("eventBus").fire("propertiesPanel.setErrors", { errors });
  }

  destroy(): void {
    this.end();
    this.modeler.destroy();
  }
}

/** In the middle of a flow, relative to the box around it, which is where overlays of flows are placed from. */
function middleOf(points: { x: number; y: number }[]): { top: number; left: number } {
  const left = Math.min(...points.map((point) => point.x));
  const top = Math.min(...points.map((point) => point.y));
  const before = points[Math.floor((points.length - 1) / 2)] ?? { x: left, y: top };
  const after = points[Math.ceil((points.length - 1) / 2)] ?? before;
  const next = before === after ? before : after;
  return { top: (before.y + next.y) / 2 - top - 9, left: (before.x + next.x) / 2 - left - 9 };
}
