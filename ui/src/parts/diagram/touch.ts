// Fingers on a diagram: one moves it sideways (up and down belongs to the page), two move and scale it. bpmn-js knows the mouse only.

interface Canvas {
  scroll(delta: { dx: number; dy: number }): void;
  zoom(): number;
  zoom(scale: number, center: { x: number; y: number }): void;
}

const SCALES = [0.1, 4] as const;

interface Point {
  x: number;
  y: number;
}

/** Lets fingers move what is drawn in a place; gives back how to end that. */
export function followFingers(place: HTMLElement, canvas: Canvas): () => void {
  const fingers = new Map<number, Point>();
  place.style.touchAction = "pan-y";
  const down = (event: PointerEvent): void => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };
  const up = (event: PointerEvent): void => void fingers.delete(event.pointerId);
  const move = (event: PointerEvent): void => {
    if (!fingers.has(event.pointerId)) return;
    const before = spanned([...fingers.values()]);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = spanned([...fingers.values()]);
    canvas.scroll({ dx: after.middle.x - before.middle.x, dy: after.middle.y - before.middle.y });
    if (fingers.size < 2 || !before.length) return;
    const { left, top } = place.getBoundingClientRect();
    const scale = Math.min(SCALES[1], Math.max(SCALES[0], (canvas.zoom() * after.length) / before.length));
    canvas.zoom(scale, { x: after.middle.x - left, y: after.middle.y - top });
  };
  const listened = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up } as const;
  for (const [name, call] of Object.entries(listened)) place.addEventListener(name, call as EventListener);
  return () => {
    for (const [name, call] of Object.entries(listened)) place.removeEventListener(name, call as EventListener);
  };
}

/** The middle of some points, and how far the first two are from each other. */
function spanned(points: Point[]): { middle: Point; length: number } {
  const sum = points.reduce((total, each) => ({ x: total.x + each.x, y: total.y + each.y }), { x: 0, y: 0 });
  const [one, other] = points;
  return {
    middle: { x: sum.x / points.length, y: sum.y / points.length },
    length: one && other ? Math.hypot(one.x - other.x, one.y - other.y) : 0,
  };
}
