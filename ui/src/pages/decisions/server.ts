// What the pages of decisions ask of the server.

import { api, Problem } from "@/base/api";
import { wordsNow } from "@/base/words";
import { words } from "./words";

export interface Decision {
  decisionDefinitionKey: string;
  decisionDefinitionId: string;
  name: string;
  version: number;
  decisionRequirementsId: string;
  decisionRequirementsKey: string;
  tenantId: string;
}

export interface Matched {
  ruleId: string;
  ruleIndex: number;
}

/** One decision on the way to the result. */
export interface Step {
  id: string;
  name: string;
  isTable: boolean;
  inputs: { name: string; value: unknown }[];
  matched: Matched[];
  output: unknown;
}

export interface Evaluation {
  output: unknown;
  steps: Step[];
  warnings: string[];
  when?: string; // one of the past: the instant, as it is shown
  isKept?: boolean; // false: without values, of which nothing is known
}

interface Traced {
  decisionId: string;
  decisionName: string;
  evaluatedInputs: { inputName: string; inputValue: unknown }[];
  tables: { evaluatedInputs: { inputName: string; inputValue: unknown }[]; matchedRules: Matched[] }[];
  output: unknown;
}

/** The names of the files that decisions stand in, by the keys of their requirements. */
export async function filesOf(rows: Decision[], signal: AbortSignal): Promise<Record<string, string>> {
  const keys = [...new Set(rows.map((row) => row.decisionRequirementsKey))];
  const found = await api.search<{ decisionRequirementsKey: string; resourceName: string }>(
    "/v2/decision-requirements/search", { filter: { decisionRequirementsKey: { $in: keys } }, page: { limit: Math.max(1, keys.length) } }, signal);
  return Object.fromEntries(found.items.map((row) => [row.decisionRequirementsKey, row.resourceName]));
}

/** A decision by its key; by its id: the latest version. Raises Problem. */
export async function decisionOf(name: string, signal: AbortSignal): Promise<Decision> {
  if (/^\d+$/.test(name)) return api.get<Decision>(`/v2/decision-definitions/${name}`, undefined, signal);
  const found = await api.search<Decision>("/v2/decision-definitions/search", { filter: { decisionDefinitionId: name, isLatestVersion: true }, page: { limit: 1 } }, signal);
  const [decision] = found.items;
  if (!decision) throw new Problem(404, wordsNow(words).missing(name), wordsNow(words).missingText);
  return decision;
}

/** What a decision says of some variables. Raises Problem. */
export async function evaluate(key: string, variables: object): Promise<Evaluation> {
  const body = { decisionDefinitionKey: key, variables };
  const answer = await api.post<{ result: unknown; trace: Traced[]; warnings: { message: string; decisionId: string }[] }>("/api/decisions/evaluate", body);
  return {
    output: answer.result,
    steps: answer.trace.map(stepOf),
    warnings: answer.warnings.map((warning) => `${warning.decisionId}: ${warning.message}`),
  };
}

function stepOf(traced: Traced): Step {
  const inputs = traced.tables.length ? traced.tables.flatMap((table) => table.evaluatedInputs) : traced.evaluatedInputs;
  return {
    id: traced.decisionId,
    name: traced.decisionName || traced.decisionId,
    isTable: traced.tables.length > 0,
    inputs: inputs.map((input) => ({ name: input.inputName, value: input.inputValue })),
    matched: traced.tables.flatMap((table) => table.matchedRules),
    output: traced.output,
  };
}

/** One that a business rule task asked for. */
export interface PastEvaluation {
  date: string;
  decisionVersion: number;
  decisionDefinitionKey: string;
  processInstanceKey: string;
  processDefinitionId: string;
  elementId: string;
  result: unknown;
  trace: Traced[];
  warnings: string;
  isKept: boolean; // false: no values, only which rules matched
}

/** The evaluations that the history of the newest instances holds, and where to look on. */
export async function pastEvaluations(key: string, after: string | undefined, signal: AbortSignal): Promise<{ items: PastEvaluation[]; endCursor: string | null }> {
  return api.get(`/api/decisions/${key}/evaluations`, { after }, signal);
}

/** One of the past as one that was asked for now. */
export function shownAgain(past: PastEvaluation, when: string): Evaluation {
  return { output: past.result, steps: past.trace.map(stepOf).map((step) => (past.isKept ? step : { ...step, inputs: [], output: undefined })), warnings: past.warnings ? [past.warnings] : [], when, isKept: past.isKept };
}
