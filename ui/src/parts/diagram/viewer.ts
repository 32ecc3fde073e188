// The part of the diagram that bpmn-js is needed for. Loaded when a diagram is shown for the first time.

import NavigatedViewer from "bpmn-js/lib/NavigatedViewer";
import "bpmn-js/dist/assets/diagram-js.css";
import "bpmn-js/dist/assets/bpmn-js.css";
import "bpmn-js/dist/assets/bpmn-font/css/bpmn.css";
import { hasDrawing, laidOut } from "@/parts/bpmn-io/bpmn-layout";
import { fontLoaded, TEXT } from "@/parts/bpmn-io/font";
import { followFingers } from "@/parts/diagram/touch";
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
const SCALE_MAX = 1.15; // a small process is not blown up
const SCALE_LEAST = 0.35; // a diagram that would be smaller is shown in part
const SCALE_OF_PART = 0.6; // so that names can be read
const EDGE = 24;

/** One diagram in one place of the page. */
export class Viewer {
  private readonly viewer: NavigatedViewer;
  isLaidOut = false; // by us, since the file has no drawing

  private leave: () => void = () => undefined;

  constructor(private readonly container: HTMLElement, onSelect: (id: string | null) => void) {
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
    this.container.querySelector(".bjs-powered-by")?.setAttribute("aria-label", "bpmn.io");
    this.leave = followFingers(this.container, this.get("canvas"));
  }

  /** Shows the whole, or as much of it as can be read: its beginning, or what is asked for. True if it is the whole. */
  fit(around?: string): boolean {
    const canvas = this.get("canvas");
    const scale = this.whole();
    if (scale >= SCALE_LEAST) return true;
    canvas.zoom(SCALE_OF_PART);
    const { inner, outer } = canvas.viewbox();
    const [width, height] = [outer.width / SCALE_OF_PART, outer.height / SCALE_OF_PART];
    const edge = EDGE / SCALE_OF_PART;
    const x = inner.width + 2 * edge < width ? inner.x - (width - inner.width) / 2 : inner.x - edge;
    const y = inner.height + 2 * edge < height ? inner.y - (height - inner.height) / 2 : inner.y - edge;
    const middle = this.middle(around);
    canvas.viewbox({ x: middle ? Math.max(x, middle.x - width / 2) : x, y: middle ? Math.max(y, middle.y - height / 2) : y, width, height });
    return false;
  }

  private middle(id: string | undefined): { x: number; y: number } | undefined {
    const { x = 0, y = 0, width = 0, height = 0 } = (id && this.shape(id)) || {};
    return width ? { x: x + width / 2, y: y + height / 2 } : undefined;
  }

  /** Shows the whole, however small; what it is scaled by. */
  whole(): number {
    const canvas = this.get("canvas");
    canvas.resized();
    const { inner, outer } = canvas.viewbox();
    // nothing has a size while the page is built anew, or hidden: it is fitted once it has one
    if (![inner.width, inner.height, outer.width, outer.height].every((each) => each > 0 && Number.isFinite(each))) return SCALE_MAX;
    canvas.zoom("fit-viewport", "auto");
    return canvas.zoom(Math.min(SCALE_MAX, canvas.zoom() * MARGIN), "auto");
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
    this.leave();
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
