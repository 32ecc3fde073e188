// One recurring job: when it runs next, what became of its last runs, what it puts into the queue.

import type { JSX } from "preact";
import { api, withQuery } from "@/base/api";
import { useAsk } from "@/base/ask";
import { Link, navigate, useQuery } from "@/base/route";
import { number, useWords } from "@/base/words";
import type { PageProps } from "@/pages/entry";
import { JsonView, Pairs, When } from "@/parts/data";
import { Empty, Shown } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { DataTable } from "@/parts/table";
import type { RecurringDetails } from "@/pages/jobs/data";
import { StateOfJob } from "@/pages/jobs/frame";
import { StateOfRecurring } from "@/pages/jobs/recurring";
import { pathOf, RecurringActions } from "@/pages/jobs/recurring-actions";
import { words } from "@/pages/jobs/words";
import "@/pages/jobs/jobs.css";

const RUNS = 10;

export default function Recurrence({ params }: PageProps): JSX.Element {
  const t = useWords(words);
  const name = params.name ?? "";
  const [tenant] = useQuery("tenant");
  const asked = useAsk(`recurring ${tenant} ${name}`, (signal) => api.get<RecurringDetails>(withQuery(pathOf(name, tenant), { runs: RUNS }), undefined, signal), ["recurring", "jobs"]);
  const of = asked.data?.recurring;
  return (
    <>
      <PageHead
        title={name}
        crumbs={[{ title: t.title, to: "/jobs" }, { title: t.recurring, to: "/jobs/recurring" }]}
        subtitle={of && <><StateOfRecurring of={of} /><code>{of.cycle}</code></>}
        actions={of && <RecurringActions of={of} onDone={asked.reload} onDeleted={() => navigate("/jobs/recurring")} />}
      />
      <Shown asked={asked}>{(details) => <Details details={details} reload={asked.reload} />}</Shown>
    </>
  );
}

function Details({ details, reload }: { details: RecurringDetails; reload: () => void }): JSX.Element {
  const t = useWords(words);
  const { recurring: of, nextRuns, history } = details;
  const isQuiet = of.isPaused || nextRuns.length === 0;
  return (
    <>
      <div class="job-columns">
        <Panel title={t.nextRuns}>
          {isQuiet ? (
            <Empty title={t.noNextRuns} icon="pause">{of.isPaused ? t.noNextRunsPaused : t.noNextRunsOver}</Empty>
          ) : (
            <ol class="run-list">
              {nextRuns.map((at) => <li key={at}><When at={at} style="full" /><span class="soft"><When at={at} style="relative" /></span></li>)}
            </ol>
          )}
        </Panel>
        <div class="stack">
          <Panel title={t.about}>
            <div class="panel-body">
              <Pairs
                rows={[
                  [t.type, <Link to={`/jobs?type=${encodeURIComponent(of.type)}`}>{of.type}</Link>],
                  [t.queue, of.queue ? <Link to={`/jobs?queue=${encodeURIComponent(of.queue)}`}>{of.queue}</Link> : "–"],
                  [t.fired, number(of.fired)],
                  [t.missed, t.misses[of.missed]],
                  [t.overlap, of.overlap ? t.yes : t.no],
                  ...(of.group ? [[t.group, of.group] as [string, string]] : []),
                ]}
              />
            </div>
          </Panel>
          <Panel title={t.args}><div class="panel-body"><JsonView value={of.args} /></div></Panel>
        </div>
      </div>
      <Panel title={t.history}>
        <DataTable
          label={t.history}
          list={{ data: history, problem: undefined, isLoading: false, reload, total: history.length }}
          keyOf={(row) => `${row.at} ${row.dueAt}`}
          columns={[
            { id: "at", title: t.at, isMain: true, cell: (row) => <When at={row.at} /> },
            { id: "due", title: t.dueAt, cell: (row) => <When at={row.dueAt} /> },
            {
              id: "jobs",
              title: t.jobs,
              isWide: true,
              cell: (row) => (
                <span class="row">
                  {row.jobs.map((job) => (
                    <span class="row" key={job.jobKey}>
                      {job.state === "GONE" ? <code>{job.jobKey}</code> : <Link to={`/jobs/${job.jobKey}`}>{job.jobKey}</Link>}
                      <StateOfJob state={job.state} />
                    </span>
                  ))}
                </span>
              ),
            },
          ]}
          empty={<Empty title={t.noHistory} icon="clock">{t.noHistoryNext}</Empty>}
        />
      </Panel>
    </>
  );
}
