// Expressions of FEEL, as the server reads and evaluates them.

import { api } from "@/base/api";

export interface FeelAnswer {
  result?: unknown;
  type: string | null;
  text: string;
  error: { message: string; line: number; column: number } | null;
  warnings: { message: string; line: number; column: number }[];
}

/** What an expression, or the tests of a cell, give; or what is wrong with them. */
export async function feel(
  question: { expression: string; context?: object; isTests?: boolean; value?: unknown; checkOnly?: boolean },
  signal?: AbortSignal,
): Promise<FeelAnswer> {
  return api.post<FeelAnswer>("/api/feel", question, signal);
}
