// One instance: where it stands and why, the path that it took, everything that happened, and what can be done about it.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useAsk, useList } from "@/base/ask";
import { readBpmn, type BpmnModel } from "@/base/bpmn";
import type { Instance } from "@/base/camunda";
import { may } from "@/base/me";
import { Link, segment, useQuery } from "@/base/route";
import { useWords } from "@/base/words";
import { Badge, Duration, Key, When } from "@/parts/data";
import { Diagram, type ElementBadge } from "@/parts/diagram/diagram";
import { Loading, ProblemBox } from "@/parts/feedback";
import { StateOfInstance } from "@/parts/instance-state";
import { PageHead, Panel, Tabs } from "@/parts/layout";
import type { PageProps } from "@/pages/entry";
import { InstanceActions } from "@/pages/instance/actions";
import { instanceOf, nowOf, storyOf, xmlOf, type Entry, type Now } from "@/pages/instance/data";
import { Family, Incidents, Jobs, Waits } from "@/pages/instance/lists";
import { MoveDialog, type Wish } from "@/pages/instance/move";
import { TimelineView } from "@/pages/instance/timeline";
import { Variables } from "@/pages/instance/variables";
import { alike, Why } from "@/pages/instance/why";
import { words, type Words } from "@/pages/instance/words";
import "@/pages/instance/instance.css";

export default function InstancePage({ params }: PageProps): JSX.Element {
  const t = useWords(words);
  const key = params.key ?? "";
  const [known, setKnown] = useState(false);
  const instance = useAsk(`instance ${key}`, (signal) => instanceOf(key, signal), known ? [`instance:${key}`] : ["instances"]);
  useEffect(() => setKnown(instance.data !== undefined), [instance.data === undefined]); // the server watches only what is there
  if (!instance.data) {
    return (
      <>
        <PageHead title={t.instance(key)} crumbs={[{ title: t.processes, to: "/processes" }]} />
        {instance.problem ? <ProblemBox problem={instance.problem} onRetry={instance.reload} /> : <Loading />}
      </>
    );
  }
  return <Loaded instance={instance.data} problem={instance.problem} reload={instance.reload} />;
}

function Loaded({ instance, problem, reload }: { instance: Instance; problem: ReturnType<typeof useAsk>["problem"]; reload: () => void }): JSX.Element {
  const t = useWords(words);
  const key = instance.processInstanceKey;
  const [element, setElement] = useQuery("element");
  const [wish, setWish] = useState<Wish | null>(null);
  const now = useAsk(`now ${key}`, (signal) => nowOf(key, signal), [`instance:${key}`, "jobs"]);
  const xml = useAsk(`xml ${instance.processDefinitionKey}`, (signal) => xmlOf(instance.processDefinitionKey, signal));
  const story = useList<Entry>(`timeline ${key}`, (after, signal) => storyOf(key, after, signal), [`instance:${key}`]);
  const again = (): void => {
    reload();
    now.reload();
    story.reload();
  };
  const model = useMemo(() => (xml.data === undefined ? undefined : readBpmn(xml.data)), [xml.data]);
  const badges = useMemo(() => badgesOf(now.data, instance, t), [now.data, instance.state, t]);
  const marks = useMemo(() => marksOf(now.data, story.data, model), [now.data, story.data, model]);
  const isOver = instance.state === "COMPLETED" || instance.state === "TERMINATED";
  return (
    <>
      <PageHead
        title={instance.businessId || t.instance(key)}
        crumbs={[
          { title: t.processes, to: "/processes" },
          { title: instance.processDefinitionName || instance.processDefinitionId, to: `/processes/${segment(instance.processDefinitionId)}?version=${instance.processDefinitionVersion}` },
        ]}
        subtitle={<Facts instance={instance} />}
        actions={<InstanceActions instance={instance} now={now.data} model={model} onDone={again} onMove={() => setWish({ from: "", to: "" })} />}
      />
      {problem && <ProblemBox problem={problem} onRetry={reload} />}
      <div class={isOver ? "instance-top over" : "instance-top"}>
        <Panel class="instance-diagram">
          {xml.problem ? <ProblemBox problem={xml.problem} onRetry={xml.reload} /> : xml.data === undefined ? <Loading /> : (
            <Diagram
              xml={xml.data}
              badges={badges}
              marks={marks}
              selected={element}
              focus={now.data?.incidents[0]?.elementId ?? now.data?.elements.find((each) => !model?.elements.get(each.elementId)?.type.includes("rocess"))?.elementId}
              onSelect={(id) => setElement(id && id !== element && !model?.elements.get(id)?.isFlow ? id : "")}
              onDrop={(from, to) => {
                if (!model?.elements.get(to)?.isFlow) setWish({ from, to });
              }}
            />
          )}
        </Panel>
        {!isOver && (
          <Panel title={t.why} class="instance-why">
            {now.data ? <Why instance={instance} now={now.data} model={model} onDone={again} onMove={(from) => setWish({ from, to: "" })} /> : now.problem ? <ProblemBox problem={now.problem} onRetry={now.reload} /> : <Loading />}
          </Panel>
        )}
      </div>
      <Details instance={instance} now={now.data} story={story} model={model} onDone={again} />
      {wish && model && <MoveDialog instance={instance} wish={wish} now={now.data} model={model} onClose={() => setWish(null)} onDone={again} />}
    </>
  );
}

interface DetailsProps {
  instance: Instance;
  now: Now | undefined;
  story: ReturnType<typeof useList<Entry>>;
  model: BpmnModel | undefined;
  onDone: () => void;
}

function Details({ instance, now, story, model, onDone }: DetailsProps): JSX.Element {
  const t = useWords(words);
  const [tab, setTab] = useQuery("tab", "timeline");
  const [element, setElement] = useQuery("element");
  const family = now ? now.called.length + now.callers.length : undefined;
  return (
    <Panel>
      <Tabs
        label={t.details}
        current={tab}
        onChange={setTab}
        tabs={[
          { id: "timeline", title: t.timeline },
          { id: "variables", title: t.variables },
          { id: "jobs", title: t.jobs, count: now?.jobs.length || undefined },
          { id: "waits", title: t.waits, count: now ? now.subscriptions.length + now.timers.length || undefined : undefined },
          { id: "incidents", title: t.incidents, count: now?.incidents.length || undefined },
          { id: "family", title: t.family, count: family || undefined },
        ]}
      >
        {tab === "timeline" && <TimelineView story={story} element={element} onElement={setElement} model={model} />}
        {tab === "variables" && <Variables instance={instance} now={now} model={model} />}
        {tab !== "timeline" && tab !== "variables" && (now ? (
          <>
            {tab === "jobs" && <Jobs now={now} model={model} onDone={onDone} />}
            {tab === "waits" && <Waits now={now} model={model} instance={instance} onDone={onDone} />}
            {tab === "incidents" && <Incidents now={now} model={model} onDone={onDone} />}
            {tab === "family" && <Family now={now} model={model} />}
          </>
        ) : <Loading />)}
      </Tabs>
    </Panel>
  );
}

function Facts({ instance }: { instance: Instance }): JSX.Element {
  const t = useWords(words);
  return (
    <>
      <StateOfInstance state={instance.state} hasIncident={instance.hasIncident} />
      {instance.tags.map((tag) => <Badge key={tag}>{tag}</Badge>)}
      <span>{t.version(instance.processDefinitionVersion)}</span>
      <span>{t.key} <Key value={instance.processInstanceKey} /></span>
      <span>{t.started} <When at={instance.startDate} /></span>
      {instance.endDate && <span>{t.ended} <When at={instance.endDate} /></span>}
      {instance.startDate && <span>{instance.endDate ? t.took : t.runningFor} <Duration from={instance.startDate} to={instance.endDate} /></span>}
      {instance.parentProcessInstanceKey && <span>{t.calledBy} <Link to={`/instances/${instance.parentProcessInstanceKey}`}>{instance.parentProcessInstanceKey}</Link></span>}
    </>
  );
}

/** Tokens, which can be dragged, and incidents. */
function badgesOf(now: Now | undefined, instance: Instance, t: Words): Record<string, ElementBadge[]> {
  const badges: Record<string, ElementBadge[]> = {};
  const counts = new Map<string, { name: string; count: number }>();
  for (const { element, count } of alike(now?.elements ?? [])) {
    const found = counts.get(element.elementId) ?? { name: element.elementName || element.elementId, count: 0 };
    counts.set(element.elementId, { ...found, count: found.count + count });
  }
  const isDraggable = instance.state === "ACTIVE" && may("operator");
  for (const [id, { name, count }] of counts) badges[id] = [{ kind: "token", text: String(count), title: t.token(name, count), isDraggable }];
  for (const incident of now?.incidents ?? []) {
    const list = badges[incident.elementId] ?? [];
    if (!list.some(({ kind }) => kind === "incident")) list.push({ kind: "incident", text: "!", title: `${t.incidentHere}: ${incident.errorMessage.slice(0, 200)}` });
    badges[incident.elementId] = list;
  }
  return badges;
}

/** The path taken, where tokens are, what failed. */
function marksOf(now: Now | undefined, entries: Entry[] | undefined, model: BpmnModel | undefined): Record<string, string[]> {
  const marks = new Map<string, Set<string>>();
  const mark = (id: string | undefined, name: string): void => {
    if (id) marks.set(id, (marks.get(id) ?? new Set()).add(name));
  };
  for (const entry of entries ?? []) {
    if (entry.type === "flow-taken") mark(entry.sequenceFlowId, "taken");
    if (entry.type === "element-passed" || entry.type === "element-completed") mark(entry.elementId, "taken");
  }
  const scopes = new Set((now?.elements ?? []).map((each) => model?.elements.get(each.elementId)?.parent));
  for (const each of now?.elements ?? []) mark(each.elementId, scopes.has(each.elementId) ? "within" : "waiting");
  for (const incident of now?.incidents ?? []) mark(incident.elementId, "failing");
  return Object.fromEntries([...marks].map(([id, names]) => [id, names.has("failing") ? ["failing"] : [...names]]));
}
