// Operations over many instances that the server carries out: how far they are, and what of them could not be done.

import type { JSX } from "preact";
import { api } from "@/base/api";
import { problemOf, useAsk, useList } from "@/base/ask";
import type { BatchOperation } from "@/base/camunda";
import { number, useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Key, State, When } from "@/parts/data";
import { confirm } from "@/parts/dialog";
import { Empty, toast, toastProblem } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { Scroll } from "@/parts/scroll";
import { DataTable } from "@/parts/table";
import { words } from "@/pages/processes/words";
import "@/pages/processes/processes.css";

export default function Batches(): JSX.Element {
  const t = useWords(words);
  const list = useList<BatchOperation>(
    "batches",
    (after, signal) => api.search("/v2/batch-operations/search", { page: { limit: 50, ...(after && { after }) } }, signal),
    ["batches"],
  );
  const stop = async (batch: BatchOperation): Promise<void> => {
    const act = (): Promise<unknown> => api.post(`/v2/batch-operations/${batch.batchOperationKey}/cancellation`, {});
    if (await confirm({ title: t.stopBatch, text: t.stopBatchText, verb: t.stopBatch, isDangerous: true, act })) {
      toast(t.stopped);
      list.reload();
    }
  };
  const turn = async (batch: BatchOperation, way: "suspension" | "resumption"): Promise<void> => {
    try {
      await api.post(`/v2/batch-operations/${batch.batchOperationKey}/${way}`, {});
      toast(way === "suspension" ? t.paused : t.goesOn);
      list.reload();
    } catch (error) {
      toastProblem(problemOf(error));
    }
  };
  return (
    <>
      <PageHead title={t.batches} crumbs={[{ title: t.title, to: "/processes" }]} />
      <Panel>
        <DataTable<BatchOperation>
          label={t.batches}
          list={list}
          keyOf={(row) => row.batchOperationKey}
          columns={[
            {
              id: "operation",
              title: t.operation,
              isMain: true,
              cell: (row) => <div class="named"><span>{t.batchKinds[row.batchOperationType as keyof typeof t.batchKinds] ?? row.batchOperationType}</span><Key value={row.batchOperationKey} /></div>,
            },
            { id: "state", title: t.state, cell: (row) => <State state={row.state} label={t.batchStates[row.state as keyof typeof t.batchStates] ?? row.state} /> },
            { id: "far", title: t.howFar, isWide: true, cell: (row) => <HowFar batch={row} /> },
            { id: "started", title: t.started_at, cell: (row) => <When at={row.startDate} /> },
            { id: "ended", title: t.ended_at, cell: (row) => <When at={row.endDate} /> },
            { id: "stop", title: "", align: "right", cell: (row) => !row.endDate && <BatchActions batch={row} onTurn={(way) => void turn(row, way)} onStop={() => void stop(row)} /> },
          ]}
          empty={<Empty title={t.noBatches} icon="processes">{t.noBatchesNext}</Empty>}
        />
      </Panel>
    </>
  );
}

function BatchActions({ batch, onTurn, onStop }: { batch: BatchOperation; onTurn: (way: "suspension" | "resumption") => void; onStop: () => void }): JSX.Element {
  const t = useWords(words);
  const rests = batch.state === "SUSPENDED";
  return (
    <span class="row">
      <Button role="operator" onClick={() => onTurn(rests ? "resumption" : "suspension")}>{rests ? t.goOn : t.pause}</Button>
      <Button role="operator" onClick={onStop}>{t.stopBatch}</Button>
    </span>
  );
}

const SHOWN_MAX = 20;

function HowFar({ batch }: { batch: BatchOperation }): JSX.Element {
  const t = useWords(words);
  const { operationsTotalCount: total, operationsCompletedCount: done, operationsFailedCount: failed } = batch;
  const failures = useAsk(failed > 0 && batch.endDate ? `failures ${batch.batchOperationKey}` : null, (signal) =>
    api.search<{ itemKey: string; errorMessage: string | null }>(
      "/v2/batch-operation-items/search",
      { filter: { batchOperationKey: batch.batchOperationKey }, page: { limit: SHOWN_MAX } },
      signal,
    ),
  );
  return (
    <div class="stack far">
      <progress max={Math.max(1, total)} value={done + failed} aria-label={t.progress(done, total)} />
      <span class="soft">{t.progress(done, total)}</span>
      {failed > 0 && (
        <details>
          <summary class="bad">{t.failedSome(failed)}</summary>
          <Scroll as="ul" class="failures" label={t.failedSome(failed)}>
            {failures.data?.items.map((item) => <li key={item.itemKey}><code>{item.itemKey}</code> {item.errorMessage}</li>)}
            {failed > SHOWN_MAX && <li>… {number(failed)}</li>}
          </Scroll>
        </details>
      )}
    </div>
  );
}
