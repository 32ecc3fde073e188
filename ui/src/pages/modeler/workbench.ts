// The file that is open in the modeler. It outlives the page: who looks at something else and comes back finds it as it was.

import { useEffect, useState } from "preact/hooks";
import type { Problem } from "@/base/api";
import { problemOf } from "@/base/ask";
import { language } from "@/base/words";
import { openEditor, type Editor, type Finding, type Kind } from "./editors/editor";
import { sorted } from "./editors/findings";
import { dropDraft, keepDraft, newId, type Draft } from "./drafts";
import { lint } from "./server";

export interface OpenFile {
  kind: Kind;
  name: string;
  content: string;
  /** What it was deployed as, if it was. */
  origin?: { kind: Kind; id: string; key: string; version: number };
}

const LINT_MS = 400; // after the last change

export class Workbench {
  file: OpenFile | null = null;
  editor: Editor | null = null;
  findings: Finding[] = [];
  warnings: string[] = [];
  isLaidOut = false;
  problem: Problem | null = null; // it cannot be shown
  lintProblem: Problem | null = null; // the server cannot say
  isChanged = false;
  isChecked = false; // the findings are those of what is drawn now
  private draft = newId(); // what is kept of the file until it is deployed has this name
  private isKept = false;
  readonly place = document.createElement("div");
  private readonly readers = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private checking: AbortController | undefined;
  private turn = 0;
  private fitted: ResizeObserver | undefined;

  constructor() {
    this.place.className = "workbench";
    addEventListener("beforeunload", (event) => {
      if (this.isChanged) event.preventDefault();
    });
    language.listen(() => void this.again());
  }

  listen(reader: () => void): () => void {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  }

  private tell(): void {
    for (const reader of this.readers) reader();
  }

  /** Opens a file in the place of the one that is open. Whoever calls this has asked before. */
  async open(file: OpenFile, options: { isNew?: boolean; draft?: string } = {}): Promise<void> {
    const turn = ++this.turn;
    this.forget();
    this.draft = options.draft ?? newId();
    this.file = file;
    this.isChanged = options.isNew ?? false;
    this.tell();
    await new Promise(requestAnimationFrame); // the page gives it its place
    try {
      const editor = await openEditor(file.kind, this.prepared(), { changed: () => this.changed(), viewed: () => this.viewed() });
      if (turn !== this.turn) return editor.destroy();
      Object.assign(this, await editor.open(file.content));
      if (turn !== this.turn) return editor.destroy();
      this.editor = editor;
      this.fitted?.observe(this.place.firstElementChild as Element);
      await this.check();
    } catch (error) {
      if (turn === this.turn) this.problem = problemOf(error);
    }
    this.tell();
  }

  /** Goes on with what was left. It gets a name of its own first: it may be open in another tab, too. */
  async resume(left: Draft): Promise<void> {
    await this.open(left.file, { isNew: true });
    if (this.isKept && this.draft !== left.id) dropDraft(left.id);
    this.tell();
  }

  /** Whether what is kept under this name is what is open here. */
  has(draft: string): boolean {
    return this.file !== null && this.draft === draft;
  }

  /** What is open is not to be kept. */
  discard(): void {
    dropDraft(this.draft);
  }

  private prepared(): { canvas: HTMLElement; panel: HTMLElement } {
    const canvas = document.createElement("div");
    canvas.className = "workbench-canvas";
    const panel = document.createElement("div");
    panel.className = "workbench-panel";
    this.place.replaceChildren(canvas, panel);
    this.fitted?.disconnect();
    this.fitted = new ResizeObserver(() => {
      if (canvas.clientWidth) this.editor?.fit();
    });
    const leave = (): void => this.fitted?.disconnect(); // from now on the reader decides what is seen
    for (const touched of ["pointerdown", "wheel", "keydown"]) this.place.addEventListener(touched, leave, { once: true, capture: true });
    return { canvas, panel };
  }

  private viewed(): void {
    if (this.editor?.isSimulating()) this.fitted?.disconnect();
    this.tell();
  }

  private changed(): void {
    this.isChanged = true;
    this.isChecked = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), LINT_MS);
    this.tell();
  }

  /** The same file in an editor that speaks the other language. */
  private async again(): Promise<void> {
    const { editor, file } = this;
    if (!editor || !file || editor.isSimulating()) return;
    await this.open({ ...file, content: await editor.content() }, { isNew: this.isChanged, draft: this.draft });
  }

  /** Asks for the server's rules, marks what they find, and keeps what is not deployed yet. */
  async check(): Promise<void> {
    const { editor, file } = this;
    if (!editor || !file || editor.isSimulating()) return;
    this.checking?.abort();
    const checking = new AbortController();
    this.checking = checking;
    try {
      file.content = await editor.content();
      if (this.isChanged) this.isKept = keepDraft(this.draft, file);
      const findings = sorted(await lint(file.name, file.content, checking.signal));
      if (checking.signal.aborted || this.editor !== editor) return;
      this.findings = findings;
      this.lintProblem = null;
      this.isChecked = true;
      editor.mark(findings);
    } catch (error) {
      if (checking.signal.aborted) return;
      this.lintProblem = problemOf(error);
    }
    this.tell();
  }

  /** It is deployed or saved: nothing would be lost. */
  saved(origin?: OpenFile["origin"]): void {
    this.isChanged = false;
    this.discard();
    if (this.file && origin) this.file = { ...this.file, origin };
    this.tell();
  }

  rename(name: string): void {
    if (!this.file || name === this.file.name) return;
    this.file = { ...this.file, name };
    this.changed();
  }

  close(): void {
    this.turn += 1;
    this.discard();
    this.forget();
    this.tell();
  }

  private forget(): void {
    clearTimeout(this.timer);
    this.checking?.abort();
    this.editor?.destroy();
    this.place.replaceChildren();
    Object.assign(this, { file: null, editor: null, findings: [], warnings: [], isLaidOut: false, problem: null, lintProblem: null, isChanged: false, isChecked: false, isKept: false });
  }
}

export const workbench = new Workbench();

/** The workbench, and a turn of the component whenever something about it changes. */
export function useWorkbench(): Workbench {
  const [, turn] = useState(0);
  useEffect(() => {
    turn((count) => count + 1); // it may have changed since this was drawn
    return workbench.listen(() => turn((count) => count + 1));
  }, []);
  return workbench;
}
