// The processes that are deployed, with how many instances of each run, wait for a person, are over.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { withQuery } from "@/base/api";
import { useAsk } from "@/base/ask";
import { Link, segment, useQuery } from "@/base/route";
import { useWords } from "@/base/words";
import { Badge, Count, When } from "@/parts/data";
import { Empty } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import { DEFAULT_TENANT, versionsOf, type Version } from "@/pages/processes/data";
import { words } from "@/pages/processes/words";
import "@/pages/processes/processes.css";

interface Process {
  id: string;
  tenantId: string;
  latest: Version;
  versions: number;
  active: number;
  incidents: number;
  completed: number;
}

export default function Processes(): JSX.Element {
  const t = useWords(words);
  const [text, setText] = useQuery("find");
  const asked = useAsk("processes", (signal) => versionsOf(undefined, signal), ["definitions", "instances", "counts", "incidents"]);
  const all = useMemo(() => asked.data && processesOf(asked.data.items), [asked.data]);
  const wanted = text.trim().toLowerCase();
  const rows = all?.filter(({ id, latest }) => `${id} ${latest.name ?? ""}`.toLowerCase().includes(wanted));
  return (
    <>
      <PageHead
        title={t.title}
        actions={
          <>
            <input type="search" class="find" aria-label={t.find} placeholder={t.find} value={text} onInput={(event) => setText(event.currentTarget.value)} />
            <Link class="button" to="/instances">{t.allInstances}</Link>
            <Link class="button" to="/batches">{t.batches}</Link>
          </>
        }
      />
      <Panel>
        <DataTable
          label={t.title}
          list={{ ...asked, data: rows }}
          keyOf={(row) => row.id + row.tenantId}
          columns={columns(t)}
          empty={wanted ? <Empty title={t.nothingFound} icon="search" /> : <Empty title={t.none} icon="processes">{t.noneNext}<br /><code>procession deploy order.bpmn</code></Empty>}
        />
      </Panel>
    </>
  );
}

function columns(t: ReturnType<typeof useWords<(typeof words)["en"]>>): Column<Process>[] {
  const to = ({ id, tenantId }: Process): string => withQuery(`/processes/${segment(id)}`, { tenant: tenantId === DEFAULT_TENANT ? "" : tenantId });
  const counted = (row: Process, count: number, state: string, tone: "active" | "bad" | "neutral"): JSX.Element =>
    count === 0 ? <span class="none">0</span> : <Link to={withQuery(to(row), { version: "all", state })}><Badge tone={tone}><Count value={count} /></Badge></Link>;
  return [
    {
      id: "name",
      title: t.process,
      isMain: true,
      isWide: true,
      cell: (row) => (
        <div class="named">
          <Link to={to(row)}>{row.latest.name || row.id}</Link>
          <small>{row.id}{row.tenantId !== DEFAULT_TENANT && ` · ${row.tenantId}`}</small>
        </div>
      ),
    },
    { id: "active", title: t.running, align: "right", cell: (row) => counted(row, row.active, "ACTIVE", "active") },
    { id: "incidents", title: t.incidents, align: "right", cell: (row) => counted(row, row.incidents, "INCIDENT", "bad") },
    { id: "completed", title: t.completed, align: "right", cell: (row) => counted(row, row.completed, "COMPLETED", "neutral") },
    { id: "versions", title: t.version, align: "right", cell: (row) => row.latest.version },
    { id: "deployed", title: t.deployedAt, align: "right", cell: (row) => <When at={row.latest.deployedDate} style="relative" /> },
  ];
}

function processesOf(versions: Version[]): Process[] {
  const found = new Map<string, Process>();
  for (const version of versions) {
    const at = `${version.tenantId}\n${version.processDefinitionId}`;
    const process = found.get(at);
    if (!process) {
      const { processDefinitionId: id, tenantId, active, incidents, completed } = version;
      found.set(at, { id, tenantId, latest: version, versions: 1, active, incidents, completed });
      continue;
    }
    process.versions += 1;
    process.active += version.active;
    process.incidents += version.incidents;
    process.completed += version.completed;
    if (version.version > process.latest.version) process.latest = version;
  }
  return [...found.values()].sort((one, other) => (one.latest.name || one.id).localeCompare(other.latest.name || other.id));
}
