// The drawing table: the editor of the file, what the rules say about it, and what can be done with it.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { problemOf, useAct, useAsk } from "@/base/ask";
import { Link, navigate } from "@/base/route";
import { useWords } from "@/base/words";
import { Badge } from "@/parts/data";
import { Button } from "@/parts/button";
import { useOpen } from "@/parts/dialog";
import { Loading, ProblemBox, toast, toastProblem } from "@/parts/feedback";
import { Icon } from "@/parts/icons";
import { blank } from "./editors/blank";
import { SUFFIXES, type Kind } from "./editors/editor";
import { download } from "./files";
import { ownDraft } from "./drafts";
import { mayClose } from "./opening";
import { Problems } from "./problems";
import { deploy, deployedFile, versionsOf } from "./server";
import { StartDialog } from "./start";
import { words } from "./words";
import { useWorkbench, workbench, type OpenFile } from "./workbench";
import "./modeler.css";

const KINDS: readonly string[] = Object.keys(SUFFIXES);

export default function Edit({ params }: { params: Record<string, string> }): JSX.Element {
  const t = useWords(words);
  const bench = useWorkbench();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => void settle(params), [params.kind, params.key]);
  const isOpen = bench.file !== null;
  useEffect(() => {
    place.current?.append(bench.place);
    return () => bench.place.remove();
  }, [isOpen]);
  const { isBusy, act } = useDeployment();
  const starting = useOpen();
  const [isHelping, setHelping] = useState(false);
  const help = { isOpen: isHelping, turn: () => setHelping(!isHelping) };
  useKeys(act);
  useEffect(() => {
    document.title = `${bench.file?.name ?? t.title} · Procession`;
  }, [bench.file?.name, t]);

  if (!bench.file) return <Loading />;
  const view = bench.editor?.views().find((each) => each.isOpen);
  const hasPanel = view === undefined || view.kind === "graph"; // tables are edited in place
  return (
    <div class="modeler">
      <Bar help={help} isBusy={isBusy} onDeploy={() => void act()} onStart={() => starting.open(true)} />
      {bench.file.kind === "dmn" && <Views />}
      {help.isOpen && <p class="modeler-note calm">{t.keys}</p>}
      {bench.warnings.length > 0 && (
        <details class="modeler-note"><summary>{t.notRead}</summary>{bench.warnings.map((each) => <p key={each}>{each}</p>)}</details>
      )}
      {bench.isLaidOut && <p class="modeler-note calm">{t.laidOut}</p>}
      {bench.editor?.isSimulating() && <p class="modeler-note" role="status">{t.simulating}</p>}
      <div class={`modeler-main ${bench.file.kind}${hasPanel ? "" : " no-panel"}`} ref={place} data-ready={bench.editor !== null}>
        {!bench.editor && <div class="modeler-over">{bench.problem ? <ProblemBox problem={bench.problem} /> : <Loading />}</div>}
      </div>
      <Problems />
      {starting.value && bench.file.origin && (
        <StartDialog origin={bench.file.origin} isChanged={bench.isChanged} onClose={starting.close} />
      )}
    </div>
  );
}

/** Brings what the address asks for onto the table, unless the reader would rather keep what lies there. */
async function settle(params: Record<string, string>): Promise<void> {
  const { kind, key } = params;
  if (kind === undefined || !KINDS.includes(kind)) {
    const left = workbench.file ? undefined : ownDraft();
    if (left) return workbench.resume(left);
    if (!workbench.file) navigate("/modeler", { replace: true });
    return;
  }
  if (key !== undefined && workbench.file?.origin?.key === key) return;
  if (!(await mayClose())) return navigate("/modeler/edit", { replace: true });
  if (key === undefined) {
    const chance = crypto.randomUUID().slice(0, 6);
    const name = `${kind === "bpmn" ? "process" : kind === "dmn" ? "decision" : "form"}${SUFFIXES[kind as Kind]}`;
    void workbench.open({ kind: kind as Kind, name, content: blank(kind as Kind, chance) });
    return navigate("/modeler/edit", { replace: true });
  }
  try {
    const { about, content } = await deployedFile(kind as Kind, key);
    const { id, version, resourceName } = about;
    await workbench.open({ kind: kind as Kind, name: resourceName, content, origin: { kind: kind as Kind, id, key, version } });
  } catch (error) {
    toastProblem(problemOf(error));
    navigate("/modeler", { replace: true });
  }
}

/** Deploys what is drawn. What is wrong with it is shown at its element. */
function useDeployment(): { isBusy: boolean; act: () => Promise<void> } {
  const t = useWords(words);
  const { isBusy, act } = useAct();
  const go = async (): Promise<void> => {
    const { editor, file } = workbench;
    if (!editor || !file) return;
    await act(async () => {
      try {
        const content = await editor.content();
        const outcomes = await deploy([{ name: file.name, content }]);
        const own = outcomes.find((each) => each.kind === file.kind);
        if (!own) return;
        workbench.saved({ kind: file.kind, id: own.id, key: own.key, version: own.version });
        toast(t.deployDone(own.id, own.version));
        navigate(`/modeler/deployed/${file.kind}/${own.key}`, { replace: true });
      } catch (error) {
        await workbench.check();
        const worst = workbench.findings.find((finding) => finding.severity === "error");
        const problem = problemOf(error);
        toastProblem(Object.assign(problem, { title: t.deployFailed, ...(worst ? { detail: t.deploySeeBelow } : {}) }));
        if (worst) editor.select(worst);
      }
    });
  };
  return { isBusy, act: go };
}

function useKeys(deployNow: () => Promise<void>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || !workbench.editor) return;
      const isTyping = (event.target as Element | null)?.closest?.("input, textarea, select, [contenteditable='true'], .djs-container, .fjs-editor-container, .dmn-decision-table-container");
      const key = event.key.toLowerCase();
      if (key === "s") void save();
      else if (key === "enter") void deployNow();
      else if (key === "z" && !isTyping) event.shiftKey ? workbench.editor.redo() : workbench.editor.undo();
      else if (key === "y" && !isTyping) workbench.editor.redo();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [deployNow]);
}

async function save(): Promise<void> {
  const { editor, file } = workbench;
  if (editor && file) download({ ...file, content: await editor.content() });
}

interface BarProps {
  help: { isOpen: boolean; turn: () => void };
  isBusy: boolean;
  onDeploy: () => void;
  onStart: () => void;
}

function Bar({ help, isBusy, onDeploy, onStart }: BarProps): JSX.Element {
  const t = useWords(words);
  const bench = useWorkbench();
  const { editor, file } = bench;
  const isSimulating = editor?.isSimulating() ?? false;
  const isOff = !editor || isSimulating;
  return (
    <header class="modeler-bar">
      <div class="modeler-name">
        <nav class="crumbs" aria-label={t.title}><span><Link to="/modeler">{t.title}</Link><Icon name="chevron" size={12} /></span></nav>
        <div class="row">
          <h1 class="unseen">{file?.name}</h1>
          <input aria-label={t.fileName} value={file?.name} size={Math.max(10, file?.name.length ?? 0)} onChange={(event) => bench.rename(suffixed(event.currentTarget.value, file?.kind ?? "bpmn", file?.name ?? ""))} />
          {file?.origin && <Versions origin={file.origin} />}
          {(bench.isChanged || !file?.origin) && <Badge tone="warn"><span class="dot" aria-hidden="true" />{t.unsaved}</Badge>}
        </div>
      </div>
      <div class="actions" role="toolbar" aria-label={t.title}>
        <Button kind="ghost" icon="undo" label={t.undo} title={`${t.undo} (Ctrl+Z)`} disabled={isOff || !editor.canUndo()} onClick={() => editor?.undo()} />
        <Button kind="ghost" icon="redo" label={t.redo} title={`${t.redo} (Ctrl+Y)`} disabled={isOff || !editor.canRedo()} onClick={() => editor?.redo()} />
        {file?.kind !== "form" && <Button kind="ghost" icon="fit" label={t.fit} disabled={!editor} onClick={() => editor?.fit()} />}
        {editor?.simulate && <Button kind="ghost" icon="token" label={t.simulate} pressed={isSimulating} onClick={() => editor.simulate?.(!isSimulating)} />}
        {file?.kind === "bpmn" && <Button kind="ghost" icon="info" label={t.help} pressed={help.isOpen} onClick={help.turn} />}
        <Button kind="ghost" icon="download" label={t.download} title={`${t.download} (Ctrl+S)`} disabled={!editor} onClick={() => void save()} />
        {file?.kind === "bpmn" && (
          <Button icon="play" role="operator" disabled={isOff || !file.origin} title={file.origin ? t.start : t.startFirst} onClick={onStart}>{t.start}</Button>
        )}
        <Button kind="primary" icon="upload" role="deployer" disabled={isOff} isBusy={isBusy} title={`${t.deploy} (Ctrl+Enter)`} onClick={onDeploy}>{t.deploy}</Button>
      </div>
    </header>
  );
}

/** Which version is open, and the way to the others. */
function Versions({ origin }: { origin: NonNullable<OpenFile["origin"]> }): JSX.Element {
  const t = useWords(words);
  const { kind, id, key, version } = origin;
  const asked = useAsk(`versions ${kind} ${id} ${key}`, (signal) => versionsOf(kind, id, signal), ["definitions", "decisions"]);
  const others = asked.data?.filter((each) => each.key !== key) ?? [];
  if (others.length === 0) return <Badge>{t.version(version)}</Badge>;
  const choose = async (select: HTMLSelectElement): Promise<void> => {
    const chosen = select.value;
    select.value = key; // until it is open
    if (await mayClose()) {
      workbench.close();
      navigate(`/modeler/deployed/${kind}/${chosen}`);
    }
  };
  return (
    <select class="modeler-version" aria-label={t.versions} value={key} onChange={(event) => void choose(event.currentTarget)}>
      {[{ key, version }, ...others].sort((one, other) => other.version - one.version).map((each) => (
        <option key={each.key} value={each.key}>{t.version(each.version)}</option>
      ))}
    </select>
  );
}

/** A file name keeps the suffix that says what is in it. */
function suffixed(typed: string, kind: Kind, old: string): string {
  const name = typed.trim();
  if (!name) return old;
  return name.toLowerCase().endsWith(SUFFIXES[kind]) || /\.(xml|json)$/i.test(name) ? name : `${name}${SUFFIXES[kind]}`;
}

function Views(): JSX.Element {
  const t = useWords(words);
  const views = useWorkbench().editor?.views() ?? [];
  return (
    <nav class="modeler-views" aria-label={t.views}>
      {views.map((view) => (
        <Button key={view.id} kind="ghost" pressed={view.isOpen} icon={view.kind === "graph" ? "processes" : view.kind === "table" ? "decisions" : "modeler"} onClick={() => void workbench.editor?.show(view.id)}>
          {view.kind === "graph" ? t.graph : view.name}
        </Button>
      ))}
    </nav>
  );
}
