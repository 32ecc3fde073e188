// Jobs by filters that stand in the address, the newest first.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useList } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, Key, When } from "@/parts/data";
import { Empty } from "@/parts/feedback";
import { Filters, useFilters, type Filter } from "@/parts/filters";
import { Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import { BulkBar } from "@/pages/jobs/bulk";
import { gist, KINDS, listJobs, STATES, type Job } from "@/pages/jobs/data";
import { Head, ProgressOf, StateOfJob } from "@/pages/jobs/frame";
import { words } from "@/pages/jobs/words";

const ALWAYS = 5; // filters that are shown at once; the others stand behind "more"

export default function Jobs(): JSX.Element {
  const t = useWords(words);
  const filters: Filter[] = [
    { name: "state", label: t.state, kind: "choice", options: [["", t.anyQueued], ...STATES.map((each): [string, string] => [each, t.states[each]])] },
    { name: "queue", label: t.queue, kind: "text" },
    { name: "type", label: t.type, kind: "text" },
    { name: "tag", label: t.tag, kind: "text" },
    { name: "text", label: t.text, kind: "text", placeholder: t.textHint },
    { name: "kind", label: t.kind, kind: "choice", options: [["", t.any], ...KINDS.map((each): [string, string] => [each, t.kinds[each]])] },
    { name: "batch", label: t.batch, kind: "text" },
  ];
  const values = useFilters(filters);
  const [wanted, want] = useState<boolean>();
  const isMore = wanted ?? filters.slice(ALWAYS).some(({ name }) => values[name]);
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const key = JSON.stringify(values);
  const list = useList<Job>(key, (after, signal) => listJobs(values, after, signal), ["jobs"]);
  useEffect(() => select(new Set()), [key]);
  return (
    <>
      <Head title={t.title} />
      <Panel>
        <div class="panel-body stack">
          <Filters filters={isMore ? filters : filters.slice(0, ALWAYS)}>
            <Button kind="ghost" icon="filter" onClick={() => want(!isMore)}>{isMore ? t.fewerFilters : t.moreFilters}</Button>
          </Filters>
          <BulkBar
            selected={selected}
            filters={values}
            shown={list.data?.length ?? 0}
            total={list.total}
            isTotalBound={list.isTotalBound}
            onDone={() => {
              select(new Set());
              list.reload();
            }}
          />
        </div>
        <DataTable
          label={t.title}
          list={list}
          keyOf={(row) => row.jobKey}
          columns={columns(t)}
          selected={selected}
          onSelect={select}
          empty={
            Object.keys(values).length > 0 ? (
              <Empty title={t.noMatch} icon="filter">{t.noMatchNext}</Empty>
            ) : (
              <Empty title={t.none} icon="jobs">{t.noneNext}<br /><code>procession enqueue send-mail '{"{"}"to": "Ada"{"}"}'</code></Empty>
            )
          }
        />
      </Panel>
    </>
  );
}

function columns(t: (typeof words)["en"]): Column<Job>[] {
  return [
    {
      id: "job",
      title: t.job,
      isMain: true,
      isWide: true,
      cell: (row) => (
        <div class="named">
          <span>
            <Link to={`/jobs/${row.jobKey}`}>{row.title || row.type || t.kinds[row.kind]}</Link>
            {row.tags.map((tag) => <Badge key={tag}>{tag}</Badge>)}
          </span>
          <span>{row.title && <small>{row.type}</small>}<Key value={row.jobKey} /></span>
          {row.errorMessage && row.state !== "SUCCEEDED" && <small class="bad">{gist(row.errorMessage).slice(0, 160)}</small>}
        </div>
      ),
    },
    {
      id: "state",
      title: t.state,
      cell: (row) => <div><StateOfJob state={row.state} />{row.state === "RUNNING" && <ProgressOf progress={row.progress} text={row.progressText} />}</div>,
    },
    { id: "queue", title: t.queue, cell: (row) => <Link to={`/jobs?queue=${encodeURIComponent(row.queue)}`}>{row.queue}</Link> },
    { id: "attempt", title: t.attempt, align: "right", cell: (row) => row.attempt },
    { id: "due", title: t.due, align: "right", cell: (row) => <When at={row.endedAt ? null : row.runAt} /> },
    { id: "created", title: t.created, align: "right", cell: (row) => <When at={row.createdAt} /> },
    { id: "ended", title: t.ended, align: "right", cell: (row) => <When at={row.endedAt} /> },
  ];
}
