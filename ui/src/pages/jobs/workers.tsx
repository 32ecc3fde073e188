// The processes that work on the database: what each runs now, its slots, handlers that do not stop.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAsk } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, When } from "@/parts/data";
import { Empty, Shown } from "@/parts/feedback";
import { Panel } from "@/parts/layout";
import { DataTable } from "@/parts/table";
import type { Worker } from "@/pages/jobs/data";
import { Head, ProgressOf } from "@/pages/jobs/frame";
import { words } from "@/pages/jobs/words";

const QUEUES_SHOWN = 6;
const LOOK_MS = 2_000; // between two looks: what is in hand changes without an event
const SILENT_MS = 10_000; // without a beat: the engine takes it for dead, too

export default function WorkersPage(): JSX.Element {
  const t = useWords(words);
  const asked = useAsk("workers", (signal) => api.get<{ items: Worker[]; remoteWaiting: number }>("/api/workers", undefined, signal), ["nodes", "jobs"]);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && asked.reload(), LOOK_MS);
    return () => clearInterval(timer);
  }, [asked.reload]);
  return (
    <>
      <Head title={t.workers} />
      <Shown asked={asked}>
        {({ items, remoteWaiting }) => (
          <>
            {items.length === 0 && <Panel><Empty title={t.noWorkers} icon="user">{t.noWorkersNext}<br /><code>procession work orders:app</code></Empty></Panel>}
            {items.map((worker) => <One key={worker.node} worker={worker} reload={asked.reload} />)}
            {remoteWaiting > 0 && <p class="job-quiet">{t.remote(remoteWaiting)}</p>}
          </>
        )}
      </Shown>
    </>
  );
}

function One({ worker, reload }: { worker: Worker; reload: () => void }): JSX.Element {
  const t = useWords(words);
  const isSilent = worker.beatAt !== null && Date.now() - new Date(worker.beatAt).getTime() > SILENT_MS;
  const title = (
    <span class="row">
      {worker.name} <small>#{worker.node}</small>
      <Badge tone={isSilent ? "bad" : "good"}>{isSilent ? t.silent : t.alive}</Badge>
    </span>
  );
  return (
    <Panel title={title} actions={<small class="soft">{t.started} <When at={worker.startedAt} style="relative" /></small>}>
      {worker.stuck.length > 0 && (
        <div class="stuck-box">
          <p><strong>{t.stuck}.</strong> {t.stuckText}</p>
          <span class="row">{worker.stuck.map((slot) => <Link key={slot.jobKey} to={`/jobs/${slot.jobKey}`}>{slot.type} {slot.jobKey}</Link>)}</span>
        </div>
      )}
      <h3 class="worker-title">{t.runsNow}</h3>
      {worker.jobs.length === 0 ? (
        <p class="job-quiet">{t.runsNothing}</p>
      ) : (
        <ul class="worker-jobs">
          {worker.jobs.map((job) => (
            <li key={job.jobKey}>
              <Link to={`/jobs/${job.jobKey}`}>{job.title || job.type}</Link>
              <code>{job.jobKey}</code>
              <span class="soft">{job.queue} · {t.attempt.toLowerCase()} {job.attempt}</span>
              <ProgressOf progress={job.progress} text={job.progressText} />
            </li>
          ))}
        </ul>
      )}
      {worker.queues.length > 0 && <Queues worker={worker} reload={reload} />}
    </Panel>
  );
}

/** The queues that it serves: those with work first; the idle ones of an application with many handlers on demand. */
function Queues({ worker, reload }: { worker: Worker; reload: () => void }): JSX.Element {
  const t = useWords(words);
  const [isAll, setAll] = useState(false);
  const rows = worker.queues.toSorted((one, other) => other.running - one.running || one.queue.localeCompare(other.queue));
  const shown = isAll ? rows : rows.slice(0, QUEUES_SHOWN);
  return (
    <>
      <DataTable
        label={`${worker.name}: ${t.queues}`}
        list={{ data: shown, problem: undefined, isLoading: false, reload, total: rows.length }}
        keyOf={(row) => row.queue}
        columns={[
          { id: "queue", title: t.queue, isMain: true, cell: (row) => <Link to={`/jobs?queue=${encodeURIComponent(row.queue)}&state=RUNNING`}>{row.queue}</Link> },
          { id: "types", title: t.type, isWide: true, cell: (row) => row.types.join(", ") || t.allTypes },
          {
            id: "slots",
            title: t.slots,
            cell: (row) => (
              <div class="limit-use">
                <progress max={Math.max(1, row.slots)} value={row.running} aria-label={t.slotsOf(row.running, row.slots)} />
                {t.slotsOf(row.running, row.slots)}{row.buffered > 0 && ` · ${t.buffered(row.buffered)}`}
              </div>
            ),
          },
        ]}
        empty={null}
      />
      {shown.length < rows.length && <div class="worker-more"><Button onClick={() => setAll(true)}>{t.allQueues(rows.length)}</Button></div>}
    </>
  );
}
