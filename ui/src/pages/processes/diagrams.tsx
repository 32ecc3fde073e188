// What the diagram of a process shows: how many instances are where, where time goes, what differs between versions.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useAsk } from "@/base/ask";
import { compareBpmn, readBpmn, type BpmnElement, type Differences } from "@/base/bpmn";
import { span } from "@/base/dates";
import { useQuery } from "@/base/route";
import { number, useWords } from "@/base/words";
import { Diagram, type ElementBadge } from "@/parts/diagram/diagram";
import { Empty, Loading, ProblemBox } from "@/parts/feedback";
import { heatOf, xmlOf, type Heat, type Version } from "@/pages/processes/data";
import { words } from "@/pages/processes/words";

type Words = (typeof words)["en"];

/** A short number for a badge: 1.2K. */
function short(value: number): string {
  return number(value, { notation: "compact", maximumFractionDigits: 1 });
}

export function Counted({ xml, definitionKey }: { xml: string; definitionKey: string }): JSX.Element {
  const t = useWords(words);
  const [element, setElement] = useQuery("element");
  const heat = useAsk(`heat ${definitionKey}`, (signal) => heatOf(definitionKey, signal), ["instances", "counts", "incidents"]);
  const badges = useMemo(() => heat.data && badgesOf(heat.data, t), [heat.data, t]);
  return (
    <>
      {heat.problem && <ProblemBox problem={heat.problem} onRetry={heat.reload} />}
      <Diagram xml={xml} badges={badges ?? {}} selected={element} onSelect={(id) => setElement(id && id !== element && !readBpmn(xml).elements.get(id)?.isFlow ? id : "")} />
    </>
  );
}

function badgesOf(heat: Heat, t: Words): Record<string, ElementBadge[]> {
  const badges: Record<string, ElementBadge[]> = {};
  for (const item of heat.items) {
    const list: ElementBadge[] = [];
    const active = Math.max(0, item.active - item.incidents);
    if (active > 0) list.push({ kind: "active", text: short(active), title: t.activeAt(active) });
    if (item.incidents > 0) list.push({ kind: "incident", text: short(item.incidents), title: t.incidentsAt(item.incidents) });
    if (item.completed > 0) list.push({ kind: "completed", text: short(item.completed), title: t.completedAt(item.completed) });
    if (item.canceled > 0) list.push({ kind: "canceled", text: short(item.canceled), title: t.canceledAt(item.canceled) });
    badges[item.elementId] = list;
  }
  return badges;
}

export function HeatMap({ xml, definitionKey }: { xml: string; definitionKey: string }): JSX.Element {
  const t = useWords(words);
  const heat = useAsk(`heat ${definitionKey}`, (signal) => heatOf(definitionKey, signal), ["instances", "counts"]);
  const scopes = useMemo(() => new Set([...readBpmn(xml).elements.values()].map(({ parent }) => parent)), [xml]);
  const items = (heat.data?.items ?? []).filter(({ elementId, averageMs }) => averageMs !== null && !scopes.has(elementId));
  const total = items.reduce((sum, item) => sum + item.totalMs, 0);
  const most = Math.max(1, ...items.map((item) => item.totalMs));
  const shares = Object.fromEntries(items.map((item) => [item.elementId, Math.min(0.999, Math.sqrt(item.totalMs / most))]));
  const badges = Object.fromEntries(
    items.filter((item) => item.totalMs > 0).map((item): [string, ElementBadge[]] => [
      item.elementId,
      [{ kind: "note", text: span(item.averageMs ?? 0), title: t.heatOf(span(item.averageMs ?? 0), item.completed + item.canceled), corner: "top-right" }],
    ]),
  );
  const hottest = [...items].sort((one, other) => other.totalMs - one.totalMs).slice(0, 5).filter((item) => item.totalMs > 0);
  return (
    <>
      <Diagram xml={xml} heat={shares} badges={badges} />
      <div class="heat-foot">
        {heat.data && hottest.length === 0 ? <p class="soft">{t.noHeat}</p> : (
          <>
            <p class="legend"><span class="legend-bar" aria-hidden="true" />{t.heatLegend}</p>
            <ol class="hottest">
              {hottest.map((item) => (
                <li key={item.elementId}>
                  <span>{item.elementName || item.elementId}</span>
                  <meter min={0} max={1} value={item.totalMs / Math.max(1, total)} aria-label={item.elementName || item.elementId} />
                  <span class="soft">{number(item.totalMs / Math.max(1, total), { style: "percent" })} · {t.heatOf(span(item.averageMs ?? 0), item.completed + item.canceled)}</span>
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </>
  );
}

export function Difference({ xml, version, versions }: { xml: string; version: Version; versions: Version[] }): JSX.Element {
  const t = useWords(words);
  const others = versions.filter((each) => each.processDefinitionKey !== version.processDefinitionKey);
  const [wanted, setWanted] = useQuery("with");
  const before = others.find((each) => String(each.version) === wanted) ?? others.find((each) => each.version < version.version) ?? others[0];
  const old = useAsk(before ? `xml ${before.processDefinitionKey}` : null, (signal) => xmlOf(before?.processDefinitionKey ?? "", signal));
  const found = useMemo(() => (old.data === undefined ? undefined : compareBpmn(readBpmn(old.data), readBpmn(xml))), [old.data, xml]);
  if (!before) return <Empty title={t.oneVersion} icon="processes" />;
  return (
    <div class="difference">
      <label class="row difference-choice">
        <span>{t.compareWith}</span>
        <select class="inline" value={String(before.version)} onChange={(event) => setWanted(event.currentTarget.value)}>
          {others.map((each) => <option key={each.version} value={String(each.version)}>{t.versionNumber(each.version)}</option>)}
        </select>
      </label>
      {old.problem && <ProblemBox problem={old.problem} onRetry={old.reload} />}
      {old.data === undefined || !found ? !old.problem && <Loading /> : (
        <>
          <div class="two">
            <figure><figcaption>{t.versionNumber(before.version)}</figcaption><Diagram xml={old.data} marks={marksOf(found, "before")} /></figure>
            <figure><figcaption>{t.versionNumber(version.version)}</figcaption><Diagram xml={xml} marks={marksOf(found, "after")} /></figure>
          </div>
          <Listed found={found} />
        </>
      )}
    </div>
  );
}

function marksOf(found: Differences, side: "before" | "after"): Record<string, string[]> {
  const changed = found.changed.map(({ element }): [string, string[]] => [element.id, ["changed"]]);
  const own = side === "before" ? found.removed.map(({ id }): [string, string[]] => [id, ["removed"]]) : found.added.map(({ id }): [string, string[]] => [id, ["added"]]);
  return Object.fromEntries([...changed, ...own]);
}

function Listed({ found }: { found: Differences }): JSX.Element {
  const t = useWords(words);
  const named = (element: BpmnElement): string => (element.name === element.id ? element.id : `${element.name} (${element.id})`);
  if (found.added.length + found.removed.length + found.changed.length === 0) return <p class="difference-list soft">{t.same}</p>;
  return (
    <ul class="difference-list">
      {found.added.map((element) => <li key={element.id}><span class="mark added">{t.added}</span> {named(element)}</li>)}
      {found.removed.map((element) => <li key={element.id}><span class="mark removed">{t.removed}</span> {named(element)}</li>)}
      {found.changed.map(({ element, before }) => (
        <li key={element.id}>
          <span class="mark changed">{t.changed}</span> {named(element)}
          <ul class="said">
            {lines(before, element).map((line) => <li key={line}><code>{line}</code></li>)}
          </ul>
        </li>
      ))}
    </ul>
  );
}

const LINES_MAX = 12;

/** What an element does not say any more, and what it says now. */
function lines(before: BpmnElement, after: BpmnElement): string[] {
  const old = new Set(before.text.split("\n"));
  const now = new Set(after.text.split("\n"));
  const gone = [...old].filter((line) => !now.has(line)).map((line) => `− ${line}`);
  const come = [...now].filter((line) => !old.has(line)).map((line) => `+ ${line}`);
  return [...gone, ...come].slice(0, LINES_MAX);
}
