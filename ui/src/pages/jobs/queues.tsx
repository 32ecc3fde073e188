// The queues: how many jobs are in which state, how long the oldest has waited, what happened in the last hour, what is paused.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { problemOf, useAsk } from "@/base/ask";
import { span } from "@/base/dates";
import { Link } from "@/base/route";
import { useLanguage, useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, Count, When } from "@/parts/data";
import { Empty, Shown, toast, toastProblem } from "@/parts/feedback";
import { Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import { part, STATES, type PausedType, type Queue, type Queues, type Series } from "@/pages/jobs/data";
import { Head, ReasonDialog, Shared } from "@/pages/jobs/frame";
import { linesOf, SeriesChart, Spark } from "@/pages/jobs/series";
import { words } from "@/pages/jobs/words";

type Open = { pauses: string } | "type" | null;

export default function QueuesPage(): JSX.Element {
  const t = useWords(words);
  const asked = useAsk("queues", (signal) => api.get<Queues>("/api/queues", undefined, signal), ["jobs", "counts"]);
  const series = useAsk("series", (signal) => api.get<Series>("/api/queues/series", { minutes: 60 }, signal), ["counts"]);
  const [open, setOpen] = useState<Open>(null);
  const resume = async (path: string, body: object): Promise<void> => {
    try {
      await api.post(path, body);
      toast(t.isResumed);
      asked.reload();
    } catch (error) {
      toastProblem(problemOf(error));
    }
  };
  const close = (isDone: boolean): void => {
    setOpen(null);
    if (!isDone) return;
    toast(t.isPausedNow);
    asked.reload();
  };
  if (asked.problem?.status === 403) return <Shared title={t.queues} />;
  return (
    <>
      <Head title={t.queues} actions={<Button role="operator" icon="pause" onClick={() => setOpen("type")}>{t.pauseType}</Button>} />
      <Panel title={t.seriesAll}>
        <Shown asked={series}>{(found) => <SeriesChart minutes={found.minutes} lines={linesOf(found, null)} />}</Shown>
      </Panel>
      <Shown asked={asked}>
        {(queues) => (
          <>
            {queues.pausedTypes.length > 0 && (
              <Panel title={t.typesPaused}>
                <DataTable
                  label={t.typesPaused}
                  list={{ data: queues.pausedTypes, problem: undefined, isLoading: false, reload: asked.reload, total: queues.pausedTypes.length }}
                  keyOf={(row) => row.type}
                  columns={typeColumns(t, (type) => void resume("/api/job-types/resume", { type }))}
                  empty={null}
                />
              </Panel>
            )}
            <Panel>
              <DataTable
                label={t.queues}
                list={{ data: queues.items, problem: undefined, isLoading: false, reload: asked.reload, total: queues.page?.totalItems }}
                keyOf={(row) => row.queue}
                columns={columns(t, series.data, (pauses) => setOpen({ pauses }), (queue) => void resume(`/api/queues/${part(queue)}/resume`, {}))}
                empty={<Empty title={t.noQueues} icon="jobs">{t.noQueuesNext}<br /><code>procession enqueue send-mail --queue mail</code></Empty>}
              />
            </Panel>
          </>
        )}
      </Shown>
      {open === "type" && (
        <ReasonDialog title={t.pauseType} text={t.pauseText} verb={t.pause} names={t.type} act={(reason, type) => api.post("/api/job-types/pause", { type, reason })} onClose={close} />
      )}
      {open !== null && open !== "type" && (
        <ReasonDialog title={t.pauseQueue(open.pauses)} text={t.pauseText} verb={t.pause} act={(reason) => api.post(`/api/queues/${part(open.pauses)}/pause`, { reason })} onClose={close} />
      )}
    </>
  );
}

type Words = (typeof words)["en"];

function columns(t: Words, series: Series | undefined, onPause: (queue: string) => void, onResume: (queue: string) => void): Column<Queue>[] {
  return [
    {
      id: "queue",
      title: t.queue,
      isMain: true,
      cell: (row) => (
        <div class="named">
          <span>
            <Link to={`/jobs?queue=${part(row.queue)}`}>{row.queue}</Link>
            {row.isPaused && <Badge tone="warn">{t.paused}</Badge>}
          </span>
          {row.pauseReason && <small>{row.pauseReason}</small>}
        </div>
      ),
    },
    { id: "counts", title: t.counts, isWide: true, cell: (row) => <Counts queue={row} /> },
    { id: "latency", title: t.latency, align: "right", cell: (row) => <Latency ms={row.latencyMs} isWaiting={row.oldestAt !== null} /> },
    { id: "series", title: t.perMinute, cell: (row) => series && <Spark minutes={series.minutes} lines={linesOf(series, row.queue)} /> },
    {
      id: "act",
      title: "",
      align: "right",
      cell: (row) =>
        row.isPaused ? (
          <Button role="operator" icon="play" label={t.resumeQueue(row.queue)} onClick={() => onResume(row.queue)} />
        ) : (
          <Button role="operator" icon="pause" label={t.pauseQueue(row.queue)} onClick={() => onPause(row.queue)} />
        ),
    },
  ];
}

function Latency({ ms, isWaiting }: { ms: number; isWaiting: boolean }): JSX.Element {
  useLanguage();
  return isWaiting ? <span class="duration">{span(ms)}</span> : <span class="none">–</span>;
}

function Counts({ queue }: { queue: Queue }): JSX.Element {
  const t = useWords(words);
  const shown = STATES.filter((state) => queue.counts[state]);
  if (shown.length === 0) return <span class="none">–</span>;
  return (
    <span class="queue-states">
      {shown.map((state) => (
        <Link key={state} to={`/jobs?queue=${part(queue.queue)}&state=${state}`} {...(state === "FAILED" ? { class: "bad" } : {})}>
          <Count value={queue.counts[state] ?? 0} isBound={queue.beyond.includes(state)} /> {t.states[state]}
        </Link>
      ))}
    </span>
  );
}

function typeColumns(t: Words, onResume: (type: string) => void): Column<PausedType>[] {
  return [
    { id: "type", title: t.type, isMain: true, cell: (row) => <Link to={`/jobs?type=${part(row.type)}`}>{row.type}</Link> },
    { id: "reason", title: t.reason, isWide: true, cell: (row) => row.reason },
    { id: "since", title: t.since, align: "right", cell: (row) => <When at={row.pausedAt} /> },
    { id: "act", title: "", align: "right", cell: (row) => <Button role="operator" icon="play" label={t.resumeType(row.type)} onClick={() => onResume(row.type)} /> },
  ];
}
