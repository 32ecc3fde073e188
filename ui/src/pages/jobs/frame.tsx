// What the parts of this page share: the way between them, the states of jobs, the question with a reason.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAct } from "@/base/ask";
import { Link, useRoute } from "@/base/route";
import { number, useLanguage, useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, type Tone } from "@/parts/data";
import { Dialog, Field } from "@/parts/dialog";
import { Empty } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { words as partWords } from "@/parts/words";
import type { JobBatch } from "@/pages/jobs/data";
import { words } from "@/pages/jobs/words";
import "@/pages/jobs/jobs.css";

const TONES: Record<string, Tone> = {
  READY: "active", RUNNING: "active", SCHEDULED: "neutral", AWAITING: "neutral", THROTTLED: "warn", FAILED: "bad", SUSPENDED: "warn",
  SUCCEEDED: "good", FINISHED: "good", OPEN: "active", SEALED: "neutral",
};

/** The head of the page, and links to its parts. */
export function Head({ title, actions }: { title: string; actions?: ComponentChildren }): JSX.Element {
  const t = useWords(words);
  const { path } = useRoute();
  const nav = useRef<HTMLElement>(null);
  // on a narrow screen the part that is shown may stand beyond the edge
  useEffect(() => nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [path]);
  const parts: [string, string][] = [
    ["/jobs", t.list], ["/jobs/queues", t.queues], ["/jobs/recurring", t.recurring],
    ["/jobs/limits", t.limits], ["/jobs/batches", t.batches], ["/jobs/flows", t.flows], ["/jobs/workers", t.workers],
  ];
  return (
    <>
      <PageHead title={title} actions={actions} />
      <nav ref={nav} class="job-parts" aria-label={t.sections}>
        {parts.map(([to, name]) => <Link key={to} to={to} {...(path === to ? { "aria-current": "page" as const } : {})}>{name}</Link>)}
      </nav>
    </>
  );
}

/** What belongs to all tenants, for somebody who is bound to some of them. */
export function Shared({ title }: { title: string }): JSX.Element {
  const t = useWords(words);
  return (
    <>
      <Head title={title} />
      <Panel><Empty title={t.shared} icon="jobs">{t.sharedNext}</Empty></Panel>
    </>
  );
}

export function StateOfJob({ state }: { state: string }): JSX.Element {
  const t = useWords(words);
  return (
    <Badge tone={TONES[state] ?? "muted"}>
      <span class="dot" aria-hidden="true" />
      {t.states[state as keyof typeof t.states] ?? state.toLowerCase()}
    </Badge>
  );
}

/** How far a job is, in a bar and in words. */
export function ProgressOf({ progress, text }: { progress: number; text: string }): JSX.Element | null {
  const t = useWords(words);
  useLanguage();
  if (!progress && !text) return null;
  const share = number(progress, { style: "percent" });
  return (
    <div class="job-progress">
      <progress max={1} value={progress} aria-label={`${t.progress}: ${share}`} />
      <small>{share}{text && ` · ${text}`}</small>
    </div>
  );
}

/** How many jobs of many are over. */
export function HowFar({ of }: { of: Pick<JobBatch, "total" | "pending" | "failed" | "deleted"> }): JSX.Element {
  const t = useWords(words);
  const text = t.progressOf(of.total - of.pending, of.total);
  return (
    <div class="batch-far">
      <progress max={Math.max(1, of.total)} value={of.total - of.pending} aria-label={text} />
      <span>
        {text}
        {of.failed > 0 && <span class="bad"> · {t.someFailed(of.failed)}</span>}
        {of.deleted > 0 && ` · ${t.someDeleted(of.deleted)}`}
      </span>
    </div>
  );
}

export interface Reasoned {
  title: string;
  text: string;
  verb: string;
  isDangerous?: boolean;
  names?: string; // a field for what is meant, with this label
  act: (reason: string, name: string) => Promise<unknown>;
  onClose: (isDone: boolean) => void;
}

/** Asks whether it shall be done, and why. */
export function ReasonDialog(props: Reasoned): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const [reason, setReason] = useState("");
  const [name, setName] = useState("");
  const { isBusy, problem, act } = useAct();
  const go = async (): Promise<void> => {
    if (await act(() => props.act(reason, name.trim()))) props.onClose(true);
  };
  return (
    <Dialog
      title={props.title}
      problem={problem}
      onClose={() => props.onClose(false)}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={() => props.onClose(false)}>{parts.cancel}</Button>
          <Button kind={props.isDangerous ? "danger" : "primary"} type="submit" isBusy={isBusy} disabled={props.names !== undefined && !name.trim()}>{props.verb}</Button>
        </>
      }
    >
      <p>{props.text}</p>
      {props.names !== undefined && <Field label={props.names}>{(id) => <input id={id} value={name} onInput={(event) => setName(event.currentTarget.value)} />}</Field>}
      <Field label={t.reason}>{(id) => <input id={id} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />}</Field>
    </Dialog>
  );
}

/** A number to type; the empty text is none. */
export function NumberField(props: { label: string; hint?: string; value: string; least?: number; onChange: (value: string) => void }): JSX.Element {
  return (
    <Field label={props.label} {...(props.hint && { hint: props.hint })}>
      {(id) => (
        <input id={id} type="number" step="any" min={props.least} value={props.value} aria-describedby={props.hint ? `${id}-hint` : undefined} onInput={(event) => props.onChange(event.currentTarget.value)} />
      )}
    </Field>
  );
}
