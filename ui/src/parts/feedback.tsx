// What the page says: that something is loading, that there is nothing, that something went wrong, that it is done.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Problem } from "@/base/api";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Icon, type IconName } from "@/parts/icons";
import { Scroll } from "@/parts/scroll";
import { words } from "@/parts/words";

export function Loading(): JSX.Element {
  const t = useWords(words);
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <span class="unseen">{t.loading}</span>
    </div>
  );
}

/** Nothing is there; what to do next. */
export function Empty(props: { title: string; children?: ComponentChildren; icon?: IconName }): JSX.Element {
  return (
    <div class="empty">
      <Icon name={props.icon ?? "info"} size={28} />
      <strong>{props.title}</strong>
      {props.children && <div class="empty-next">{props.children}</div>}
    </div>
  );
}

/** What happened instead, in the server's words. */
export function ProblemBox({ problem, onRetry }: { problem: Problem; onRetry?: () => void }): JSX.Element {
  const t = useWords(words);
  const isGone = problem.status === 0 && problem.title === "Unreachable";
  return (
    <div class="problem" role="alert">
      <Icon name="alert" />
      <div>
        <strong title={problem.title}>{isGone ? t.unreachable : titleOf(problem, t)}</strong>
        <p>{isGone ? t.unreachableDetail : problem.detail}</p>
      </div>
      {onRetry && (
        <Button icon="retry" onClick={onRetry}>
          {t.retry}
        </Button>
      )}
    </div>
  );
}

/** A title of the server's (RESOURCE_EXHAUSTED) in the reader's words; others are words already. */
export function titleOf(problem: { title: string }, t: (typeof words)["en"]): string {
  const known: Record<string, string> = t.problems;
  return known[problem.title] ?? problem.title;
}

/** The answer, or the problem, or that it is on its way. */
export function Shown<T>(props: {
  asked: { data: T | undefined; problem: Problem | undefined; reload: () => void };
  children: (data: T) => ComponentChildren;
}): JSX.Element {
  const { data, problem, reload } = props.asked;
  if (data === undefined && problem) return <ProblemBox problem={problem} onRetry={reload} />;
  if (data === undefined) return <Loading />;
  return (
    <>
      {problem && <ProblemBox problem={problem} onRetry={reload} />}
      {props.children(data)}
    </>
  );
}

// -- toasts ---------------------------------------------------------------------------------------------------------
interface Toast {
  id: number;
  kind: "done" | "problem";
  title: string;
  detail?: string;
}

let toasts: Toast[] = [];
let lastId = 0;
const watchers = new Set<() => void>();
const TOAST_MS = 6_000;

function change(next: Toast[]): void {
  toasts = next;
  for (const watcher of watchers) watcher();
}

/** Says for a few seconds that something is done. */
export function toast(title: string, detail?: string): void {
  show({ id: ++lastId, kind: "done", title, detail });
}

/** Says what went wrong, until it is closed. */
export function toastProblem(problem: Problem): void {
  show({ id: ++lastId, kind: "problem", title: problem.title, detail: problem.detail });
}

function show(one: Toast): void {
  change([...toasts.slice(-3), one]);
  if (one.kind === "done") setTimeout(() => change(toasts.filter((each) => each !== one)), TOAST_MS);
}

export function Toasts(): JSX.Element {
  const t = useWords(words);
  const [, turn] = useState(0);
  useEffect(() => {
    const watcher = (): void => turn((count) => count + 1);
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
  return (
    <div class="toasts" aria-live="polite">
      {toasts.map((one) => (
        <div key={one.id} class={`toast ${one.kind}`} role={one.kind === "problem" ? "alert" : "status"}>
          <Icon name={one.kind === "problem" ? "alert" : "check"} />
          <div>
            <strong>{titleOf(one, t)}</strong>
            {one.detail && <Scroll as="p" class="toast-detail" label={titleOf(one, t)}>{one.detail}</Scroll>}
          </div>
          <Button kind="ghost" icon="close" label={t.close} onClick={() => change(toasts.filter((each) => each !== one))} />
        </div>
      ))}
    </div>
  );
}
