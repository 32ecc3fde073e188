// Offers to deploy files that were dropped, with what the rules say about each.

import { render, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { problemOf, useAct } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge } from "@/parts/data";
import { Dialog } from "@/parts/dialog";
import { Icon } from "@/parts/icons";
import type { Finding } from "./editors/editor";
import { said, sorted } from "./editors/findings";
import { readFile } from "./files";
import { openInstead } from "./opening";
import { deploy, lint, type Outcome } from "./server";
import { words } from "./words";
import type { OpenFile } from "./workbench";
import "./modeler.css";

/** Shows the offer until it is taken or closed. */
export function offer(files: File[]): void {
  const place = document.body.appendChild(document.createElement("div"));
  const end = (): void => {
    render(null, place);
    place.remove();
  };
  render(<Offer files={files} onClose={end} />, place);
}

interface Offered {
  name: string;
  file: OpenFile | undefined; // undefined: it is none that can be deployed
  findings: Finding[];
}

function Offer({ files, onClose }: { files: File[]; onClose: () => void }): JSX.Element {
  const t = useWords(words);
  const [offered, setOffered] = useState<Offered[]>([]);
  const [outcomes, setOutcomes] = useState<Outcome[] | null>(null);
  const { isBusy, problem, act } = useAct();
  useEffect(() => void examined(files).then(setOffered), []);
  const known = offered.flatMap((each) => (each.file ? [each.file] : []));
  const go = (): void => void act(async () => setOutcomes(await deploy(known)));
  const first = known[0];
  const isFaulty = offered.some((each) => each.findings.some((finding) => finding.severity === "error"));
  return (
    <Dialog
      title={outcomes ? t.offerDone : t.offerTitle(files.length)}
      onClose={onClose}
      problem={problem}
      onSubmit={go}
      isWide
      buttons={
        outcomes ? (
          <Button kind="primary" onClick={onClose}>{t.close}</Button>
        ) : (
          <>
            <Button onClick={onClose}>{t.close}</Button>
            {known.length === 1 && first && (
              <Button icon="modeler" onClick={() => { onClose(); void openInstead(first); }}>{t.offerOpen}</Button>
            )}
            <Button kind="primary" icon="upload" type="submit" role="deployer" isBusy={isBusy} disabled={known.length === 0 || isFaulty}>{t.offerDo}</Button>
          </>
        )
      }
    >
      {outcomes ? <Outcomes outcomes={outcomes} onLeave={onClose} /> : <Files offered={offered} />}
      {!outcomes && isFaulty && <p class="soft" role="status">{t.deployNot}</p>}
    </Dialog>
  );
}

async function examined(files: File[]): Promise<Offered[]> {
  return Promise.all(
    files.map(async (each) => {
      const file = await readFile(each);
      if (!file) return { name: each.name, file, findings: [] };
      try {
        return { name: each.name, file, findings: sorted(await lint(file.name, file.content)) };
      } catch (error) {
        const message = problemOf(error).message; // the deployment will tell
        return { name: each.name, file, findings: [{ severity: "info", code: "", message, elementId: "", line: 1, column: 0, suggestion: "" }] };
      }
    }),
  );
}

function Files({ offered }: { offered: Offered[] }): JSX.Element {
  const t = useWords(words);
  return (
    <ul class="offered">
      {offered.map((each) => (
        <li key={each.name}>
          <div class="row">
            <strong>{each.name}</strong>
            {each.file ? <Badge>{t[each.file.kind]}</Badge> : <span class="soft">{t.offerUnknown}</span>}
          </div>
          {each.findings.map((finding, index) => (
            <p key={index} class={finding.severity === "error" ? "bad" : "soft"}>
              {finding.severity !== "info" && <>{t[finding.severity]}: </>}
              {said(finding).text} {said(finding).details && <small lang="en">{said(finding).details}</small>} {finding.elementId && <code>{finding.elementId}</code>}
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}

const PLACES: Record<Outcome["kind"], (key: string) => string> = {
  bpmn: (key) => `/modeler/deployed/bpmn/${key}`,
  dmn: (key) => `/modeler/deployed/dmn/${key}`,
  form: (key) => `/modeler/deployed/form/${key}`,
  decision: (key) => `/decisions/${key}`,
};

function Outcomes({ outcomes, onLeave }: { outcomes: Outcome[]; onLeave: () => void }): JSX.Element {
  const t = useWords(words);
  return (
    <ul class="offered">
      {outcomes.map((each) => (
        <li key={each.kind + each.key}>
          <div class="row">
            <Icon name="check" size={16} />
            <Link to={PLACES[each.kind](each.key)} onClick={onLeave}>{each.id}</Link>
            <Badge>{t[each.kind]}</Badge>
            <small>{t.version(each.version)}</small>
          </div>
        </li>
      ))}
    </ul>
  );
}
