// What the server's rules found: which is worst, and which field of the panel a rule speaks of.

import { language } from "@/base/words";
import type { Finding } from "./editor";
import { RUSSIAN } from "./russian-findings";

const ORDER = ["error", "warning", "info"] as const;

export type Severity = Finding["severity"];

/** What a finding says in the reader's language; where that is not the server's, its own words are `details`. */
export function said(finding: Finding): { text: string; details: string } {
  const translated = language.get() === "ru" ? RUSSIAN[finding.code] : undefined;
  return translated ? { text: translated, details: finding.message } : { text: finding.message, details: "" };
}

/** The worst that was found. */
export function worst(findings: readonly Finding[]): Severity {
  return ORDER.find((severity) => findings.some((finding) => finding.severity === severity)) ?? "info";
}

/** How many of each. */
export function counted(findings: readonly Finding[]): Record<Severity, number> {
  const counts = { error: 0, warning: 0, info: 0 };
  for (const finding of findings) counts[finding.severity] += 1;
  return counts;
}

/** The worst first; among equals in the order of the file. */
export function sorted(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity) || one.line - other.line);
}

const FIELDS: Record<string, string> = {
  MISSING_TASK_DEFINITION: "taskDefinitionType",
  MISSING_JOB_TYPE: "taskDefinitionType",
  INVALID_RETRIES: "taskDefinitionRetries",
  MISSING_DECISION: "decisionId",
  MISSING_CALLED_ELEMENT: "targetProcessId",
  MISSING_SCRIPT: "scriptExpression",
  MISSING_COLLECTION: "multiInstance-inputCollection",
  INVALID_COLLECTION: "multiInstance-inputCollection",
  MISSING_MESSAGE: "messageRef",
  MISSING_MESSAGE_NAME: "messageName",
  MISSING_CORRELATION_KEY: "messageSubscriptionCorrelationKey",
  MISSING_SIGNAL: "signalRef",
  MISSING_SIGNAL_NAME: "signalName",
  MISSING_CONDITION: "conditionExpression",
  INVALID_CONDITION: "conditionExpression",
  CONDITION_MISSING: "conditionExpression",
  MISSING_LINK_NAME: "linkName",
  TIMER_DEFINITION: "timerEventDefinitionType",
  INVALID_TIMER: "timerEventDefinitionValue",
  INVALID_PRIORITY: "jobPriorityDefinitionPriority",
  NO_EXECUTABLE_PROCESS: "isExecutable",
};

/** What the rules call a field that holds an expression. */
const EXPRESSIONS: Record<string, string> = {
  "job type": "taskDefinitionType",
  retries: "taskDefinitionRetries",
  condition: "conditionExpression",
  script: "scriptExpression",
  "message name": "messageName",
  "correlation key": "messageSubscriptionCorrelationKey",
  "signal name": "signalName",
  collection: "multiInstance-inputCollection",
  "completion condition": "multiInstance-completionCondition",
  "called element": "targetProcessId",
  "decision id": "decisionId",
  assignee: "assignmentDefinitionAssignee",
  "due date": "taskScheduleDueDate",
};

interface Mapped {
  get(name: string): unknown;
}

/** The entry of the properties panel that a rule speaks of, where that is known. */
export function fieldOf(finding: Finding, element?: Mapped): string | undefined {
  const known = FIELDS[finding.code];
  if (known) return known;
  const [, what, text] = /^The ([a-z' ]+?) '(.*?)…?' is not a FEEL expression/s.exec(finding.message) ?? [];
  if (!what || text === undefined) return undefined;
  if (what.startsWith("timer")) return "timerEventDefinitionValue";
  const side = /^(input|output) mapping$/.exec(what)?.[1];
  return side ? mappingOf(finding.elementId, side, text, element) : EXPRESSIONS[what];
}

/** The entry of one mapping among several. */
function mappingOf(id: string, side: string, text: string, element?: Mapped): string | undefined {
  const extensions = (element?.get("extensionElements") as Mapped | undefined)?.get("values") as (Mapped & { $type: string })[] | undefined;
  const mappings = extensions?.find((each) => each.$type === "zeebe:IoMapping")?.get(`${side}Parameters`) as { source?: string }[] | undefined;
  const index = mappings?.findIndex((each) => (each.source ?? "").replace(/^=\s*/, "").startsWith(text)) ?? -1;
  return index < 0 ? undefined : `${id}-${side}-${index}-source`;
}
