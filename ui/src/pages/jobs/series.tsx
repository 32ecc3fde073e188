// What happened per minute, as lines drawn by uPlot: one large chart, and a small one for each queue. In words, too.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { locale, number, useLanguage, useWords } from "@/base/words";
import type { Series } from "@/pages/jobs/data";
import { words } from "@/pages/jobs/words";

export interface Lines {
  enqueued: number[];
  succeeded: number[];
  failed: number[];
}
const NAMES = ["enqueued", "succeeded", "failed"] as const;
const COLOURS = { enqueued: "--active-strong", succeeded: "--good-strong", failed: "--bad-strong" };
const HEIGHT = 130;
const SPARK = { width: 150, height: 36 };

/** The lines of one queue, or of all of them added up. */
export function linesOf(series: Series, queue: string | null): Lines {
  const chosen = series.series.filter((each) => queue === null || each.queue === queue);
  const added = (name: (typeof NAMES)[number]): number[] => series.minutes.map((_, at) => chosen.reduce((sum, each) => sum + (each[name][at] ?? 0), 0));
  return { enqueued: added("enqueued"), succeeded: added("succeeded"), failed: added("failed") };
}

function total(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** A chart beside a number: no axes. */
export function Spark({ minutes, lines }: { minutes: string[]; lines: Lines }): JSX.Element {
  const t = useWords(words);
  const box = usePlot(minutes, lines, true);
  return <div ref={box} class="spark" role="img" aria-label={t.seriesOf(total(lines.enqueued), total(lines.succeeded), total(lines.failed))} />;
}

export function SeriesChart({ minutes, lines }: { minutes: string[]; lines: Lines }): JSX.Element {
  const t = useWords(words);
  const box = usePlot(minutes, lines, false);
  return (
    <figure class="series-box">
      <div ref={box} role="img" aria-label={t.seriesOf(total(lines.enqueued), total(lines.succeeded), total(lines.failed))} />
      <figcaption>
        {NAMES.map((name) => (
          <span key={name}><i style={{ background: `var(${COLOURS[name]})` }} aria-hidden="true" />{t[name]}<b>{number(total(lines[name]))}</b></span>
        ))}
      </figcaption>
    </figure>
  );
}

/** Zeros between zeros left out: where nothing fails, no red line stands on the others. */
function withoutBase(values: number[]): (number | null)[] {
  return values.map((value, at) => (value || values[at - 1] || values[at + 1] ? value : null));
}

function usePlot(minutes: string[], lines: Lines, isSmall: boolean): { current: HTMLDivElement | null } {
  useLanguage();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const data = [minutes.map((each) => new Date(each).getTime() / 1_000), ...NAMES.map((name) => (name === "failed" ? withoutBase(lines[name]) : lines[name]))] as UPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new UPlot(options(element, isSmall), latest.current, element);
    };
    draw();
    const sizes = new ResizeObserver(() => !isSmall && plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    sizes.observe(element);
    // The colours are the theme's: when that changes, they are read anew.
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", draw);
    return () => {
      sizes.disconnect();
      themes.disconnect();
      system.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [isSmall]);
  const key = JSON.stringify(data);
  useEffect(() => plot.current?.setData(latest.current), [key]);
  return box;
}

function options(element: HTMLElement, isSmall: boolean): UPlot.Options {
  const axis = { stroke: resolved(element, "--ink-soft"), grid: { stroke: resolved(element, "--line"), width: 1 }, ticks: { show: false }, font: `11px ${getComputedStyle(element).fontFamily}` };
  return {
    width: isSmall ? SPARK.width : element.clientWidth,
    height: isSmall ? SPARK.height : HEIGHT,
    legend: { show: false },
    cursor: { show: !isSmall, y: false },
    padding: isSmall ? [3, 3, 3, 3] : [8, 26, 0, 0],
    scales: { x: { time: true }, y: { range: (_, __, most) => [0, Math.max(1, (most ?? 0) * 1.1)] } },
    axes: isSmall ? [{ show: false }, { show: false }] : [{ ...axis, values: (_, splits) => splits.map(clock), space: 70, size: 28 }, { ...axis, values: (_, splits) => splits.map((value) => number(value)), size: 46 }],
    series: [{}, ...NAMES.map((name) => ({ label: name, stroke: resolved(element, COLOURS[name]), width: isSmall ? 1.5 : 2, points: { show: false } }))],
  };
}

function clock(at: number): string {
  return new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date(at * 1_000));
}

/** A colour of the theme as a canvas takes it: a custom property is only its text. */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
