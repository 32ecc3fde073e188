// What is open of an instance, as tables: jobs, waits, incidents, calls.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { BpmnModel } from "@/base/bpmn";
import type { Instance, InstanceState } from "@/base/camunda";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Key, State, When } from "@/parts/data";
import { Empty } from "@/parts/feedback";
import { KindOfIncident, StateOfInstance } from "@/parts/instance-state";
import { Scroll } from "@/parts/scroll";
import { DataTable, type TableProps } from "@/parts/table";
import { PublishDialog, RetryDialog, type Retry } from "@/pages/instance/dialogs";
import type { Incident, Job, Now, Relative, Subscription } from "@/pages/instance/data";
import { subscribed } from "@/pages/instance/why";
import { jobStates, words } from "@/pages/instance/words";

interface ListProps {
  now: Now;
  model: BpmnModel | undefined;
  onDone: () => void;
}

const SHOWN = 50; // rows at first, and with each further step

/** A list that is there already; of a long one only a part is drawn. */
function useReady<T>(rows: T[]): TableProps<T>["list"] {
  const [shown, show] = useState(SHOWN);
  return {
    data: rows.slice(0, shown),
    problem: undefined,
    isLoading: false,
    reload: () => undefined,
    total: rows.length,
    hasMore: rows.length > shown,
    more: () => show(shown + SHOWN),
  };
}

export function Jobs({ now, model, onDone }: ListProps): JSX.Element {
  const t = useWords(words);
  const states = useWords(jobStates);
  const [retry, setRetry] = useState<Retry | null>(null);
  const list = useReady(now.jobs);
  const nameOf = (id: string): string => model?.elements.get(id)?.name ?? id;
  return (
    <>
      <DataTable<Job>
        label={t.jobs}
        list={list}
        keyOf={(row) => row.jobKey}
        columns={[
          { id: "type", title: t.type, isMain: true, cell: (row) => <div class="named"><Link to={`/jobs/${row.jobKey}`}>{row.type || row.kind}</Link><Key value={row.jobKey} /></div> },
          { id: "element", title: t.element, cell: (row) => nameOf(row.elementId) },
          { id: "state", title: t.state, cell: (row) => <State state={row.state} label={states[row.state as keyof typeof states] ?? row.state} /> },
          { id: "attempts", title: t.attempts, align: "right", cell: (row) => row.retries },
          { id: "due", title: t.due, cell: (row) => (row.state === "SCHEDULED" ? <When at={row.runAt} /> : <span class="none">–</span>) },
          { id: "error", title: t.lastError, isWide: true, cell: (row) => (row.errorMessage ? <Scroll as="pre" class="cut" label={t.lastError}>{row.errorMessage}</Scroll> : <span class="none">–</span>) },
          { id: "change", title: "", align: "right", cell: (row) => <Button role="operator" onClick={() => setRetry(retryOf(row, now))}>{row.state === "FAILED" ? t.resolve : t.changeRetries}</Button> },
        ]}
        empty={<Empty title={t.noJobs} icon="jobs">{t.noJobsNext}</Empty>}
      />
      {retry && <RetryDialog retry={retry} onClose={() => setRetry(null)} onDone={onDone} />}
    </>
  );
}

function retryOf(job: Job, now: Now): Retry {
  const incident = now.incidents.find(({ jobKey }) => jobKey === job.jobKey);
  return incident ? { incidentKey: incident.incidentKey, isJob: true } : { jobKey: job.jobKey, isJob: true };
}

interface Wait {
  key: string;
  elementId: string;
  subscription?: Subscription;
  dueDate?: string | null;
}

export function Waits({ now, model, instance, onDone }: ListProps & { instance: Instance }): JSX.Element {
  const t = useWords(words);
  const [publishing, setPublishing] = useState<Subscription | null>(null);
  const rows: Wait[] = [
    ...now.subscriptions.map((each) => ({ key: each.subscriptionKey, elementId: each.elementId, subscription: each })),
    ...now.timers.map((each) => ({ key: each.jobKey, elementId: each.elementId, dueDate: each.dueDate })),
  ];
  const list = useReady(rows);
  return (
    <>
      <DataTable<Wait>
        label={t.waits}
        list={list}
        keyOf={(row) => row.key}
        columns={[
          { id: "element", title: t.element, isMain: true, cell: (row) => model?.elements.get(row.elementId)?.name ?? row.elementId },
          { id: "what", title: t.what, isWide: true, cell: (row) => (row.subscription ? subscribed(row.subscription, t) : t.waitsTimer) },
          { id: "due", title: t.due, cell: (row) => (row.subscription ? <span class="none">–</span> : <><When at={row.dueDate} style="full" /> <span class="soft"><When at={row.dueDate} style="relative" /></span></>) },
          { id: "act", title: "", align: "right", cell: (row) => row.subscription?.trigger === "MESSAGE" && <Button icon="message" role="operator" onClick={() => row.subscription && setPublishing(row.subscription)}>{t.publish}</Button> },
        ]}
        empty={<Empty title={t.noWaits} icon="clock" />}
      />
      {publishing && <PublishDialog subscription={publishing} tenantId={instance.tenantId} onClose={() => setPublishing(null)} onDone={onDone} />}
    </>
  );
}

export function Incidents({ now, model, onDone }: ListProps): JSX.Element {
  const t = useWords(words);
  const [retry, setRetry] = useState<Retry | null>(null);
  const list = useReady(now.incidents);
  return (
    <>
      <DataTable<Incident>
        label={t.incidents}
        list={list}
        keyOf={(row) => row.incidentKey}
        columns={[
          { id: "element", title: t.element, isMain: true, cell: (row) => <div class="named"><span>{model?.elements.get(row.elementId)?.name ?? row.elementId}</span><KindOfIncident kind={row.errorType} /></div> },
          { id: "problem", title: t.problem, isWide: true, cell: (row) => <Scroll as="pre" class="cut" label={t.problem}>{row.errorMessage}</Scroll> },
          { id: "raised", title: t.raised, cell: (row) => <When at={row.creationTime} /> },
          { id: "act", title: "", align: "right", cell: (row) => <Button kind="primary" icon="retry" role="operator" onClick={() => setRetry({ incidentKey: row.incidentKey, isJob: row.jobKey !== null })}>{t.resolve}</Button> },
        ]}
        empty={<Empty title={t.noIncidents} icon="check" />}
      />
      {retry && <RetryDialog retry={retry} onClose={() => setRetry(null)} onDone={onDone} />}
    </>
  );
}

export function Family({ now, model }: { now: Now; model: BpmnModel | undefined }): JSX.Element {
  const t = useWords(words);
  const rows = [...now.callers.map((each) => ({ ...each, isCaller: true })), ...now.called.map((each) => ({ ...each, isCaller: false }))];
  const list = useReady(rows);
  const element = (row: Relative & { isCaller: boolean }): string => {
    const active = row.isCaller ? undefined : now.elements.find((each) => each.elementInstanceKey === row.elementInstanceKey);
    return active ? (model?.elements.get(active.elementId)?.name ?? active.elementId) : "–";
  };
  return (
    <DataTable
      label={t.family}
      list={list}
      keyOf={(row) => row.processInstanceKey}
      columns={[
        { id: "way", title: "", cell: (row) => (row.isCaller ? t.caller : t.called) },
        { id: "process", title: t.process, isMain: true, isWide: true, cell: (row) => <Link to={`/instances/${row.processInstanceKey}`}>{row.processDefinitionId} · {row.processInstanceKey}</Link> },
        { id: "element", title: t.element, cell: element },
        { id: "state", title: t.state, cell: (row) => <StateOfInstance state={row.state as InstanceState} hasIncident={false} /> },
      ]}
      empty={<Empty title={t.noFamily} icon="processes" />}
    />
  );
}
