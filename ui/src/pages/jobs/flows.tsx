// Flows that have a title: how far they are, and each as a graph.

import type { JSX } from "preact";
import { api } from "@/base/api";
import { useAsk, useList } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import type { PageProps } from "@/pages/entry";
import { Key, When } from "@/parts/data";
import { Empty, Shown } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import { type Flow, listOf, type TitledFlow } from "@/pages/jobs/data";
import { Graph } from "@/pages/jobs/flow";
import { Head, HowFar, StateOfJob } from "@/pages/jobs/frame";
import { words } from "@/pages/jobs/words";

const EXAMPLE = 'await app.enqueue_flow([…], title="Order A-17")';

export default function FlowsPage({ params }: PageProps): JSX.Element {
  return params.key ? <OneFlow flowKey={params.key} /> : <AllFlows />;
}

function AllFlows(): JSX.Element {
  const t = useWords(words);
  const list = useList<TitledFlow>("flows", listOf("/api/flows"), ["batches", "jobs"]);
  return (
    <>
      <Head title={t.flows} />
      <Panel>
        <DataTable
          label={t.flows}
          list={list}
          keyOf={(row) => row.flowKey}
          columns={columns(t)}
          empty={<Empty title={t.noFlows} icon="jobs">{t.noFlowsNext}<br /><code>{EXAMPLE}</code></Empty>}
        />
      </Panel>
    </>
  );
}

function columns(t: (typeof words)["en"]): Column<TitledFlow>[] {
  return [
    {
      id: "title",
      title: t.flow,
      isMain: true,
      cell: (row) => <div class="named"><Link to={`/jobs/flows/${row.flowKey}`}>{row.title}</Link><Key value={row.flowKey} /></div>,
    },
    { id: "state", title: t.state, cell: (row) => <StateOfJob state={row.state} /> },
    { id: "far", title: t.progress, isWide: true, cell: (row) => <HowFar of={row} /> },
    { id: "created", title: t.created, align: "right", cell: (row) => <When at={row.createdAt} /> },
    { id: "ended", title: t.ended, align: "right", cell: (row) => <When at={row.finishedAt} /> },
  ];
}

function OneFlow({ flowKey }: { flowKey: string }): JSX.Element {
  const t = useWords(words);
  const asked = useAsk(`flow ${flowKey}`, (signal) => api.get<Flow>(`/api/flows/${encodeURIComponent(flowKey)}`, undefined, signal), ["jobs", "batches"]);
  return (
    <>
      <PageHead title={asked.data?.title || t.flow} crumbs={[{ title: t.flows, to: "/jobs/flows" }]} subtitle={<Key value={flowKey} />} />
      <Shown asked={asked}>
        {(flow) => (
          <Panel title={t.flow}>
            <Graph flow={flow} current="" />
          </Panel>
        )}
      </Shown>
    </>
  );
}
