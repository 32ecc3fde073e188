// The part of the diagram that bpmn-js is needed for. Loaded when a diagram is shown for the first time.

import NavigatedViewer from "bpmn-js/lib/NavigatedViewer";
import "bpmn-js/dist/assets/diagram-js.css";
import "bpmn-js/dist/assets/bpmn-js.css";
import "bpmn-js/dist/assets/bpmn-font/css/bpmn.css";
import { hasDrawing, laidOut } from "@/parts/bpmn-io/bpmn-layout";
import { fontLoaded, TEXT } from "@/parts/bpmn-io/font";
import zeebe from "zeebe-bpmn-moddle/resources/zeebe.json";

export interface DiagramElement {
  id: string;
  type: string;
  name: string;
  businessObject: { id: string; name?: string; $type: string; [more: string]: unknown };
}

interface Service {
  [method: string]: (...given: never[]) => unknown;
}

/** A shape or connection of diagram-js, as far as it is used here. */
export interface Shape {
  id: string;
  type: string;
  waypoints?: unknown[];
  businessObject: DiagramElement["businessObject"];
  x?: number;
  y?: number;
  width?: number;
  height?: number;
}

const MARGIN = 0.93; // what a diagram takes of its place

/** One diagram in one place of the page. */
export class Viewer {
  private readonly viewer: NavigatedViewer;
  isLaidOut = false; // by us, since the file has no drawing

  constructor(container: HTMLElement, onSelect: (id: string | null) => void) {
    this.viewer = new NavigatedViewer({
      container,
      moddleExtensions: { zeebe },
      textRenderer: TEXT,
      bpmnRenderer: {
        defaultFillColor: "var(--diagram-fill)",
        defaultStrokeColor: "var(--diagram-stroke)",
        defaultLabelColor: "var(--diagram-label)",
      },
    } as never);
    this.viewer.on("element.click", (event: { element: Shape }) => {
      onSelect(isRoot(event.element) ? null : event.element.businessObject.id);
    });
  }

  async show(xml: string): Promise<void> {
    this.isLaidOut = !hasDrawing(xml);
    await fontLoaded();
    await this.viewer.importXML(laidOut(xml));
    this.fit();
  }

  fit(): void {
    const canvas = this.get("canvas");
    canvas.resized();
    canvas.zoom("fit-viewport", "auto");
    canvas.zoom(Math.min(1.15, canvas.zoom() * MARGIN), "auto"); // a small process is not blown up
  }

  zoom(step: number): void {
    this.get("zoomScroll").stepZoom(step);
  }

  center(id: string): void {
    if (this.has(id)) this.get("canvas").scrollToElement(id, 80);
  }

  has(id: string): boolean {
    return Boolean(this.get("elementRegistry").get(id));
  }

  elements(): DiagramElement[] {
    const shapes = this.get("elementRegistry").filter((shape: Shape) => !shape.type.endsWith("label") && !isRoot(shape)) as Shape[];
    return shapes.map((shape) => ({
      id: shape.businessObject.id,
      type: shape.type.replace(/^bpmn:/, ""),
      name: shape.businessObject.name ?? "",
      businessObject: shape.businessObject,
    }));
  }

  shape(id: string): Shape | undefined {
    return this.get("elementRegistry").get(id);
  }

  /** The element drawn at a place of the screen: where something is dropped. */
  at(x: number, y: number): string | undefined {
    const graphics = document.elementsFromPoint(x, y).map((each) => each.closest<SVGElement>("[data-element-id]"));
    for (const each of graphics) {
      const id = each?.dataset.elementId;
      const shape = id ? this.shape(id.replace(/_label$/, "")) : undefined;
      if (shape && !isRoot(shape)) return shape.businessObject.id;
    }
    return undefined;
  }

  mark(id: string, name: string, isOn: boolean): void {
    if (!this.has(id)) return;
    if (isOn) this.get("canvas").addMarker(id, name);
    else this.get("canvas").removeMarker(id, name);
  }

  overlay(id: string, position: Record<string, number>, html: HTMLElement, type: string): void {
    if (this.has(id)) this.get("overlays").add(id, type, { position, html, scale: { min: 0.5, max: 1.2 } });
  }

  clear(type: string): void {
    this.get("overlays").remove({ type });
  }

  destroy(): void {
    this.viewer.destroy();
  }

  // diagram-js gives its services without types
  private get(name: string): any {
    return this.viewer.get(name as never) as Service;
  }
}

function isRoot(shape: Shape): boolean {
  return ["bpmn:Process", "bpmn:Collaboration"].includes(shape.type) || shape.id.endsWith("_plane");
}
