// What the overview asks of the server.

export interface Bounded {
  count: number;
  isBound: boolean;
}

export type Measure = "started" | "completed" | "terminated" | "incidents" | "rejected" | "jobsDone" | "jobsRetried" | "jobsFailed";

export interface Alike {
  fingerprint: string;
  count: number;
  processDefinitionId: string;
  elementId: string;
  errorType: string;
  errorMessage: string;
  firstDate: string;
  lastDate: string;
  incidentKey: string;
  processInstanceKey: string;
}

export interface Worker {
  node: number;
  name: string;
  startedDate: string;
  seenDate: string;
  isAlive: boolean;
  isThis: boolean;
  running: number;
}

export interface Exporter {
  name: string;
  lag: number;
  lagMs: number;
  error: string | null;
}

export interface Overview {
  date: string;
  rates: Record<Measure, number>;
  series: { at: string[] } & Record<Measure, number[]>;
  commands: { inFlight: number; limit: number | null };
  instances: { active: number; completed: number; terminated: number; isCounted: boolean; isBehind: boolean };
  jobs: { ready: Bounded; running: Bounded; scheduled: Bounded; oldestReadyDate: string | null };
  userTasks: Bounded;
  incidents: { total: Bounded; groups: Alike[] };
  exporters: Exporter[];
  workers: Worker[];
}

export interface Line {
  measure: Measure;
  label: string;
  colour: string; // a custom property of the theme
}

/** The series of the last minutes, as columns of the chart: seconds, then each line. A pause without samples is a gap. */
export function columns(overview: Overview, lines: Line[], minutes: number): (number | null)[][] {
  const until = new Date(overview.date).getTime();
  const since = until - minutes * 60_000;
  const times = overview.series.at.map((at) => new Date(at).getTime());
  const shown = times.flatMap((at, index) => (at >= since ? [index] : []));
  const values = lines.map(({ measure }) => shown.map((index) => overview.series[measure][index] ?? null));
  return [shown.map((index) => (times[index] ?? 0) / 1_000), ...values];
}
