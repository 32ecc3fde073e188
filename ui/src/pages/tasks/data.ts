// User tasks as the server tells them: which belong to whom, their forms and variables, and what is done with them.

import { api, type Page } from "@/base/api";
import { useStored } from "@/base/stored";

export interface Task {
  userTaskKey: string;
  name: string;
  assignee: string | null;
  elementId: string;
  candidateGroups: string[];
  candidateUsers: string[];
  processDefinitionId: string;
  processName: string | null;
  processInstanceKey: string;
  creationDate: string;
  dueDate: string | null;
  followUpDate: string | null;
  externalFormReference: string | null;
  priority: number;
  tags: string[];
  businessId: string | null;
}

export interface TaskForm {
  formId: string;
  version: number;
  schema: string;
}

export interface TaskVariable {
  name: string;
  value: string;
}

/** Whose tasks are shown. */
export type Whose = "mine" | "groups" | "free" | "all";
export type Order = "creationDate" | "dueDate" | "priority";

export interface TaskFilters {
  text?: string;
  process?: string;
  group?: string;
  due?: "" | "overdue" | "day" | "week";
  order?: Order;
}

/** As whom the reader works where the server asks for no name, and the groups that they belong to. */
export const person = useStored.create("person", "");
export const groups = useStored.create<string[]>("groups", []);

/** Whether the server asks nobody for a name: everybody comes as the same one. */
export function isLocal(name: string | undefined): boolean {
  return name === undefined || name === "local";
}

const PAGE = 50;
const COUNTED = 500; // beyond it, "500+" says enough
const DAY_MS = 86_400_000;
const NOBODY = { $exists: false };

export function searchTasks(whose: Whose, who: string, of: string[], filters: TaskFilters, after: string | undefined, signal: AbortSignal): Promise<Page<Task>> {
  const order = filters.order ?? "creationDate";
  const sort = { field: order, order: order === "priority" ? ("DESC" as const) : ("ASC" as const) };
  return api.search<Task>(
    "/v2/user-tasks/search",
    {
      filter: { ...belonging(whose, who, of), ...narrowed(filters) },
      // the server's own order can be followed to any depth
      ...(order === "creationDate" ? {} : { sort: [sort, { field: "creationDate" }] }),
      page: { limit: PAGE, count: COUNTED, ...(after ? { after } : {}) },
    },
    signal,
  );
}

function belonging(whose: Whose, who: string, of: string[]): Record<string, unknown> {
  if (whose === "mine") return { assignee: who };
  if (whose === "groups") return { candidateGroup: { $in: of }, assignee: NOBODY };
  return whose === "free" ? { assignee: NOBODY } : {};
}

function narrowed(filters: TaskFilters): Record<string, unknown> {
  const now = Date.now();
  const until = (days: number): unknown => ({ $lt: new Date(now + days * DAY_MS).toISOString() });
  const due = filters.due ? { overdue: until(0), day: until(1), week: until(7) }[filters.due] : undefined;
  const like = filters.text && { $like: `*${filters.text.replaceAll("*", "\\*")}*` };
  return {
    ...(filters.process ? { processDefinitionId: filters.process } : {}),
    ...(filters.group ? { candidateGroup: filters.group } : {}),
    ...(due ? { dueDate: due } : {}),
    ...(like ? { $or: [{ name: like }, { businessId: like }] } : {}),
  };
}

export const tasks = {
  get: (key: string, signal: AbortSignal) => api.get<Task>(`/v2/user-tasks/${key}`, undefined, signal),
  /** Its form, or null where it has none. */
  form: async (key: string, signal: AbortSignal) => (await api.get<TaskForm | undefined>(`/v2/user-tasks/${key}/form`, undefined, signal)) ?? null,
  variables: async (key: string, signal: AbortSignal): Promise<Record<string, unknown>> => {
    const found = await api.search<TaskVariable>(`/v2/user-tasks/${key}/variables/search?truncateValues=false`, { page: { limit: 1_000 } }, signal);
    return Object.fromEntries(found.items.map(({ name, value }) => [name, parsed(value)]));
  },
  claim: (key: string, assignee: string) => api.post(`/v2/user-tasks/${key}/assignment`, { assignee, allowOverride: false }),
  assign: (key: string, assignee: string) => api.post(`/v2/user-tasks/${key}/assignment`, { assignee }),
  release: (key: string) => api.delete(`/v2/user-tasks/${key}/assignee`),
  change: (key: string, changeset: Record<string, unknown>) => api.patch(`/v2/user-tasks/${key}`, { changeset }),
  complete: (key: string, variables: Record<string, unknown>) => api.post(`/v2/user-tasks/${key}/completion`, { variables }),
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** "overdue", "soon" within a day, or "" for a task without hurry. */
export function hurry(task: Task, now = Date.now()): "overdue" | "soon" | "" {
  if (!task.dueDate) return "";
  const left = new Date(task.dueDate).getTime() - now;
  return left < 0 ? "overdue" : left < DAY_MS ? "soon" : "";
}

/** The address of a task within the inbox as it is shown. */
export function addressOf(query: URLSearchParams, key: string): string {
  const next = new URLSearchParams(query);
  next.set("task", key);
  return `/tasks?${next.toString()}`;
}
