// From what happened, event by event, to lines that a person reads: an element from its begin to its end is one line. Pure.

import type { Change, Entry } from "@/pages/instance/data";

export interface Line {
  id: string;
  date: string;
  endDate?: string;
  kind: "element" | "remark";
  entry: Entry; // the first one
  depth: number;
  tookMs?: number;
  isInterrupted: boolean;
  isOpen: boolean;
  notes: Entry[]; // what happened within: jobs, tasks, waits
  changes: Change[];
}

const HIDDEN = new Set(["flow-taken", "wait-ended", "user-task-ended"]);
const NOTES = new Set(["job-created", "user-task-created", "timer-set", "subscribed", "called"]);

/** `isWhole`: there is nothing after these. */
export function linesOf(told: Entry[], isWhole: boolean): Line[] {
  const entries = told.filter((each) => each.type !== "job-attempt");
  const lines: Line[] = [];
  const open = new Map<string, Line>(); // by element instance
  const depths = new Map<string, number>();
  const jobs = new Map<string, Entry>(); // as they were made
  let pending: { position: number; changes: Change[]; entry: Entry } | undefined;

  const add = (entry: Entry, kind: Line["kind"], depth: number): Line => {
    const line: Line = { id: `${entry.position}-${entry.index}`, date: entry.date, kind, entry, depth, isInterrupted: false, isOpen: false, notes: [], changes: [] };
    lines.push(line);
    return line;
  };
  /** Variables that no element took for its own are a line of their own. */
  const settle = (): void => {
    if (pending) add(pending.entry, "remark", 0).changes = pending.changes;
    pending = undefined;
  };

  for (const entry of entries) {
    const key = entry.elementInstanceKey ?? "";
    const own = open.get(key);
    if (pending && pending.position !== entry.position) settle();
    switch (entry.type) {
      case "element-started": {
        const depth = depths.get(entry.scopeKey ?? "") ?? 0;
        depths.set(key, depth + 1);
        const line = add(entry, "element", depth);
        line.isOpen = true;
        open.set(key, line);
        break;
      }
      case "element-passed":
        add(entry, "element", depths.get(entry.scopeKey ?? "") ?? 0);
        break;
      case "element-completed":
      case "element-terminated":
        if (own) {
          Object.assign(own, { endDate: entry.date, isOpen: false, isInterrupted: entry.type === "element-terminated" });
          if (entry.tookMs !== undefined) own.tookMs = entry.tookMs;
          if (pending) own.changes.push(...pending.changes);
          pending = undefined;
          open.delete(key);
        }
        break;
      case "variables": {
        const last = lines.at(-1);
        if (own) own.changes.push(...(entry.changes ?? []));
        else if (last?.entry.type === "started" && last.entry.position === entry.position) last.changes.push(...(entry.changes ?? []));
        else if (pending) pending.changes.push(...(entry.changes ?? []));
        else pending = { position: entry.position, changes: [...(entry.changes ?? [])], entry };
        break;
      }
      case "job-ended": {
        const made = jobs.get(entry.jobKey ?? "");
        if (entry.outcome === "failed" || entry.outcome === "error") add({ ...entry, jobType: made?.jobType ?? "" }, "remark", depths.get(key) ?? 1);
        break;
      }
      default:
        if (entry.type === "job-created" && entry.jobKey) jobs.set(entry.jobKey, entry);
        if (NOTES.has(entry.type) && own) own.notes.push(entry);
        else if (!HIDDEN.has(entry.type) && !NOTES.has(entry.type)) add(entry, "remark", entry.type === "started" || entry.type === "ended" ? 0 : (depths.get(key) ?? 0));
    }
  }
  settle();
  const attempts = told.filter((each) => each.type === "job-attempt" && !isRepeated(each, entries));
  return merged(lines, attempts.map((each) => attemptLine(each, jobs, depths)), isWhole);
}

/** The last attempt of a job is told of by its incident already. */
function isRepeated(attempt: Entry, entries: Entry[]): boolean {
  const text = (attempt.message ?? "").trim();
  return entries.some((each) => each.type === "incident" && each.jobKey === attempt.jobKey && each.date >= attempt.date && text !== "" && (each.message ?? "").trim().endsWith(text));
}

function attemptLine(attempt: Entry, jobs: Map<string, Entry>, depths: Map<string, number>): Line {
  const { elementId, elementName, elementInstanceKey = "", jobType = "" } = jobs.get(attempt.jobKey ?? "") ?? {};
  const entry: Entry = { ...attempt, jobType, elementInstanceKey, ...(elementId && { elementId }), ...(elementName && { elementName }) };
  return { id: `attempt-${attempt.jobKey}-${attempt.index}`, date: attempt.date, kind: "remark", entry, depth: depths.get(elementInstanceKey) ?? 1, isInterrupted: false, isOpen: false, notes: [], changes: [] };
}

/** Lines by time; those that come after what is told so far wait for it. */
function merged(lines: Line[], more: Line[], isWhole: boolean): Line[] {
  const all = [...lines];
  const last = lines.at(-1)?.date ?? "";
  for (const line of more) {
    if (!isWhole && line.date > last) continue;
    const place = all.findIndex(({ date }) => date > line.date);
    all.splice(place < 0 ? all.length : place, 0, line);
  }
  return all;
}
