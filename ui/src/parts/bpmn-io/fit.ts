// Fits what is drawn into the part of the canvas that no palette covers.

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Canvas {
  getContainer(): HTMLElement;
  resized(): void;
  viewbox(): { inner: Box; outer: { width: number; height: number } };
  viewbox(box: Box): void;
}

const MARGIN = 30;
const GAP = 14;
const SCALE_MAX = 1.15; // a small process is not blown up
const SCALE_LEAST = 0.35; // what is larger is shown in part, from its beginning
const SCALE_OF_PART = 0.6; // so that names can be read

/** Shows the whole, or as much as can be read, to the right of the palette if there is one. */
export function fitBeside(canvas: Canvas): void {
  canvas.resized();
  const palette = canvas.getContainer().querySelector<HTMLElement>(".djs-palette");
  const left = palette ? palette.offsetLeft + palette.offsetWidth + GAP : MARGIN;
  const { inner, outer } = canvas.viewbox();
  if (![outer.width, outer.height, inner.width, inner.height].every((each) => each > 0 && Number.isFinite(each))) return;
  const width = outer.width - left - MARGIN;
  const height = outer.height - 2 * MARGIN;
  const whole = Math.min(width / inner.width, height / inner.height, SCALE_MAX);
  const scale = whole < SCALE_LEAST ? SCALE_OF_PART : whole;
  const x = inner.x - (left + Math.max(0, width - inner.width * scale) / 2) / scale;
  const y = inner.y - (MARGIN + Math.max(0, height - inner.height * scale) / 2) / scale;
  canvas.viewbox({ x, y, width: outer.width / scale, height: outer.height / scale });
}
