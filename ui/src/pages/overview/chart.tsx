// Lines over the last minutes, drawn by uPlot; in words for those who do not see them.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { locale, number, useLanguage, useWords } from "@/base/words";
import { columns, type Line, type Overview } from "@/pages/overview/data";
import { words } from "@/pages/overview/words";

const HEIGHT = 190;

/** A chart with its legend, which says the values of now. */
export function Chart({ overview, lines, minutes }: { overview: Overview; lines: Line[]; minutes: number }): JSX.Element {
  const t = useWords(words);
  useLanguage();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const data = columns(overview, lines, minutes) as unknown as UPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  const names = lines.map(({ label }) => label).join();
  const range = useRef<[number, number]>([0, 0]);
  const until = new Date(overview.date).getTime() / 1_000;
  range.current = [until - minutes * 60, until];

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new UPlot(options(element, lines, () => range.current), latest.current, element);
    };
    draw();
    const sizes = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
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
  }, [names]);
  useEffect(() => plot.current?.setData(data), [overview, minutes]);

  const rates = lines.map((line) => ({ ...line, rate: overview.rates[line.measure] }));
  const text = rates.map(({ label, rate }) => t.chartText(label, number(rate))).join(". ");
  return (
    <figure class="chart">
      <div ref={box} class="chart-box" role="img" aria-label={text} />
      <figcaption class="chart-legend">
        {rates.map(({ measure, label, colour, rate }) => (
          <span key={measure}>
            <i style={{ background: `var(${colour})` }} aria-hidden="true" />
            {label}
            <b>{number(rate, { maximumFractionDigits: rate < 10 ? 1 : 0 })}</b>
          </span>
        ))}
        <span class="soft">{t.perSecond}</span>
      </figcaption>
    </figure>
  );
}

function options(element: HTMLElement, lines: Line[], range: () => [number, number]): UPlot.Options {
  const style = getComputedStyle(element);
  const resolve = (name: string): string => resolved(element, name);
  const axis = {
    stroke: resolve("--ink-soft"),
    grid: { stroke: resolve("--line"), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { x: { time: true, range: () => range() }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, values: (_, splits) => splits.map(clock), space: 70 },
      { ...axis, values: (_, splits) => splits.map((value) => number(value)), size: 46 },
    ],
    series: [
      {},
      ...lines.map(({ label, colour }, index) => ({
        label,
        stroke: resolve(colour),
        width: 2,
        ...(index === 0 ? { fill: `color-mix(in srgb, ${resolve(colour)} 12%, transparent)` } : {}),
        points: { show: false },
      })),
    ],
  };
}

/** The time of a line of the grid; seconds where it stands within a minute. */
function clock(at: number): string {
  const options: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(at % 60 ? { second: "2-digit" } : {}) };
  return new Intl.DateTimeFormat(locale(), options).format(new Date(at * 1_000));
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
