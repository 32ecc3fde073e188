// What is done to many instances at once: to those selected one after the other, to all that match as a batch of the server.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "@/base/api";
import { problemOf, useAsk } from "@/base/ask";
import type { BatchOperation, Instance } from "@/base/camunda";
import type { Role } from "@/base/me";
import { number, useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import { ProblemBox, Shown } from "@/parts/feedback";
import { useAct } from "@/base/ask";
import { Scroll } from "@/parts/scroll";
import { filterOf, isExact, versionsOf, type InstanceFilters } from "@/pages/processes/data";
import type { Of } from "@/pages/processes/instances";
import { words } from "@/pages/processes/words";
import { words as partWords } from "@/parts/words";

type Kind = "cancel" | "resolve" | "suspend" | "resume" | "migrate" | "delete";

interface Operation {
  role: Role;
  path: string; // of one instance
  many?: string; // of a batch
  isDangerous?: boolean;
}

const OPERATIONS: Record<Kind, Operation> = {
  resolve: { role: "operator", path: "incident-resolution", many: "incident-resolution" },
  suspend: { role: "operator", path: "suspension", many: "suspension" },
  resume: { role: "operator", path: "resumption", many: "resumption" },
  migrate: { role: "operator", path: "migration", many: "migration" },
  cancel: { role: "operator", path: "cancellation", many: "cancellation", isDangerous: true },
  delete: { role: "operator", path: "deletion", many: "deletion", isDangerous: true },
};
const AT_ONCE = 4;

interface BulkProps {
  selected: ReadonlySet<string>;
  of: Of;
  filters: InstanceFilters;
  total: number | undefined;
  isTotalBound: boolean;
  rows: Instance[];
  onDone: () => void;
}

export function BulkBar(props: BulkProps): JSX.Element | null {
  const t = useWords(words);
  const parts = useWords(partWords);
  const [isAll, setAll] = useState(false);
  const [kind, setKind] = useState<Kind | null>(null);
  useEffect(() => {
    if (props.selected.size === 0) setAll(false);
  }, [props.selected]);
  if (props.selected.size === 0 && !kind) return null;
  const titles: Record<Kind, string> = { cancel: t.cancelMany, resolve: t.resolveMany, suspend: t.suspendMany, resume: t.resumeMany, migrate: t.migrateMany, delete: t.deleteMany };
  const total = `${number(props.total ?? 0)}${props.isTotalBound ? "+" : ""}`;
  const canAll = (props.total ?? 0) > props.rows.length || props.isTotalBound;
  return (
    <div class="bulk" role="toolbar" aria-label={parts.selected(props.selected.size)}>
      <strong>{isAll ? t.allMatching(total) : parts.selected(props.selected.size)}</strong>
      {canAll && (
        <Button kind="ghost" pressed={isAll} disabled={!isExact(props.filters)} title={isExact(props.filters) ? undefined : t.onlyExact} onClick={() => setAll(!isAll)}>
          {t.allMatching(total)}
        </Button>
      )}
      {(Object.keys(OPERATIONS) as Kind[]).map((each) => (
        <Button
          key={each}
          role={OPERATIONS[each].role}
          disabled={(isAll && !OPERATIONS[each].many) || (each === "migrate" && !props.of.processId)}
          onClick={() => setKind(each)}
        >
          {titles[each]}
        </Button>
      ))}
      {kind && (
        <Carry
          kind={kind}
          title={t.manyTitle(titles[kind], isAll ? total : number(props.selected.size))}
          verb={titles[kind]}
          keys={isAll ? null : [...props.selected]}
          filter={filterOf(props.of, props.filters)}
          processId={props.of.processId}
          onClose={(isDone) => {
            setKind(null);
            if (isDone) props.onDone();
          }}
        />
      )}
    </div>
  );
}

interface CarryProps {
  kind: Kind;
  title: string;
  verb: string;
  keys: string[] | null; // null: all that match
  filter: Record<string, unknown>;
  processId: string | undefined;
  onClose: (isDone: boolean) => void;
}

function Carry(props: CarryProps): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { act, problem } = useAct();
  const [target, setTarget] = useState("");
  const [progress, setProgress] = useState<Progress | null>(null);
  const [batch, setBatch] = useState<string | null>(null);
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);
  const operation = OPERATIONS[props.kind];
  const body = props.kind === "migrate" ? { targetProcessDefinitionKey: target, mappingInstructions: [] } : {};
  const begin = async (): Promise<void> => {
    if (props.keys) {
      await carryOut(props.keys, (key) => api.post(`/v2/process-instances/${key}/${operation.path}`, body), (next) => isOpen.current && setProgress(next));
      return;
    }
    await act(async () => {
      const given = { filter: props.filter, ...(props.kind === "migrate" && { migrationPlan: body }) };
      const created = await api.post<{ batchOperationKey: string }>(`/v2/process-instances/${operation.many}`, given);
      setBatch(created.batchOperationKey);
    });
  };
  const isBegun = progress !== null || batch !== null;
  const isRunning = progress !== null && progress.done + progress.failed.length < progress.total;
  return (
    <Dialog
      title={props.title}
      onClose={() => props.onClose(isBegun)}
      problem={problem}
      onSubmit={() => void begin()}
      buttons={
        isBegun ? (
          <Button kind="primary" disabled={isRunning} onClick={() => props.onClose(true)}>{parts.close}</Button>
        ) : (
          <>
            <Button onClick={() => props.onClose(false)}>{parts.cancel}</Button>
            <Button kind={operation.isDangerous ? "danger" : "primary"} type="submit" disabled={props.kind === "migrate" && !target}>{props.verb}</Button>
          </>
        )
      }
    >
      {!isBegun && <p>{props.keys ? t.manyText : `${t.manyText} ${t.manyRuns}`}</p>}
      {!isBegun && props.kind === "migrate" && props.processId && <Target processId={props.processId} value={target} onChange={setTarget} />}
      {progress && <ProgressOf progress={progress} />}
      {batch && <BatchProgress batchKey={batch} />}
    </Dialog>
  );
}

function Target(props: { processId: string; value: string; onChange: (key: string) => void }): JSX.Element {
  const t = useWords(words);
  const asked = useAsk(`versions ${props.processId}`, (signal) => versionsOf(props.processId, signal));
  return (
    <Shown asked={asked}>
      {({ items }) => (
        <Field label={t.targetVersion}>
          {(id) => (
            <select id={id} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
              <option value="">–</option>
              {items.map((each) => <option key={each.processDefinitionKey} value={each.processDefinitionKey}>{t.versionNumber(each.version)}</option>)}
            </select>
          )}
        </Field>
      )}
    </Shown>
  );
}

interface Progress {
  total: number;
  done: number;
  failed: { key: string; why: string }[];
}

/** Does it to each, a few at a time. */
async function carryOut(keys: string[], one: (key: string) => Promise<unknown>, tell: (progress: Progress) => void): Promise<void> {
  const progress: Progress = { total: keys.length, done: 0, failed: [] };
  const left = [...keys];
  tell({ ...progress });
  const work = async (): Promise<void> => {
    for (let key = left.shift(); key !== undefined; key = left.shift()) {
      try {
        await one(key);
        progress.done += 1;
      } catch (error) {
        progress.failed.push({ key, why: problemOf(error).message });
      }
      tell({ ...progress });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function ProgressOf({ progress }: { progress: Progress }): JSX.Element {
  const t = useWords(words);
  const { done, failed, total } = progress;
  return (
    <div class="stack">
      <progress max={total} value={done + failed.length} aria-label={t.progress(done, total)} />
      <p role="status">{t.progress(done, total)}{failed.length > 0 && ` · ${t.failedSome(failed.length)}`}</p>
      {failed.length > 0 && (
        <Scroll as="ul" class="failures" label={t.failedSome(failed.length)}>
          {failed.map(({ key, why }) => <li key={key}><code>{key}</code> {why}</li>)}
        </Scroll>
      )}
    </div>
  );
}

/** A batch of the server, as far as it is. */
function BatchProgress({ batchKey }: { batchKey: string }): JSX.Element {
  const asked = useAsk(`batch ${batchKey}`, (signal) => api.get<BatchOperation>(`/v2/batch-operations/${batchKey}`, undefined, signal), ["batches"]);
  const isOver = asked.data?.endDate !== null && asked.data?.endDate !== undefined;
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(asked.reload, 500);
    return () => clearInterval(timer);
  }, [isOver, asked.reload]);
  const failures = useAsk(isOver && asked.data && asked.data.operationsFailedCount > 0 ? `failures ${batchKey}` : null, (signal) =>
    api.search<{ itemKey: string; errorMessage: string | null }>("/v2/batch-operation-items/search", { filter: { batchOperationKey: batchKey }, page: { limit: 50 } }, signal),
  );
  if (failures.problem) return <ProblemBox problem={failures.problem} />;
  return (
    <Shown asked={asked}>
      {(batch) => (
        <ProgressOf
          progress={{
            total: batch.operationsTotalCount,
            done: batch.operationsCompletedCount,
            failed: failures.data
              ? failures.data.items.map((item) => ({ key: item.itemKey, why: item.errorMessage ?? "" }))
              : Array.from({ length: batch.operationsFailedCount }, (_, index) => ({ key: String(index), why: "" })),
          }}
        />
      )}
    </Shown>
  );
}
