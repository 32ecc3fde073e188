// How a result came about: each decision with what it was given, which rules matched, and what it said.

import type { JSX } from "preact";
import { useWords } from "@/base/words";
import { Badge, JsonShort } from "@/parts/data";
import type { Step } from "./server";
import { words } from "./words";

export function Trace({ steps }: { steps: Step[] }): JSX.Element | null {
  const t = useWords(words);
  if (steps.length === 0) return null;
  return (
    <div class="stack">
      <h3>{t.how}</h3>
      <ol class="trace">
        {steps.map((step, index) => (
          <li key={`${step.id} ${index}`}>
            <div class="row">
              <strong>{step.name}</strong>
              {step.isTable ? (
                step.matched.length ? (
                  step.matched.map((rule) => <Badge key={rule.ruleId} tone="good">{t.rule(rule.ruleIndex)}</Badge>)
                ) : (
                  <Badge tone="warn">{t.noneMatched}</Badge>
                )
              ) : (
                <Badge>{t.expression}</Badge>
              )}
            </div>
            {step.inputs.map((input) => (
              <div key={input.name} class="trace-value"><span>{input.name}</span><JsonShort value={input.value} chars={60} /></div>
            ))}
            {step.output !== undefined && <div class="trace-value output"><span>→</span><JsonShort value={step.output} chars={80} /></div>}
          </li>
        ))}
      </ol>
    </div>
  );
}
