// What the modeler asks of the server.

import { api } from "@/base/api";
import type { Finding, Kind } from "./editors/editor";

/** What is deployed, whatever it is. */
export interface Deployed {
  kind: Kind;
  key: string; // of the version; the file is asked for by it
  id: string;
  name: string;
  version: number;
  resourceName: string;
}

interface Definition {
  processDefinitionKey: string;
  processDefinitionId: string;
  name: string | null;
  version: number;
  resourceName: string;
}
interface Requirements {
  decisionRequirementsKey: string;
  decisionRequirementsId: string;
  decisionRequirementsName: string;
  version: number;
  resourceName: string;
}
interface Resource {
  resourceKey: string;
  resourceId: string;
  resourceName: string;
  version: number;
}

const LISTED_MAX = 200;

/** The latest version of each process, decision file and form, by name. */
export async function listDeployed(signal: AbortSignal): Promise<Deployed[]> {
  const page = { limit: LISTED_MAX };
  const [processes, decisions, resources] = await Promise.all([
    api.search<Definition>("/v2/process-definitions/search", { filter: { isLatestVersion: true }, page }, signal),
    api.search<Requirements>("/v2/decision-requirements/search", { page }, signal),
    api.search<Resource>("/v2/resources/search", { page }, signal),
  ]);
  const found: Deployed[] = [
    ...processes.items.map((row) => ({
      kind: "bpmn" as const,
      key: row.processDefinitionKey,
      id: row.processDefinitionId,
      name: row.name || row.processDefinitionId,
      version: row.version,
      resourceName: row.resourceName,
    })),
    ...latest(decisions.items, (row) => row.decisionRequirementsId).map((row) => ({
      kind: "dmn" as const,
      key: row.decisionRequirementsKey,
      id: row.decisionRequirementsId,
      name: row.decisionRequirementsName || row.decisionRequirementsId,
      version: row.version,
      resourceName: row.resourceName,
    })),
    ...latest(resources.items.filter(isForm), (row) => row.resourceId).map((row) => ({
      kind: "form" as const,
      key: row.resourceKey,
      id: row.resourceId,
      name: row.resourceId,
      version: row.version,
      resourceName: row.resourceName,
    })),
  ];
  return found.sort((one, other) => one.name.localeCompare(other.name));
}

function isForm(row: Resource): boolean {
  return /\.form(\.json)?$/i.test(row.resourceName);
}

function latest<Row extends { version: number }>(rows: Row[], idOf: (row: Row) => string): Row[] {
  const found = new Map<string, Row>();
  for (const row of rows) {
    const known = found.get(idOf(row));
    if (!known || known.version < row.version) found.set(idOf(row), row);
  }
  return [...found.values()];
}

/** What a key is of, and its file. */
export async function deployedFile(kind: Kind, key: string): Promise<{ about: Deployed; content: string }> {
  switch (kind) {
    case "bpmn": {
      const [row, content] = await Promise.all([
        api.get<Definition>(`/v2/process-definitions/${key}`),
        api.text(`/v2/process-definitions/${key}/xml`),
      ]);
      const name = row.name || row.processDefinitionId;
      return { about: { kind, key, id: row.processDefinitionId, name, version: row.version, resourceName: row.resourceName }, content };
    }
    case "dmn": {
      const [row, content] = await Promise.all([
        api.get<Requirements>(`/v2/decision-requirements/${key}`),
        api.text(`/v2/decision-requirements/${key}/xml`),
      ]);
      const name = row.decisionRequirementsName;
      return { about: { kind, key, id: row.decisionRequirementsId, name, version: row.version, resourceName: row.resourceName }, content };
    }
    case "form": {
      const [row, content] = await Promise.all([
        api.get<Resource>(`/v2/resources/${key}`),
        api.text(`/v2/resources/${key}/content`),
      ]);
      return { about: { kind, key, id: row.resourceId, name: row.resourceId, version: row.version, resourceName: row.resourceName }, content };
    }
  }
}

/** Every version of what a file was deployed as, the newest first. */
export async function versionsOf(kind: Kind, id: string, signal: AbortSignal): Promise<{ key: string; version: number }[]> {
  const page = { limit: LISTED_MAX };
  const newest = (rows: { key: string; version: number }[]): { key: string; version: number }[] =>
    rows.sort((one, other) => other.version - one.version);
  switch (kind) {
    case "bpmn": {
      const found = await api.search<Definition>("/v2/process-definitions/search", { filter: { processDefinitionId: id }, page }, signal);
      return newest(found.items.map((row) => ({ key: row.processDefinitionKey, version: row.version })));
    }
    case "dmn": {
      const found = await api.search<Requirements>("/v2/decision-requirements/search", { filter: { decisionRequirementsId: id }, page }, signal);
      return newest(found.items.map((row) => ({ key: row.decisionRequirementsKey, version: row.version })));
    }
    case "form": {
      const found = await api.search<Resource>("/v2/resources/search", { filter: { resourceId: id }, page }, signal);
      return newest(found.items.filter(isForm).map((row) => ({ key: row.resourceKey, version: row.version })));
    }
  }
}

// -- deploying -------------------------------------------------------------------------------------------------------
interface DeployedItem {
  processDefinition?: { processDefinitionId: string; processDefinitionKey: string; processDefinitionVersion: number } | null;
  decisionDefinition?: { decisionDefinitionId: string; decisionDefinitionKey: string; version: number; name: string } | null;
  decisionRequirements?: { decisionRequirementsId: string; decisionRequirementsKey: string; version: number } | null;
  form?: { formId: string; formKey: string; version: number } | null;
}

/** What a deployment brought. */
export interface Outcome {
  kind: Kind | "decision";
  id: string;
  key: string;
  version: number;
}

/** Deploys files together, all or nothing. Raises Problem. */
export async function deploy(files: { name: string; content: string | Blob }[]): Promise<Outcome[]> {
  const uploads = files.map((file) => new File([file.content], file.name));
  const answer = await api.upload<{ deployments: DeployedItem[] }>("/v2/deployments", uploads);
  return answer.deployments.flatMap(({ processDefinition, decisionDefinition, decisionRequirements, form }): Outcome[] => {
    if (processDefinition) {
      const { processDefinitionId: id, processDefinitionKey: key, processDefinitionVersion: version } = processDefinition;
      return [{ kind: "bpmn", id, key, version }];
    }
    if (decisionDefinition) {
      const { decisionDefinitionId: id, decisionDefinitionKey: key, version } = decisionDefinition;
      return [{ kind: "decision", id, key, version }];
    }
    if (decisionRequirements) {
      const { decisionRequirementsId: id, decisionRequirementsKey: key, version } = decisionRequirements;
      return [{ kind: "dmn", id, key, version }];
    }
    return form ? [{ kind: "form", id: form.formId, key: form.formKey, version: form.version }] : [];
  });
}

/** The form of a version's start event, or null where it has none. */
export async function startForm(key: string, signal: AbortSignal): Promise<string | null> {
  return (await api.get<{ schema: string } | undefined>(`/v2/process-definitions/${key}/form`, undefined, signal))?.schema ?? null;
}

/** Starts an instance of a version. Raises Problem. */
export async function start(key: string, variables: object, businessId: string): Promise<string> {
  const body = { processDefinitionKey: key, variables, ...(businessId ? { businessId } : {}) };
  const answer = await api.post<{ processInstanceKey: string }>("/v2/process-instances", body);
  return answer.processInstanceKey;
}

// -- the server's rules ------------------------------------------------------------------------------------------------
/** Everything that is wrong with a file or worth a remark. Raises Problem. */
export async function lint(name: string, content: string, signal?: AbortSignal): Promise<Finding[]> {
  const answer = await api.post<{ findings: Finding[] }>("/api/lint", { name, content }, signal);
  return answer.findings;
}
