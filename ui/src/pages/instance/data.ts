// What the page of an instance asks the server.

import { api, type Page } from "@/base/api";
import type { Instance } from "@/base/camunda";

export interface ActiveElement {
  elementInstanceKey: string;
  elementId: string;
  elementName: string;
  type: string;
  waitsFor: string;
  incidentKey: string | null;
}

export interface Incident {
  incidentKey: string;
  elementId: string;
  elementInstanceKey: string;
  errorType: string;
  errorMessage: string;
  jobKey: string | null;
  creationTime: string | null;
}

export interface Job {
  jobKey: string;
  kind: string;
  state: string;
  type: string;
  elementId: string;
  elementInstanceKey: string | null;
  runAt: string | null;
  attempt: number;
  retries: number;
  node: number;
  errorMessage: string;
  creationTime: string | null;
}

export interface Timer {
  jobKey: string;
  elementId: string;
  elementInstanceKey: string | null;
  dueDate: string | null;
  state: string;
}

export interface Subscription {
  subscriptionKey: string;
  elementId: string;
  trigger: string;
  name: string;
  correlationKey: string;
}

export interface UserTask {
  userTaskKey: string;
  elementId: string;
  elementInstanceKey?: string;
  name: string;
  assignee: string;
  candidateGroups: string[];
  candidateUsers: string[];
  dueDate: string | null;
}

export interface Relative {
  processInstanceKey: string;
  processDefinitionId: string;
  elementInstanceKey: string | null;
  state: string;
}

/** What an instance waits for. */
export interface Now {
  elements: ActiveElement[];
  incidents: Incident[];
  jobs: Job[];
  timers: Timer[];
  subscriptions: Subscription[];
  userTasks: UserTask[];
  callers: Relative[];
  called: Relative[];
  hasMoreCalled: boolean;
}

export interface Change {
  name: string;
  before: unknown;
  after: unknown;
  isNew: boolean;
  isKnown: boolean;
}

/** One thing that happened; only what belongs to its type is there. */
export interface Entry {
  position: number;
  index: number;
  date: string;
  type: string;
  elementId?: string;
  elementName?: string;
  elementType?: string;
  elementInstanceKey?: string;
  scopeKey?: string;
  tookMs?: number;
  loopIndex?: number;
  sequenceFlowId?: string;
  changes?: Change[];
  jobKey?: string;
  jobType?: string;
  jobKind?: string;
  attempt?: number;
  worker?: string;
  retries?: number;
  outcome?: string;
  userTaskKey?: string;
  assignee?: string;
  details?: Record<string, unknown>;
  trigger?: string;
  dueDate?: string;
  name?: string;
  correlationKey?: string;
  code?: string;
  message?: string;
  incidentKey?: string;
  errorType?: string;
  processInstanceKey?: string;
  processDefinitionKey?: string;
  state?: string;
  decisionId?: string;
  result?: unknown;
}

/** An attempt of a job that failed, whatever became of the job. */
export interface Attempt {
  jobKey: string;
  attempt: number;
  date: string;
  worker: string;
  errorType: string;
  message: string;
}

export interface Timeline {
  items: Entry[];
  attempts: Attempt[]; // on the first page
  endCursor: string | null;
  historyLevel: string;
}

export interface Variable {
  variableKey: string;
  name: string;
  value: string; // JSON, cut where it is long
  isTruncated: boolean;
  scopeKey: string;
}

export const instanceOf = (key: string, signal: AbortSignal): Promise<Instance> =>
  api.get(`/v2/process-instances/${key}`, undefined, signal);

export const nowOf = (key: string, signal: AbortSignal): Promise<Now> =>
  api.get(`/api/process-instances/${key}/now`, undefined, signal);

export const xmlOf = (definitionKey: string, signal: AbortSignal): Promise<string> =>
  api.text(`/v2/process-definitions/${definitionKey}/xml`, signal);

const ENTRIES = 2_000; // of one question

export const timelineOf = (key: string, after: string | undefined, signal: AbortSignal): Promise<Timeline> =>
  api.get(`/api/process-instances/${key}/timeline`, { after, limit: ENTRIES }, signal);

/** A page of it as a list: attempts that failed stand first, as entries that `linesOf` puts into their places. */
export async function storyOf(key: string, after: string | undefined, signal: AbortSignal): Promise<Page<Entry>> {
  const { items, attempts, endCursor } = await timelineOf(key, after, signal);
  const failed = attempts.map((each, index): Entry => ({ position: 0, index, type: "job-attempt", ...each }));
  return { items: [...failed, ...items], page: { endCursor } };
}

const VARIABLES = 100; // of one page

/** The variables of an instance by name, those with a text in their name. */
export const variablesOf = (key: string, text: string, after: string | undefined, signal: AbortSignal): Promise<Page<Variable>> =>
  api.search<Variable>("/v2/variables/search?truncateValues=false", {
    filter: { processInstanceKey: key, ...(text ? { name: { $like: `*${text.replaceAll(/[*?\\]/g, "\\$&")}*` } } : {}) },
    sort: [{ field: "name" }],
    page: { limit: VARIABLES, ...(after ? { after } : {}) },
  }, signal);
