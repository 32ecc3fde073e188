// The state of an instance, in words and colour.

import type { JSX } from "preact";
import type { InstanceState } from "@/base/camunda";
import { catalogue, useWords } from "@/base/words";
import { State } from "@/parts/data";

export const stateWords = catalogue({
  en: { ACTIVE: "running", COMPLETED: "completed", TERMINATED: "terminated", SUSPENDED: "suspended", INCIDENT: "incident" },
  ru: { ACTIVE: "идёт", COMPLETED: "завершён", TERMINATED: "прерван", SUSPENDED: "приостановлен", INCIDENT: "инцидент" },
});

export function StateOfInstance({ state, hasIncident }: { state: InstanceState; hasIncident: boolean }): JSX.Element {
  const t = useWords(stateWords);
  const isBroken = hasIncident && state === "ACTIVE";
  return <State state={isBroken ? "INCIDENT" : state} label={isBroken ? t.INCIDENT : t[state]} />;
}
