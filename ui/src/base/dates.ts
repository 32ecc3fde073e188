// Instants in the reader's zone and language, and spans of time.

import { language, locale } from "@/base/words";

const DAY = { day: "numeric", month: "short", year: "numeric" } as const;
const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;

/** Day and time. */
export function dateTime(text: string | number | Date): string {
  return new Intl.DateTimeFormat(locale(), { ...DAY, ...TIME }).format(new Date(text));
}

/** Everything that can be said of an instant: to the millisecond, with the zone, and in UTC. */
export function wholeTime(text: string | number | Date): string {
  const date = new Date(text);
  const options = { weekday: "short", ...DAY, ...TIME, fractionalSecondDigits: 3, timeZoneName: "longOffset" } as const;
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return `${new Intl.DateTimeFormat(locale(), options).format(date)} (${timeZone})\n${date.toISOString()}`;
}

/** The time alone for today, the day too for others. */
export function shortTime(text: string | number | Date, now = new Date()): string {
  const date = new Date(text);
  const isToday = date.toDateString() === now.toDateString();
  const { second: _, ...minutes } = TIME;
  const { year: __, ...day } = DAY;
  const options: Intl.DateTimeFormatOptions = isToday ? TIME : { ...(date.getFullYear() === now.getFullYear() ? day : DAY), ...minutes };
  return new Intl.DateTimeFormat(locale(), options).format(date);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** "3 minutes ago", "in 2 hours". */
export function relative(text: string | number | Date, now = Date.now()): string {
  const distance = new Date(text).getTime() - now;
  const format = new Intl.RelativeTimeFormat(language.get(), { numeric: "auto" });
  for (const [unit, length] of STEPS) {
    if (Math.abs(distance) >= length || unit === "second") return format.format(Math.round(distance / length), unit);
  }
  return "";
}

/** A span in milliseconds, in at most two units: "2 h 5 min", "350 ms". */
export function span(ms: number): string {
  const units = language.get() === "ru" ? ["д", "ч", "мин", "с", "мс"] : ["d", "h", "min", "s", "ms"];
  if (ms < 1_000) return `${Math.round(ms)} ${units[4]}`;
  if (ms < 10_000) return `${(ms / 1_000).toLocaleString(locale(), { maximumFractionDigits: 1 })} ${units[3]}`;
  const lengths = [86_400_000, 3_600_000, 60_000, 1_000];
  const first = lengths.findIndex((length) => ms >= length);
  const size = lengths[first] ?? 1_000;
  const whole = Math.floor(ms / size);
  const next = lengths[first + 1];
  const rest = next ? Math.floor((ms - whole * size) / next) : 0;
  return `${whole} ${units[first]}${rest ? ` ${rest} ${units[first + 1]}` : ""}`;
}
