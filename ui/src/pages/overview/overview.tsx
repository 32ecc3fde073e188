// What happens now: how much comes and goes, what waits, what went wrong, who works.

import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { api } from "@/base/api";
import { useAsk } from "@/base/ask";
import { span } from "@/base/dates";
import { Link, segment, useQuery } from "@/base/route";
import { number, useLanguage, useWords } from "@/base/words";
import { Chart } from "@/pages/overview/chart";
import type { Alike, Bounded, Exporter, Line, Overview, Worker } from "@/pages/overview/data";
import { words } from "@/pages/overview/words";
import { Button } from "@/parts/button";
import { Badge, Count, When } from "@/parts/data";
import { Empty, Shown } from "@/parts/feedback";
import { KindOfIncident } from "@/parts/instance-state";
import { PageHead, Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import "@/pages/overview/overview.css";

type Words = (typeof words)["en"];

const SECOND_MS = 1_000; // between two looks while the page is shown: lines move also when nothing else changes
const RANGES = [2, 5, 15];

export default function OverviewPage(): JSX.Element {
  const t = useWords(words);
  const asked = useAsk("overview", (signal) => api.get<Overview>("/api/overview", undefined, signal), ["counts", "incidents", "nodes"]);
  const { reload } = asked;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, SECOND_MS);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <>
      <PageHead title={t.title} />
      <Shown asked={asked}>{(overview) => <All overview={overview} reload={reload} />}</Shown>
    </>
  );
}

function All({ overview, reload }: { overview: Overview; reload: () => void }): JSX.Element {
  const t = useWords(words);
  const list = <T,>(data: T[]): { data: T[]; problem: undefined; isLoading: boolean; reload: () => void } => ({ data, problem: undefined, isLoading: false, reload });
  return (
    <>
      <Tiles overview={overview} />
      <Charts overview={overview} />
      <Panel title={t.alike} actions={overview.incidents.total.count > 0 && <Badge tone="bad"><Total of={overview.incidents.total} /></Badge>}>
        <DataTable
          label={t.alike}
          list={list(overview.incidents.groups)}
          keyOf={(row) => row.fingerprint + row.incidentKey}
          columns={incidentColumns(t)}
          empty={<Empty title={t.alikeNone} icon="check">{t.alikeNext}</Empty>}
        />
      </Panel>
      <Panel title={t.workers}>
        <DataTable
          label={t.workers}
          list={list(overview.workers)}
          keyOf={(row) => String(row.node)}
          columns={workerColumns(t)}
          empty={<Empty title={t.workersNone} icon="user">{t.workersNext}<br /><code>procession work orders:app</code></Empty>}
        />
      </Panel>
      <Panel title={t.exporters}>
        <DataTable label={t.exporters} list={list(overview.exporters)} keyOf={(row) => row.name} columns={exporterColumns(t)} empty={<p class="quiet">{t.exportersNone}</p>} />
      </Panel>
    </>
  );
}

// -- figures ----------------------------------------------------------------------------------------------------------
function Total({ of }: { of: Bounded }): JSX.Element {
  return <Count value={of.count} isBound={of.isBound} />;
}

function Tile(props: { title: string; to?: string; tone?: "bad"; children: ComponentChildren; note: ComponentChildren }): JSX.Element {
  const inner = (
    <>
      <span class="tile-title">{props.title}</span>
      <strong class="tile-value">{props.children}</strong>
      <small>{props.note}</small>
    </>
  );
  const name = `tile ${props.tone ?? ""}`;
  return props.to ? <Link class={name} to={props.to}>{inner}</Link> : <div class={name}>{inner}</div>;
}

function Tiles({ overview }: { overview: Overview }): JSX.Element {
  const t = useWords(words);
  useLanguage();
  const { instances, jobs, incidents, commands, rates } = overview;
  const rate = (value: number): string => number(value, { maximumFractionDigits: value < 10 ? 1 : 0 });
  const counted = instances.isBehind ? t.behind : t.counted(number(instances.completed), number(instances.terminated));
  const oldest = jobs.oldestReadyDate && new Date(overview.date).getTime() - new Date(jobs.oldestReadyDate).getTime();
  return (
    <div class="tiles">
      <Tile title={t.active} to="/instances?state=ACTIVE" note={instances.isCounted ? counted : t.notCounted}>
        {instances.isCounted ? <Count value={instances.active} /> : "–"}
      </Tile>
      <Tile title={t.rates} note={`${t.started.toLowerCase()} · ${rate(rates.completed)} ${t.completed.toLowerCase()}`}>{rate(rates.started)}</Tile>
      <Tile title={t.openIncidents} to="/instances?state=INCIDENT" {...(incidents.total.count > 0 ? { tone: "bad" as const } : {})} note={incidents.total.count > 0 ? `${rate(rates.incidents)} ${t.perSecond}` : t.noIncidents}>
        <Total of={incidents.total} />
      </Tile>
      <Tile title={t.readyJobs} to="/jobs?state=READY" note={oldest ? t.oldest(span(Math.max(0, oldest))) : t.nothingWaits}><Total of={jobs.ready} /></Tile>
      <Tile title={t.running} to="/jobs?state=RUNNING" note={t.scheduled(number(jobs.scheduled.count) + (jobs.scheduled.isBound ? "+" : ""))}><Total of={jobs.running} /></Tile>
      <Tile title={t.inFlight} {...(rates.rejected > 0 ? { tone: "bad" as const } : {})} note={rates.rejected > 0 ? `${rate(rates.rejected)} ${t.rejected.toLowerCase()} ${t.perSecond}` : commands.limit === null ? t.noLimit : t.limit(number(commands.limit))}>
        <Count value={commands.inFlight} />
      </Tile>
    </div>
  );
}

// -- lines ------------------------------------------------------------------------------------------------------------
function Charts({ overview }: { overview: Overview }): JSX.Element {
  const t = useWords(words);
  const [text, setText] = useQuery("minutes");
  const minutes = RANGES.find((each) => String(each) === text) ?? 5;
  const instances: Line[] = [
    { measure: "started", label: t.started, colour: "--active-strong" },
    { measure: "completed", label: t.completed, colour: "--good-strong" },
    { measure: "incidents", label: t.incidents, colour: "--bad-strong" },
  ];
  const jobs: Line[] = [
    { measure: "jobsDone", label: t.jobsDone, colour: "--good-strong" },
    { measure: "jobsRetried", label: t.jobsRetried, colour: "--warn-strong" },
    { measure: "jobsFailed", label: t.jobsFailed, colour: "--bad-strong" },
    { measure: "rejected", label: t.rejected, colour: "--muted-strong" },
  ];
  const ranges = (
    <div class="ranges" role="group" aria-label={t.range}>
      {RANGES.map((each) => (
        <Button key={each} kind="ghost" pressed={each === minutes} onClick={() => setText(String(each))}>{t.minutes(each)}</Button>
      ))}
    </div>
  );
  return (
    <div class="charts">
      <Panel title={t.throughput} actions={ranges}><Drawn overview={overview} lines={instances} minutes={minutes} /></Panel>
      <Panel title={t.jobs}><Drawn overview={overview} lines={jobs} minutes={minutes} /></Panel>
    </div>
  );
}

function Drawn(props: { overview: Overview; lines: Line[]; minutes: number }): JSX.Element {
  const t = useWords(words);
  if (props.overview.series.at.length === 0) {
    return <p class="quiet chart-none">{props.overview.workers.length > 0 ? t.noSeries : t.hidden}</p>;
  }
  return <Chart {...props} />;
}

// -- tables -----------------------------------------------------------------------------------------------------------
function incidentColumns(t: Words): Column<Alike>[] {
  return [
    {
      id: "problem",
      title: t.problem,
      isMain: true,
      isWide: true,
      cell: (row) => (
        <div class="alike">
          <Link to={`/instances/${row.processInstanceKey}`} title={t.latest}>{firstLine(row.errorMessage)}</Link>
          <KindOfIncident kind={row.errorType} />
        </div>
      ),
    },
    {
      id: "where",
      title: t.where,
      cell: (row) => (
        <span>
          <Link to={`/processes/${segment(row.processDefinitionId)}?version=all&state=INCIDENT&incident=${encodeURIComponent(row.fingerprint)}`}>{row.processDefinitionId}</Link>
          <br />
          <small>{row.elementId}</small>
        </span>
      ),
    },
    { id: "count", title: t.count, align: "right", cell: (row) => <Link to={`/instances?state=INCIDENT&incident=${encodeURIComponent(row.fingerprint)}`} title={t.showAlike}><Badge tone="bad"><Count value={row.count} /></Badge></Link> },
    { id: "first", title: t.first, align: "right", cell: (row) => <When at={row.firstDate} style="relative" /> },
    { id: "last", title: t.last, align: "right", cell: (row) => <When at={row.lastDate} style="relative" /> },
  ];
}

function firstLine(text: string): string {
  const lines = text.trim().split("\n");
  const line = (text.startsWith("Traceback") ? lines.at(-1) : lines[0]) ?? "";
  return line.length > 160 ? `${line.slice(0, 160)}…` : line || "…";
}

function workerColumns(t: Words): Column<Worker>[] {
  return [
    {
      id: "name",
      title: t.name,
      isMain: true,
      isWide: true,
      cell: (row) => (
        <span class="row">
          {row.name}
          {row.isThis && <Badge>{t.thisOne}</Badge>}
          <small>#{row.node}</small>
        </span>
      ),
    },
    { id: "state", title: "", cell: (row) => <Badge tone={row.isAlive ? "good" : "bad"}>{row.isAlive ? t.alive : t.silent}</Badge> },
    { id: "running", title: t.jobsNow, align: "right", cell: (row) => <Count value={row.running} /> },
    { id: "seen", title: t.seen, align: "right", cell: (row) => <When at={row.seenDate} style="relative" /> },
    { id: "since", title: t.since, align: "right", cell: (row) => <When at={row.startedDate} style="relative" /> },
  ];
}

function exporterColumns(t: Words): Column<Exporter>[] {
  return [
    { id: "name", title: t.name, isMain: true, isWide: true, cell: (row) => <span>{row.name}{row.error && <small class="bad"> {row.error}</small>}</span> },
    { id: "lag", title: t.lag, align: "right", cell: (row) => <Badge tone={row.error ? "bad" : row.lag > 10_000 ? "warn" : "good"}>{t.lagOf(row.lag)}{row.lagMs > 0 && `, ${span(row.lagMs)}`}</Badge> },
  ];
}
