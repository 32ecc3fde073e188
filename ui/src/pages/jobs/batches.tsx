// Batches of jobs: how far they are; they can be sealed and canceled.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { problemOf, useList } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Key, When } from "@/parts/data";
import { Empty, toast, toastProblem } from "@/parts/feedback";
import { Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import { listOf, type JobBatch } from "@/pages/jobs/data";
import { Head, HowFar, ReasonDialog, StateOfJob } from "@/pages/jobs/frame";
import { words } from "@/pages/jobs/words";

const EXAMPLE = 'batch = await app.open_batch(title="newsletter")';

export default function BatchesPage(): JSX.Element {
  const t = useWords(words);
  const list = useList<JobBatch>("job batches", listOf("/api/job-batches"), ["batches", "jobs"]);
  const [cancels, setCancels] = useState<JobBatch | null>(null);
  const seal = async (batch: JobBatch): Promise<void> => {
    try {
      await api.post(`/api/job-batches/${batch.batchKey}/seal`, {});
      toast(t.sealed, batch.title);
      list.reload();
    } catch (error) {
      toastProblem(problemOf(error));
    }
  };
  return (
    <>
      <Head title={t.batches} />
      <Panel>
        <DataTable
          label={t.batches}
          list={list}
          keyOf={(row) => row.batchKey}
          columns={columns(t, (batch) => void seal(batch), setCancels)}
          empty={<Empty title={t.noBatches} icon="jobs">{t.noBatchesNext}<br /><code>{EXAMPLE}</code></Empty>}
        />
      </Panel>
      {cancels && (
        <ReasonDialog
          title={`${t.cancelBatch}: ${cancels.title || cancels.batchKey}`}
          text={t.cancelBatchText}
          verb={t.cancelBatch}
          isDangerous
          act={(reason) => api.post(`/api/job-batches/${cancels.batchKey}/cancellation`, { reason })}
          onClose={(isDone) => {
            setCancels(null);
            if (isDone) list.reload();
          }}
        />
      )}
    </>
  );
}

function columns(t: (typeof words)["en"], onSeal: (batch: JobBatch) => void, onCancel: (batch: JobBatch) => void): Column<JobBatch>[] {
  return [
    {
      id: "title",
      title: t.batch,
      isMain: true,
      cell: (row) => <div class="named"><Link to={`/jobs?batch=${row.batchKey}`}>{row.title || row.batchKey}</Link>{row.title && <Key value={row.batchKey} />}</div>,
    },
    { id: "state", title: t.state, cell: (row) => <StateOfJob state={row.state} /> },
    { id: "far", title: t.progress, isWide: true, cell: (row) => <HowFar of={row} /> },
    { id: "created", title: t.created, align: "right", cell: (row) => <When at={row.createdAt} /> },
    { id: "ended", title: t.ended, align: "right", cell: (row) => <When at={row.finishedAt} /> },
    {
      id: "act",
      title: "",
      align: "right",
      cell: (row) =>
        !row.finishedAt && (
          <span class="row">
            {row.state === "OPEN" && <Button role="operator" onClick={() => onSeal(row)}>{t.seal}</Button>}
            <Button role="operator" onClick={() => onCancel(row)}>{t.cancelBatch}</Button>
          </span>
        ),
    },
  ];
}
