// A BPMN diagram with what is known about its elements: badges, heat, marks, a selection. Laid out if it has no drawing.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Loading, ProblemBox } from "@/parts/feedback";
import { problemOf } from "@/base/ask";
import type { Problem } from "@/base/api";
import { words } from "@/parts/words";
import type { Viewer } from "@/parts/diagram/viewer";
import "@/parts/diagram/diagram.css";

export interface ElementBadge {
  text: string;
  kind: "active" | "incident" | "completed" | "canceled" | "token" | "note";
  title: string;
  corner?: "top-left" | "top-right" | "bottom-left" | "bottom-right";
  isDraggable?: boolean;
}

export interface DiagramProps {
  xml: string;
  badges?: Record<string, ElementBadge[]>;
  heat?: Record<string, number>; // 0 to 1
  marks?: Record<string, string[]>; // classes: taken, waiting, added, removed, changed
  selected?: string | null;
  focus?: string | undefined; // what is shown first where the whole would be too small to be read
  onSelect?: (id: string | null) => void;
  onReady?: (viewer: Viewer) => void;
  onDrop?: (from: string, to: string) => void; // a badge was dragged to another element
  class?: string;
}

const HEAT_STEPS = 10;

export function Diagram(props: DiagramProps): JSX.Element {
  const t = useWords(words);
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [viewer, setViewer] = useState<Viewer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);

  useEffect(() => {
    let isOver = false;
    let made: Viewer | undefined;
    setProblem(null);
    setViewer(null);
    void import("@/parts/diagram/viewer").then(async (module) => {
      if (isOver || !place.current) return;
      made = new module.Viewer(place.current, (id) => latest.current.onSelect?.(id));
      try {
        await made.show(props.xml);
        if (isOver) return;
        setViewer(made);
        latest.current.onReady?.(made);
      } catch (error) {
        if (!isOver) setProblem(problemOf(error));
      }
    }).catch((error: unknown) => setProblem(problemOf(error)));
    return () => {
      isOver = true;
      made?.destroy();
    };
  }, [props.xml]);

  const isWhole = useFit(place, viewer, props.focus);
  useBadges(viewer, latest, props.badges);
  useHeat(viewer, props.heat);
  useMarks(viewer, props.marks);
  useEffect(() => {
    const id = props.selected;
    if (!viewer || !id) return;
    viewer.mark(id, "chosen", true);
    return () => viewer.mark(id, "chosen", false);
  }, [viewer, props.selected]);

  return (
    <div class={`diagram ${props.class ?? ""}`} role="group" aria-label={t.diagram} data-ready={viewer !== null}>
      <div class="diagram-canvas" ref={place} />
      {problem ? <div class="diagram-over"><ProblemBox problem={problem} /></div> : !viewer && <div class="diagram-over"><Loading /></div>}
      {viewer && (
        <div class="diagram-tools">
          <Button kind="ghost" icon="plus" label={t.zoomIn} onClick={() => viewer.zoom(1)} />
          <Button kind="ghost" icon="minus" label={t.zoomOut} onClick={() => viewer.zoom(-1)} />
          <Button kind="ghost" icon="fit" label={t.zoomFit} onClick={() => viewer.whole()} />
        </div>
      )}
      {viewer && (viewer.isLaidOut || !isWhole) && (
        <p class="diagram-note">{viewer.isLaidOut && t.laidOut} {!isWhole && t.inPart}</p>
      )}
    </div>
  );
}

/** Fits the diagram, again when its place changes its size or it is known what to look at; whether it is shown whole. */
function useFit(place: { current: HTMLDivElement | null }, viewer: Viewer | null, focus: string | undefined): boolean {
  const [isWhole, setWhole] = useState(true);
  const first = useRef(focus);
  first.current ??= focus; // what a reader looks at is not taken away when tokens go on
  useLayoutEffect(() => {
    if (!viewer || !place.current) return;
    let width = place.current.clientWidth;
    setWhole(viewer.fit(first.current));
    const observer = new ResizeObserver(() => {
      if (!place.current || Math.abs(place.current.clientWidth - width) < 8) return;
      width = place.current.clientWidth;
      setWhole(viewer.fit(first.current));
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [viewer, focus !== undefined]);
  return isWhole;
}

const CORNERS = {
  "top-left": { top: -13, left: -10 },
  "top-right": { top: -13, right: 14 },
  "bottom-left": { bottom: 10, left: -10 },
  "bottom-right": { bottom: 10, right: 14 },
};
const CORNER_OF: Record<ElementBadge["kind"], keyof typeof CORNERS> = {
  active: "bottom-left",
  token: "top-left",
  incident: "bottom-right",
  completed: "top-right",
  canceled: "top-left",
  note: "top-left",
};

function useBadges(viewer: Viewer | null, latest: { current: DiagramProps }, badges: DiagramProps["badges"]): void {
  const key = JSON.stringify(badges ?? {});
  useEffect(() => {
    if (!viewer) return;
    viewer.clear("badge");
    for (const [id, list] of Object.entries(badges ?? {})) {
      for (const badge of list) viewer.overlay(id, CORNERS[badge.corner ?? CORNER_OF[badge.kind]], drawn(viewer, latest, id, badge), "badge");
    }
  }, [viewer, key]);
}

function drawn(viewer: Viewer, latest: { current: DiagramProps }, id: string, badge: ElementBadge): HTMLElement {
  const element = document.createElement("span");
  element.className = `element-badge ${badge.kind}`;
  element.textContent = badge.text;
  element.title = badge.title;
  element.addEventListener("click", () => latest.current.onSelect?.(id));
  if (badge.isDraggable) makeDraggable(viewer, latest, id, element);
  return element;
}

/** Lets a badge be carried to another element. The element below the pointer is marked meanwhile. */
function makeDraggable(viewer: Viewer, latest: { current: DiagramProps }, id: string, element: HTMLElement): void {
  element.classList.add("draggable");
  element.addEventListener("pointerdown", (down) => {
    down.preventDefault();
    down.stopPropagation();
    const ghost = element.cloneNode(true) as HTMLElement;
    ghost.classList.add("ghost");
    document.body.append(ghost);
    let over: string | undefined;
    const carry = (event: PointerEvent): void => {
      ghost.style.left = `${event.clientX}px`;
      ghost.style.top = `${event.clientY}px`;
      const next = viewer.at(event.clientX, event.clientY);
      if (next === over) return;
      if (over) viewer.mark(over, "drop-here", false);
      over = next === id ? undefined : next;
      if (over) viewer.mark(over, "drop-here", true);
    };
    const end = (event: PointerEvent): void => {
      removeEventListener("pointermove", carry);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      ghost.remove();
      if (over) viewer.mark(over, "drop-here", false);
      if (over && event.type === "pointerup") latest.current.onDrop?.(id, over);
    };
    addEventListener("pointermove", carry);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    carry(down);
  });
}

function useHeat(viewer: Viewer | null, heat: DiagramProps["heat"]): void {
  const key = JSON.stringify(heat ?? {});
  useEffect(() => {
    if (!viewer || !heat) return;
    const set = Object.entries(heat).map(([id, value]) => [id, `heat-${Math.min(HEAT_STEPS - 1, Math.floor(value * HEAT_STEPS))}`] as const);
    for (const [id, name] of set) viewer.mark(id, name, true);
    return () => {
      for (const [id, name] of set) viewer.mark(id, name, false);
    };
  }, [viewer, key]);
}

function useMarks(viewer: Viewer | null, marks: DiagramProps["marks"]): void {
  const key = JSON.stringify(marks ?? {});
  useEffect(() => {
    if (!viewer || !marks) return;
    const set = Object.entries(marks).flatMap(([id, names]) => names.map((name) => [id, name] as const));
    for (const [id, name] of set) viewer.mark(id, name, true);
    return () => {
      for (const [id, name] of set) viewer.mark(id, name, false);
    };
  }, [viewer, key]);
}
