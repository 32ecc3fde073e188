// Where modelling begins: something new, a file, or what is deployed.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAsk } from "@/base/ask";
import { Link, navigate } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, When } from "@/parts/data";
import { confirm } from "@/parts/dialog";
import { Empty, Shown } from "@/parts/feedback";
import { Icon, type IconName } from "@/parts/icons";
import { PageHead, Panel } from "@/parts/layout";
import { listDeployed, type Deployed } from "./server";
import { chooseFile } from "./files";
import { type Draft, drafts, dropDraft } from "./drafts";
import { mayClose, openFile } from "./opening";
import { words } from "./words";
import { useWorkbench, type Workbench } from "./workbench";
import "./modeler.css";

export default function Begin(): JSX.Element {
  const t = useWords(words);
  const bench = useWorkbench();
  const [left, redraw] = useDrafts(bench);
  const resume = async (draft: Draft): Promise<void> => {
    if (!(await mayClose())) return;
    void bench.resume(draft);
    navigate("/modeler/edit");
  };
  const discard = async (draft: Draft): Promise<void> => {
    const act = (): Promise<void> => Promise.resolve(dropDraft(draft.id));
    if (await confirm({ title: t.discardTitle, text: t.discardText(draft.file.name), verb: t.discard, isDangerous: true, act })) redraw();
  };
  const choose = async (): Promise<void> => {
    const file = await chooseFile();
    if (file) await openFile(file);
  };
  return (
    <>
      <PageHead title={t.title} subtitle={t.lead} />
      <div class="beginnings">
        {bench.file && (
          <Beginning icon="retry" title={t.go} onClick={() => navigate("/modeler/edit")} isFirst>
            {bench.isChanged ? t.goText(bench.file.name) : bench.file.name}
          </Beginning>
        )}
        {left.map((draft) => (
          <div key={draft.id} class="leftover">
            <Beginning icon="retry" title={t.go} onClick={() => void resume(draft)} isFirst>
              {t.goText(draft.file.name)} <When at={draft.at} style="relative" />
            </Beginning>
            <Button kind="ghost" icon="trash" label={`${t.discard}: ${draft.file.name}`} onClick={() => void discard(draft)} />
          </div>
        ))}
        <Beginning icon="processes" title={t.newProcess} to="/modeler/new/bpmn">{t.newProcessText}</Beginning>
        <Beginning icon="decisions" title={t.newDecision} to="/modeler/new/dmn">{t.newDecisionText}</Beginning>
        <Beginning icon="tasks" title={t.newForm} to="/modeler/new/form">{t.newFormText}</Beginning>
        <Beginning icon="upload" title={t.openFile} onClick={() => void choose()}>{t.openFileText}</Beginning>
      </div>
      <DeployedFiles />
    </>
  );
}

/** What was left in this browser, and what is open in other tabs: not what lies on the table here. */
function useDrafts(bench: Workbench): [Draft[], () => void] {
  const [, turn] = useState(0);
  const again = (): void => turn((count) => count + 1);
  useEffect(() => {
    addEventListener("storage", again); // another tab has drawn
    return () => removeEventListener("storage", again);
  }, []);
  return [drafts().filter(({ id }) => !bench.has(id)), again];
}

function Beginning(props: { icon: IconName; title: string; to?: string; onClick?: () => void; isFirst?: boolean; children: ComponentChildren }): JSX.Element {
  const inner = (
    <>
      <Icon name={props.icon} size={22} />
      <strong>{props.title}</strong>
      <small>{props.children}</small>
    </>
  );
  const look = `beginning${props.isFirst ? " first" : ""}`;
  return props.to ? (
    <Link to={props.to} class={look}>{inner}</Link>
  ) : (
    <button type="button" class={look} onClick={props.onClick}>{inner}</button>
  );
}

function DeployedFiles(): JSX.Element {
  const t = useWords(words);
  const [wanted, want] = useState("");
  const asked = useAsk("modeler-deployed", listDeployed, ["definitions", "decisions"]);
  return (
    <Panel
      title={t.deployed}
      actions={
        <input type="search" class="begin-search" aria-label={t.search} placeholder={t.search} value={wanted} onInput={(event) => want(event.currentTarget.value)} />
      }
    >
      <Shown asked={asked}>{(rows) => <Rows rows={rows.filter((row) => fits(row, wanted))} areAny={rows.length > 0} />}</Shown>
    </Panel>
  );
}

function fits(row: Deployed, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return [row.name, row.id, row.resourceName].some((each) => each.toLowerCase().includes(text));
}

const ICONS: Record<Deployed["kind"], IconName> = { bpmn: "processes", dmn: "decisions", form: "tasks" };

function Rows({ rows, areAny }: { rows: Deployed[]; areAny: boolean }): JSX.Element {
  const t = useWords(words);
  if (rows.length === 0) {
    return (
      <Empty title={areAny ? t.nothingFound : t.nothingDeployed} icon="modeler">
        {!areAny && <>{t.nothingDeployedText} <code>procession deploy order.bpmn</code></>}
      </Empty>
    );
  }
  return (
    <ul class="deployed-files">
      {rows.map((row) => (
        <li key={`${row.kind} ${row.key}`}>
          <Link to={`/modeler/deployed/${row.kind}/${row.key}`}>
            <Icon name={ICONS[row.kind]} size={18} />
            <span class="grow">
              <strong>{row.name}</strong>
              <small>{row.resourceName}</small>
            </span>
            <Badge>{t[row.kind]}</Badge>
            <small class="version">{t.version(row.version)}</small>
          </Link>
        </li>
      ))}
    </ul>
  );
}
