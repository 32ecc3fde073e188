// What is done to many jobs at once: to those selected one after the other, to all that fit page by page on the server.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "@/base/api";
import { problemOf, useAct } from "@/base/ask";
import { number, useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import type { Filtered } from "@/parts/filters";
import { Scroll } from "@/parts/scroll";
import { words as partWords } from "@/parts/words";
import { changesOf, useChanges, type Changes } from "@/pages/jobs/change";
import { serverFilter } from "@/pages/jobs/data";
import { words } from "@/pages/jobs/words";

type Action = "requeue" | "change" | "delete";
const ACTIONS: Action[] = ["requeue", "change", "delete"];

interface BulkProps {
  selected: ReadonlySet<string>;
  filters: Filtered;
  shown: number;
  total: number | undefined;
  isTotalBound: boolean;
  onDone: () => void;
}

export function BulkBar(props: BulkProps): JSX.Element | null {
  const t = useWords(words);
  const parts = useWords(partWords);
  const [isAll, setAll] = useState(false);
  const [action, setAction] = useState<Action | null>(null);
  useEffect(() => {
    if (props.selected.size === 0) setAll(false);
  }, [props.selected]);
  if (props.selected.size === 0 && !action) return null;
  const titles: Record<Action, string> = { requeue: t.requeue, change: t.change, delete: t.remove };
  const total = `${number(props.total ?? 0)}${props.isTotalBound ? "+" : ""}`;
  const canAll = (props.total ?? 0) > props.shown || props.isTotalBound;
  const count = isAll ? total : number(props.selected.size);
  return (
    <div class="job-bulk" role="toolbar" aria-label={parts.selected(props.selected.size)}>
      <strong>{isAll ? t.allMatching(total) : parts.selected(props.selected.size)}</strong>
      {canAll && <Button kind="ghost" pressed={isAll} onClick={() => setAll(!isAll)}>{t.allMatching(total)}</Button>}
      {ACTIONS.map((each) => <Button key={each} role="operator" onClick={() => setAction(each)}>{titles[each]}</Button>)}
      {action && (
        <Carry
          action={action}
          title={t.manyTitle(titles[action], count)}
          verb={titles[action]}
          keys={isAll ? null : [...props.selected]}
          filter={serverFilter(props.filters)}
          total={isAll ? (props.isTotalBound ? undefined : props.total) : props.selected.size}
          onClose={(isDone) => {
            setAction(null);
            if (isDone) props.onDone();
          }}
        />
      )}
    </div>
  );
}

interface CarryProps {
  action: Action;
  title: string;
  verb: string;
  keys: string[] | null; // null: all that fit
  filter: Record<string, string>;
  total: number | undefined;
  onClose: (isDone: boolean) => void;
}

interface Far {
  done: number;
  failed: { key: string; why: string }[];
}

function Carry(props: CarryProps): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const [reason, setReason] = useState("");
  const { changes, fields } = useChanges();
  const [far, setFar] = useState<Far | null>(null);
  const goesOn = useRef(true);
  const isOpen = useRef(true);
  useEffect(() => () => void (goesOn.current = isOpen.current = false), []);
  const tell = (next: Far): void => {
    if (isOpen.current) setFar({ ...next });
  };
  const begin = (): Promise<boolean> => {
    const given: Given = { reason, changes };
    return act(() => (props.keys ? oneByOne(props.keys, props.action, given, tell, goesOn) : pageByPage(props.action, props.filter, given, tell, goesOn)));
  };
  const texts: Record<Action, string> = { requeue: t.manyRequeue, change: t.manyChange, delete: t.manyDelete };
  const isDangerous = props.action === "delete";
  const isUseless = props.action === "change" && Object.keys(changesOf(changes)).length === 0;
  return (
    <Dialog
      title={props.title}
      problem={problem}
      onClose={() => props.onClose(far !== null)}
      onSubmit={() => void begin()}
      buttons={
        far ? (
          isBusy ? <Button onClick={() => (goesOn.current = false)}>{t.stop}</Button> : <Button kind="primary" onClick={() => props.onClose(true)}>{parts.close}</Button>
        ) : (
          <>
            <Button onClick={() => props.onClose(false)}>{parts.cancel}</Button>
            <Button kind={isDangerous ? "danger" : "primary"} type="submit" isBusy={isBusy} disabled={isUseless}>{props.verb}</Button>
          </>
        )
      }
    >
      {!far && <p>{texts[props.action]}</p>}
      {!far && props.action === "change" && fields}
      {!far && isDangerous && <Field label={t.reason}>{(id) => <input id={id} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />}</Field>}
      {far && <HowFar far={far} total={props.total} isOver={!isBusy && !problem && goesOn.current} />}
    </Dialog>
  );
}

function HowFar({ far, total, isOver }: { far: Far; total: number | undefined; isOver: boolean }): JSX.Element {
  const t = useWords(words);
  const at = far.done + far.failed.length;
  const text = total === undefined ? t.done(far.done) : t.doneOf(far.done, total);
  return (
    <div class="stack job-far">
      <progress max={Math.max(1, total ?? at)} {...(total === undefined && !isOver ? {} : { value: isOver ? Math.max(1, total ?? at) : at })} aria-label={text} />
      <p role="status">{text}{far.failed.length > 0 && ` · ${t.failedSome(far.failed.length)}`}</p>
      {far.failed.length > 0 && <Scroll as="ul" class="job-failures" label={t.failedSome(far.failed.length)}>{far.failed.map(({ key, why }) => <li key={key}><code>{key}</code> {why}</li>)}</Scroll>}
    </div>
  );
}

interface Given {
  reason: string;
  changes: Changes;
}
type Running = { current: boolean };

function once(key: string, action: Action, given: Given): Promise<unknown> {
  if (action === "requeue") return api.post(`/api/jobs/${key}/requeue`, {});
  if (action === "change") return api.patch(`/api/jobs/${key}`, changesOf(given.changes));
  return api.delete(`/api/jobs/${key}?reason=${encodeURIComponent(given.reason)}`);
}

async function oneByOne(keys: string[], action: Action, given: Given, tell: (far: Far) => void, running: Running): Promise<void> {
  const far: Far = { done: 0, failed: [] };
  tell(far);
  for (const key of keys) {
    if (!running.current) return;
    try {
      await once(key, action, given);
      far.done += 1;
    } catch (error) {
      far.failed.push({ key, why: problemOf(error).message });
    }
    tell(far);
  }
}

async function pageByPage(action: Action, filter: Record<string, string>, given: Given, tell: (far: Far) => void, running: Running): Promise<void> {
  const far: Far = { done: 0, failed: [] };
  tell(far);
  let after: string | null = null;
  do {
    const body = { action, filter, after, reason: given.reason, ...(action === "change" && { changes: changesOf(given.changes) }) };
    const page: { done: number; endCursor: string | null } = await api.post("/api/jobs/bulk", body);
    far.done += page.done;
    tell(far);
    after = page.endCursor;
  } while (after && running.current);
}
