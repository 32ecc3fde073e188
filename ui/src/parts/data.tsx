// Small pieces of data: states, keys, instants, spans, counts, JSON.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { dateTime, relative, shortTime, span, wholeTime } from "@/base/dates";
import { Exact, readJson } from "@/base/json";
import { number, useLanguage, useWords } from "@/base/words";
import { toast } from "@/parts/feedback";
import { words } from "@/parts/words";

export type Tone = "neutral" | "active" | "good" | "bad" | "warn" | "muted";

const TONES: Record<string, Tone> = {
  ACTIVE: "active", CREATED: "active", RUNNING: "active", READY: "active", ACTIVATED: "active",
  COMPLETED: "good", DONE: "good", RESOLVED: "good",
  FAILED: "bad", INCIDENT: "bad", ERROR_THROWN: "bad", PARTIALLY_COMPLETED: "bad",
  SUSPENDED: "warn", PAUSED: "warn", SCHEDULED: "warn", RETRYABLE: "warn", WAITING: "warn",
  TERMINATED: "muted", CANCELED: "muted", CANCELLED: "muted", DELETED: "muted",
};

/** A short word on a colour; the colour is never all that says it. */
export function Badge({ tone = "neutral", children, title }: { tone?: Tone; children: ComponentChildren; title?: string }): JSX.Element {
  return <span class={`badge ${tone}`} title={title}>{children}</span>;
}

/** A state by its name; `words` translates the names. */
export function State({ state, label, hasIncident }: { state: string; label?: string; hasIncident?: boolean }): JSX.Element {
  const tone = hasIncident ? "bad" : (TONES[state.toUpperCase()] ?? "neutral");
  return (
    <Badge tone={tone}>
      <span class="dot" aria-hidden="true" />
      {label ?? state.toLowerCase().replaceAll("_", " ")}
    </Badge>
  );
}

/** A key, small and whole; pressing copies it. */
export function Key({ value }: { value: string }): JSX.Element {
  const t = useWords(words);
  return (
    <button type="button" class="key" title={t.copy} onClick={() => void navigator.clipboard?.writeText(value).then(() => toast(t.copied, value))}>
      {value}
    </button>
  );
}

/** An instant in the reader's zone; the whole of it when pointed at. */
export function When({ at, style = "short" }: { at: string | number | null | undefined; style?: "short" | "full" | "relative" }): JSX.Element {
  useLanguage();
  useMinute(style === "relative");
  if (at === null || at === undefined || at === "") return <span class="none">–</span>;
  const date = new Date(at);
  const text = style === "relative" ? relative(date) : style === "full" ? dateTime(date) : shortTime(date);
  return <time dateTime={date.toISOString()} title={wholeTime(date)}>{text}</time>;
}

/** How long it took, or has taken until now. */
export function Duration({ from, to }: { from: string | number; to?: string | number | null }): JSX.Element {
  useLanguage();
  useMinute(!to, 1_000);
  const ms = (to ? new Date(to).getTime() : Date.now()) - new Date(from).getTime();
  return <span class="duration">{span(Math.max(0, ms))}</span>;
}

/** Renders again now and then, while time alone changes what is shown. */
function useMinute(isOn: boolean, every = 10_000): void {
  const [, turn] = useState(0);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => turn((count) => count + 1), every);
    return () => clearInterval(timer);
  }, [isOn, every]);
}

/** A number; "10,000+" where there are more than were counted. */
export function Count({ value, isBound = false }: { value: number; isBound?: boolean }): JSX.Element {
  useLanguage();
  return <span class="count">{number(value)}{isBound ? "+" : ""}</span>;
}

// -- JSON ------------------------------------------------------------------------------------------------------------
const SHOWN_MAX = 100;

/** A JSON value as a tree that opens. */
export function JsonView({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }): JSX.Element {
  const t = useWords(words);
  if (value === null || typeof value !== "object" || value instanceof Exact) {
    const kind = value === null ? "null" : value instanceof Exact ? "number" : typeof value;
    return (
      <span class="json-line">
        {name !== undefined && <span class="json-name">{name}: </span>}
        <span class={`json-${kind}`}>{value instanceof Exact ? value.text : JSON.stringify(value)}</span>
      </span>
    );
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) {
    return <span class="json-line">{name !== undefined && <span class="json-name">{name}: </span>}{open}{close}</span>;
  }
  return (
    <details class="json" open={depth < 2}>
      <summary>
        {name !== undefined && <span class="json-name">{name}: </span>}
        {open}<span class="json-size">{entries.length}</span>{close}
      </summary>
      <div class="json-inner">
        {entries.slice(0, SHOWN_MAX).map(([key, inner]) => (
          <JsonView key={key} name={key} value={inner} depth={depth + 1} />
        ))}
        {entries.length > SHOWN_MAX && <span class="json-line">{t.more_items(entries.length - SHOWN_MAX)}</span>}
      </div>
    </details>
  );
}

/** A JSON value on one line, cut. */
export function JsonShort({ value, chars = 80 }: { value: unknown; chars?: number }): JSX.Element {
  const text = JSON.stringify(value) ?? "";
  return <code class="json-short" title={text.slice(0, 2_000)}>{text.length > chars ? `${text.slice(0, chars)}…` : text}</code>;
}

/** JSON to edit. `onChange` gets undefined while the text is no JSON. */
export function JsonEditor(props: {
  id?: string;
  label?: string;
  initial: unknown;
  rows?: number;
  onChange: (value: unknown) => void;
  isObject?: boolean;
}): JSX.Element {
  const t = useWords(words);
  const own = useId();
  const [text, setText] = useState(() => JSON.stringify(props.initial, null, 2) ?? "");
  const [problem, setProblem] = useState("");
  const read = (next: string): void => {
    setText(next);
    try {
      const value: unknown = next.trim() === "" && props.isObject ? {} : readJson(next);
      const isFine = !props.isObject || (typeof value === "object" && value !== null && !Array.isArray(value));
      setProblem(isFine ? "" : "{ … }");
      props.onChange(isFine ? value : undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      props.onChange(undefined);
    }
  };
  return (
    <div class="json-editor">
      <textarea
        id={props.id ?? own}
        aria-label={props.label}
        aria-invalid={problem !== ""}
        aria-describedby={problem ? `${own}-problem` : undefined}
        spellcheck={false}
        rows={props.rows ?? Math.min(16, Math.max(3, text.split("\n").length + 1))}
        value={text}
        onInput={(event) => read(event.currentTarget.value)}
      />
      {problem && <small id={`${own}-problem`} class="bad">{t.badJson(problem)}</small>}
    </div>
  );
}

/** Names with their values, one below the other. */
export function Pairs({ rows }: { rows: [string, ComponentChildren][] }): JSX.Element {
  return (
    <dl class="pairs">
      {rows.map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
    </dl>
  );
}

