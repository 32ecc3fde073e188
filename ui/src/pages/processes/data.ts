// What these pages ask the server.

import { Exact, readJson } from "@/base/json";
import { api, type Page } from "@/base/api";
import type { Instance } from "@/base/camunda";

export const DEFAULT_TENANT = "<default>"; // Camunda's name of the tenant that needs no name

/** A version with how many instances of it there are. */
export interface Version {
  processDefinitionKey: string;
  processDefinitionId: string;
  name: string | null;
  version: number;
  versionTag: string | null;
  resourceName: string;
  deployedDate: string | null;
  tenantId: string;
  isLatest: boolean;
  active: number;
  completed: number;
  terminated: number;
  incidents: number;
}

export interface Heat {
  items: ElementHeat[];
  flows: { sequenceFlowId: string; taken: number }[];
  isCounted: boolean;
}

export interface ElementHeat {
  elementId: string;
  elementName: string | null;
  type: string;
  active: number;
  incidents: number;
  completed: number;
  canceled: number;
  averageMs: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  totalMs: number;
}

export const versionsOf = (processId: string | undefined, signal: AbortSignal): Promise<{ items: Version[] }> =>
  api.get("/api/process-definitions", { processDefinitionId: processId }, signal);

export const heatOf = (key: string, signal: AbortSignal): Promise<Heat> =>
  api.get(`/api/process-definitions/${key}/elements`, undefined, signal);

/** The form of a version's start event, or null where it has none. */
export const startForm = async (key: string, signal: AbortSignal): Promise<string | null> =>
  (await api.get<{ schema: string } | undefined>(`/v2/process-definitions/${key}/form`, undefined, signal))?.schema ?? null;

export const xmlOf = (key: string, signal?: AbortSignal): Promise<string> =>
  api.text(`/v2/process-definitions/${key}/xml`, signal);

/** The filters of the table of instances, as they stand in the address. */
export interface InstanceFilters {
  state?: string;
  element?: string;
  business?: string;
  tag?: string;
  variable?: string;
  from?: string;
  until?: string;
  text?: string;
  incident?: string;
}

export const PAGE = 50;

/** A page of instances, the newest first. */
export function searchInstances(
  of: { processId?: string | undefined; definitionKey?: string | undefined },
  filters: InstanceFilters,
  after: string | undefined,
  signal: AbortSignal,
): Promise<Page<Instance>> {
  const condition = filters.variable ? variableOf(filters.variable) : undefined;
  const isIncident = filters.state === "INCIDENT";
  return api.get<Page<Instance>>(
    "/api/process-instances",
    {
      processDefinitionId: of.definitionKey ? undefined : of.processId,
      processDefinitionKey: of.definitionKey,
      state: isIncident ? undefined : filters.state,
      hasIncident: isIncident || undefined,
      elementId: isIncident ? undefined : filters.element,
      incidentElementId: isIncident ? filters.element : undefined,
      fingerprint: filters.incident,
      businessId: filters.business,
      tag: filters.tag,
      variables: condition && JSON.stringify({ [condition.name]: readJson(condition.value) }),
      text: filters.text,
      startedFrom: filters.from && instant(filters.from),
      startedUntil: filters.until && instant(filters.until),
      after,
      limit: PAGE,
    },
    signal,
  );
}

/** The same as Camunda's filter, which batch operations take, too. */
export function filterOf(
  of: { processId?: string | undefined; definitionKey?: string | undefined },
  filters: InstanceFilters,
): Record<string, unknown> {
  const filter: Record<string, unknown> = {};
  if (of.processId) filter.processDefinitionId = of.processId;
  if (of.definitionKey) filter.processDefinitionKey = of.definitionKey;
  if (filters.state === "INCIDENT") filter.hasIncident = true;
  else if (filters.state) filter.state = filters.state;
  if (filters.business) filter.businessId = filters.business;
  if (filters.tag) filter.tags = [filters.tag];
  return filter;
}

/** Whether a batch operation can look for this: exact values of what is indexed. */
export function isExact(filters: InstanceFilters): boolean {
  return !filters.element && !filters.variable && !filters.from && !filters.until && !filters.text && !filters.incident;
}

/** `name=value`: the value as JSON, or as the text that it is. Undefined for what is no such condition. */
export function variableOf(text: string): { name: string; value: string } | undefined {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(0, at)).trim();
  if (!name || /[<>!="\\]/.test(name)) return undefined; // only what is equal can be looked for
  const value = text.slice(at + 1).trim();
  try {
    const read = readJson(value);
    return typeof read === "object" && read !== null && !(read instanceof Exact) ? undefined : { name, value: JSON.stringify(read) };
  } catch {
    return value.startsWith("=") ? undefined : { name, value: JSON.stringify(value) };
  }
}

/** The filters that cannot be meant as they stand. */
export function unfit(filters: InstanceFilters): (keyof InstanceFilters)[] {
  const isDate = (text: string | undefined): boolean => !text || !Number.isNaN(new Date(text).getTime());
  return [
    ...(filters.variable && !variableOf(filters.variable) ? (["variable"] as const) : []),
    ...(isDate(filters.from) ? [] : (["from"] as const)),
    ...(isDate(filters.until) ? [] : (["until"] as const)),
  ];
}

/** A time of the reader's zone, as a form gives it, as an instant. */
export function instant(local: string): string {
  return new Date(local).toISOString();
}
