// Icons, drawn here: 20 x 20, one stroke. Decorative always; words stand beside them or in the label of their button.

import type { JSX } from "preact";

const PATHS = {
  overview: "M3 10h4v7H3zM8.5 3h4v14h-4zM14 7h3.5v10H14z",
  processes: "M3 5h5v4H3zM12 11h5v4h-5zM8 7h3.5a1 1 0 0 1 1 1v3M3 15h5",
  jobs: "M4 4h12v4H4zM4 12h12v4H4zM7 6h.01M7 14h.01",
  tasks: "M4 5l1.5 1.5L8 4M4 11l1.5 1.5L8 10M4 16.5h3M11 5.5h6M11 11h6M11 16.5h6",
  decisions: "M3 4h14v12H3zM3 8h14M8 8v8",
  modeler: "M4 16l1-4 8.5-8.5 3 3L8 15zM11.5 5.5l3 3",
  playground: "M7 4h6M8.5 4v5L4.5 16h11l-4-7V4",
  moon: "M16 12.5A6.5 6.5 0 0 1 7.5 4 6.5 6.5 0 1 0 16 12.5z",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1 1M14.7 14.7l1 1M4.3 15.7l1-1M14.7 5.3l1-1",
  auto: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  language: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM3 10h14M10 3c2.5 2.2 2.5 11.8 0 14M10 3c-2.5 2.2-2.5 11.8 0 14",
  out: "M8 4H4v12h4M12 7l3 3-3 3M15 10H8",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  fit: "M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4",
  close: "M5 5l10 10M15 5L5 15",
  check: "M4 10.5l4 4 8-9",
  chevron: "M8 5l5 5-5 5",
  down: "M5 8l5 5 5-5",
  search: "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM13 13l4 4",
  filter: "M3 5h14l-5.5 6v5l-3-1.5V11z",
  alert: "M10 3l8 14H2zM10 8v4M10 14.5h.01",
  info: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 9v5M10 6.5h.01",
  clock: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6v4l2.5 2",
  play: "M6 4l10 6-10 6z",
  pause: "M6.5 4v12M13.5 4v12",
  stop: "M5 5h10v10H5z",
  retry: "M16 10a6 6 0 1 1-2-4.5L16 7M16 3v4h-4",
  trash: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6",
  copy: "M7 7h9v9H7zM4 13V4h9",
  save: "M4 4h10l2 2v10H4zM7 4v4h5V4M7 16v-5h6v5",
  message: "M3 5h14v10H3zM3 5.5l7 5.5 7-5.5",
  move: "M10 3v14M3 10h14M10 3L8 5M10 3l2 2M10 17l-2-2M10 17l2-2M3 10l2-2M3 10l2 2M17 10l-2-2M17 10l-2 2",
  external: "M8 4H4v12h12v-4M12 4h4v4M16 4l-7 7",
  upload: "M10 14V4M6 8l4-4 4 4M4 16h12",
  download: "M10 4v10M6 10l4 4 4-4M4 16h12",
  undo: "M7 4L3 8l4 4M3 8h8.500a4 4 0 0 1 0 8H8",
  redo: "M13 4l4 4-4 4M17 8H8.500a4 4 0 0 0 0 8H12",
  token: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM8.500 7l4.500 3-4.500 3z",
  menu: "M3 6h14M3 10h14M3 14h14",
  dots: "M5 10h.01M10 10h.01M15 10h.01",
  user: "M10 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 17c.5-3.5 2.8-5 6-5s5.500 1.500 6 5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 20 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
