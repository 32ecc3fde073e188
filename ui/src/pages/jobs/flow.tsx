// The flow that a job belongs to, as a graph from left to right. Each job is a link; its state is a word on it.

import type { JSX } from "preact";
import { api } from "@/base/api";
import { useAsk } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { layers, type Point } from "@/parts/bpmn-io/layers";
import { Shown } from "@/parts/feedback";
import { Panel } from "@/parts/layout";
import type { Flow, Job } from "@/pages/jobs/data";
import { words } from "@/pages/jobs/words";

const WIDTH = 168;
const HEIGHT = 48;
const ROOM = 12; // around the graph
const NAME_MAX = 21; // letters that fit: what is longer is cut, and whole when pointed at

export function FlowPanel({ job }: { job: Job }): JSX.Element {
  const t = useWords(words);
  const asked = useAsk(`flow ${job.jobKey}`, (signal) => api.get<Flow>(`/api/flows/${job.jobKey}`, undefined, signal), ["jobs"]);
  return (
    <Panel title={t.flow} actions={asked.data?.flowKey ? <Link to={`/jobs/flows/${asked.data.flowKey}`}>{asked.data.title}</Link> : undefined}>
      <Shown asked={asked}>{(flow) => <Graph flow={flow} current={job.jobKey} />}</Shown>
    </Panel>
  );
}

export function Graph({ flow, current }: { flow: Flow; current: string }): JSX.Element {
  const t = useWords(words);
  const known = new Set(flow.nodes.map(({ jobKey }) => jobKey));
  const edges = flow.edges.filter((edge) => known.has(edge.parentKey) && known.has(edge.childKey));
  const laid = layers(
    flow.nodes.map(({ jobKey }) => ({ id: jobKey, width: WIDTH, height: HEIGHT, below: 0 })),
    edges.map((edge) => ({ id: `${edge.parentKey} ${edge.childKey}`, from: edge.parentKey, to: edge.childKey, hangs: 0 })),
  );
  const width = laid.width + 2 * ROOM;
  const height = laid.height + 2 * ROOM;
  return (
    <div class="flow-box" role="group" aria-label={t.flowLabel} tabIndex={0}>
      <svg class="flow" width={width} height={height} viewBox={`${-ROOM} ${-ROOM} ${width} ${height}`}>
        <defs>
          <clipPath id="flow-name-room"><rect x={0} y={0} width={WIDTH - 6} height={HEIGHT} /></clipPath>
          <marker id="flow-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" /></marker>
        </defs>
        {edges.map((edge) => (
          <path key={`${edge.parentKey} ${edge.childKey}`} class={edge.either ? "flow-edge either" : "flow-edge"} d={pathOf(laid.edges.get(`${edge.parentKey} ${edge.childKey}`) ?? [])} marker-end="url(#flow-arrow)">
            {edge.either && <title>{t.either}</title>}
          </path>
        ))}
        {flow.nodes.map((node) => {
          const box = laid.boxes.get(node.jobKey);
          const name = node.title || node.type || (node.isBatch ? t.batch : node.jobKey);
          const state = t.states[node.state as keyof typeof t.states] ?? node.state.toLowerCase();
          const isThis = node.jobKey === current;
          const inner = (
            <g transform={`translate(${box?.x ?? 0} ${box?.y ?? 0})`}>
              {name.length > NAME_MAX && <title>{name}</title>}
              <rect width={WIDTH} height={HEIGHT} rx={8} />
              <text x={12} y={20} class="flow-name" clip-path="url(#flow-name-room)">{name}</text>
              <text x={12} y={37} class="flow-state">{node.isBatch ? `${t.batch.toLowerCase()}: ${state}` : state}</text>
            </g>
          );
          const kind = `flow-node ${node.state.toLowerCase()}${isThis ? " this" : ""}`;
          if (node.state === "GONE") return <g key={node.jobKey} class={kind}>{inner}</g>;
          return (
            <Link key={node.jobKey} class={kind} to={node.isBatch ? `/jobs?batch=${node.jobKey}` : `/jobs/${node.jobKey}`} {...(isThis ? { "aria-current": "true" as const } : {})}>
              {inner}
            </Link>
          );
        })}
      </svg>
      {flow.isCut && <p class="soft job-cut">{t.flowCut}</p>}
    </div>
  );
}

function pathOf(points: Point[]): string {
  return points.map(({ x, y }, index) => `${index ? "L" : "M"}${x} ${y}`).join("");
}
