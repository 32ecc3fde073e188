// What the server's rules say about what is drawn. Choosing one leads to its element.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Icon, type IconName } from "@/parts/icons";
import type { Finding } from "./editors/editor";
import { counted, said, worst } from "./editors/findings";
import { words } from "./words";
import { useWorkbench } from "./workbench";

const ICONS: Record<Finding["severity"], IconName> = { error: "alert", warning: "alert", info: "info" };

export function Problems(): JSX.Element {
  const t = useWords(words);
  const bench = useWorkbench();
  const [isOpen, setOpen] = useState(true);
  const { findings } = bench;
  return (
    <section class="problems" aria-label={t.problems} data-checked={bench.isChecked}>
      <header>
        <Button kind="ghost" icon={isOpen ? "down" : "chevron"} label={t.problems} pressed={undefined} onClick={() => setOpen(!isOpen)} />
        <h2>{t.problems}</h2>
        <Summary />
      </header>
      {isOpen && findings.length > 0 && (
        <ol>
          {findings.map((finding, index) => (
            <li key={`${finding.code} ${finding.elementId} ${index}`} class={finding.severity}>
              <button type="button" onClick={() => bench.editor?.select(finding)}>
                <Icon name={ICONS[finding.severity]} size={16} />
                <span class="unseen">{t[finding.severity]}</span>
                <span class="grow">
                  <span>{said(finding).text}</span>
                  {said(finding).details && <small lang="en">{said(finding).details}</small>}
                  {finding.suggestion && <small lang="en">{finding.suggestion}</small>}
                </span>
                <code title={finding.code}>{finding.elementId || t.line(finding.line)}</code>
              </button>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Summary(): JSX.Element {
  const t = useWords(words);
  const { findings, lintProblem, isChecked } = useWorkbench();
  const counts = counted(findings);
  if (lintProblem) return <span class="bad" role="status">{t.unchecked}: {lintProblem.detail || lintProblem.title}</span>;
  if (findings.length === 0) return <span class="soft" role="status">{isChecked ? t.noProblems : t.checking}</span>;
  const parts = [
    counts.error && t.errors(counts.error),
    counts.warning && t.warnings(counts.warning),
    counts.info && t.remarks(counts.info),
  ];
  return <span class={worst(findings) === "error" ? "bad" : "soft"} role="status">{parts.filter(Boolean).join(" · ")}</span>;
}
