// What the server says about the queue, and how it is asked.

import { api, type Page } from "@/base/api";
import type { Filtered } from "@/parts/filters";

export type JobState = "READY" | "RUNNING" | "SCHEDULED" | "AWAITING" | "THROTTLED" | "FAILED" | "SUSPENDED" | "SUCCEEDED" | "DELETED";
export type JobKind = "TASK" | "SERVICE" | "METHOD" | "TIMER" | "FOLLOW_UP" | "LISTENER";

export const STATES: JobState[] = ["READY", "RUNNING", "SCHEDULED", "AWAITING", "THROTTLED", "FAILED", "SUSPENDED", "SUCCEEDED", "DELETED"];
export const KINDS: JobKind[] = ["TASK", "SERVICE", "METHOD", "TIMER", "FOLLOW_UP", "LISTENER"];

export interface Job {
  jobKey: string;
  kind: JobKind;
  state: JobState;
  queue: string;
  type: string;
  title: string;
  processInstanceKey: string | null;
  priority: number;
  runAt: string;
  createdAt: string;
  endedAt: string | null;
  attempt: number;
  retries: number; // that are left
  crashes: number;
  errorMessage: string;
  args: unknown;
  output: unknown;
  progress: number;
  progressText: string;
  waitsFor: string;
  cancelReason: string | null;
  tags: string[];
  metadata: Record<string, string>;
  tenantId: string;
  node: number;
  batchKey: string | null;
  uniqueKey: string;
  limits: string[];
  fairKey: string;
  timeoutMs: number;
  deadlineAt: string | null;
}

export interface RelatedJob {
  jobKey: string;
  type: string;
  title: string;
  state: JobState | "GONE";
  either: boolean; // it only has to be over
}

export interface LogLine {
  number: number;
  at: string;
  level: number;
  text: string;
}

/** One run of a job that failed. */
export interface JobAttempt {
  attempt: number;
  at: string;
  worker: string;
  errorType: string;
  message: string;
}

export interface JobDetails {
  job: Job;
  checkpoint: unknown;
  attempts?: JobAttempt[];
  parents: RelatedJob[];
  children: RelatedJob[];
}

export interface Flow {
  nodes: { jobKey: string; type: string; title: string; queue: string; state: string; isBatch: boolean; progress: number }[];
  edges: { parentKey: string; childKey: string; either: boolean }[];
  isCut: boolean;
  flowKey: string | null; // of one that has a title
  title: string;
}

export type TitledFlow = Omit<JobBatch, "batchKey"> & { flowKey: string };

export interface Queue {
  queue: string;
  counts: Partial<Record<JobState, number>>;
  beyond: JobState[]; // states of which there may be more than were counted
  oldestAt: string | null;
  latencyMs: number;
  isPaused: boolean;
  pauseReason: string;
  pausedAt: string | null;
  enqueuedPerMinute: number;
  succeededPerMinute: number;
  failedPerMinute: number;
}

export interface PausedType {
  type: string;
  reason: string;
  pausedAt: string | null;
}

export type Queues = Page<Queue> & { pausedTypes: PausedType[] };

export interface Series {
  minutes: string[];
  series: { queue: string; enqueued: number[]; succeeded: number[]; failed: number[] }[];
}

export interface Limit {
  key: string;
  most: number;
  rate: number;
  perMs: number;
  burst: number;
  used: number;
  waiting: number;
  reservedAt: string | null;
}

export interface Recurring {
  name: string;
  cycle: string;
  group: string;
  type: string;
  queue: string;
  args: unknown;
  missed: "once" | "all" | "skip";
  overlap: boolean;
  isPaused: boolean;
  nextAt: string | null;
  lastAt: string | null;
  lastJobKey: string | null;
  fired: number;
  tenantId: string;
}

export interface RecurringDetails {
  recurring: Recurring;
  nextRuns: string[];
  history: { at: string; dueAt: string | null; jobs: { jobKey: string; state: JobState | "GONE" }[] }[];
}

export interface JobBatch {
  batchKey: string;
  title: string;
  state: string;
  total: number;
  succeeded: number;
  failed: number;
  deleted: number;
  pending: number;
  createdAt: string;
  finishedAt: string | null;
}

export interface Worker {
  node: number;
  name: string;
  startedAt: string | null;
  beatAt: string | null;
  running: number;
  jobs: { jobKey: string; type: string; queue: string; title: string; attempt: number; progress: number; progressText: string }[];
  queues: { queue: string; types: string[]; slots: number; running: number; buffered: number }[];
  stuck: { jobKey: string; type: string }[];
}

/** The names of the filters in the address, and those of the server. */
const FILTERS: Record<string, string> = { state: "state", queue: "queue", type: "type", kind: "kind", tag: "tag", text: "text", batch: "batchKey" };
const ROWS = 50;

export function serverFilter(values: Filtered): Record<string, string> {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (FILTERS[name] ? [[FILTERS[name], value]] : [])));
}

export function listJobs(values: Filtered, after: string | undefined, signal: AbortSignal): Promise<Page<Job>> {
  return api.get<Page<Job>>("/api/jobs", { ...serverFilter(values), limit: ROWS, after }, signal);
}

/** A page of one of the other lists. */
export function listOf<T>(path: string): (after: string | undefined, signal: AbortSignal) => Promise<Page<T>> {
  return (after, signal) => api.get<Page<T>>(path, { limit: ROWS, after }, signal);
}

/** The last line of a traceback says what happened; of other messages the first. */
export function gist(message: string): string {
  const lines = message.trim().split("\n");
  const isTrace = lines[0]?.startsWith("Traceback") ?? false;
  return (isTrace ? lines.at(-1) : lines[0]) ?? "";
}

export const part = encodeURIComponent; // of a path
