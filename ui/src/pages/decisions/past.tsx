// What processes have decided: the evaluations that the history of their instances holds.

import type { JSX } from "preact";
import type { Decision, Evaluation } from "./server";

export function Past(props: { decision: Decision; onShow: (evaluation: Evaluation) => void }): JSX.Element | null {
  void props;
  return null;
}
