// What the pages of decisions ask of the server.

import { api } from "@/base/api";

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
}

interface Evaluated {
  decisionDefinitionId: string;
  decisionDefinitionName: string;
  decisionDefinitionType: string;
  output: string;
  matchedRules: Matched[];
  evaluatedInputs: { inputName: string; inputValue: string }[];
}

/** What a decision says of some variables. Raises Problem. */
export async function evaluate(key: string, variables: object): Promise<Evaluation> {
  const body = { decisionDefinitionKey: key, variables };
  const answer = await api.post<{ output: string; evaluatedDecisions: Evaluated[] }>("/v2/decision-definitions/evaluation", body);
  return {
    output: read(answer.output),
    warnings: [],
    steps: answer.evaluatedDecisions.map((each) => ({
      id: each.decisionDefinitionId,
      name: each.decisionDefinitionName || each.decisionDefinitionId,
      isTable: each.decisionDefinitionType === "DECISION_TABLE",
      inputs: each.evaluatedInputs.map((input) => ({ name: input.inputName, value: read(input.inputValue) })),
      matched: each.matchedRules,
      output: read(each.output),
    })),
  };
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
