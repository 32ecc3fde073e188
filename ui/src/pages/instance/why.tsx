// Why an instance waits: a sentence for each active element, with what can be done about it beside it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { BpmnModel } from "@/base/bpmn";
import type { Instance } from "@/base/camunda";
import { Link } from "@/base/route";
import { number, useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, When } from "@/parts/data";
import { Scroll } from "@/parts/scroll";
import { PublishDialog, RetryDialog, type Retry } from "@/pages/instance/dialogs";
import type { ActiveElement, Now, Subscription } from "@/pages/instance/data";
import { words, type Words } from "@/pages/instance/words";

interface WhyProps {
  instance: Instance;
  now: Now;
  model: BpmnModel | undefined;
  onDone: () => void;
  onMove: (from: string) => void;
}

const SHOWN_MAX = 30;

export function Why({ instance, now, model, onDone, onMove }: WhyProps): JSX.Element {
  const t = useWords(words);
  const [publishing, setPublishing] = useState<Subscription | null>(null);
  const [retrying, setRetrying] = useState<Retry | null>(null);
  const scopes = new Set(now.elements.map((each) => model?.elements.get(each.elementId)?.parent));
  const leaves = alike(now.elements.filter((each) => !scopes.has(each.elementId)));
  if (instance.state === "SUSPENDED") return <p class="why-plain">{t.suspended}</p>;
  if (leaves.length === 0) return <p class="why-plain">{t.goesOn}</p>;
  return (
    <ul class="why">
      {leaves.slice(0, SHOWN_MAX).map(({ element, count }) => {
        const message = now.subscriptions.find((each) => each.trigger === "MESSAGE" && belongs(each.elementId, element, model));
        const task = now.userTasks.find((each) => each.elementId === element.elementId);
        const incident = now.incidents.find((each) => each.elementInstanceKey === element.elementInstanceKey);
        return (
          <li key={element.elementInstanceKey} class={incident ? "failing" : ""}>
            <p>
              <strong>{t.waitsAt(element.elementName || element.elementId)}</strong> {count > 1 && <Badge tone="active">× {number(count)}</Badge>} <Sentence element={element} now={now} model={model} />
            </p>
            {incident && <Scroll as="pre" class="why-problem" label={t.problem}>{incident.errorMessage}</Scroll>}
            <div class="row">
              {incident && <Button kind="primary" icon="retry" role="operator" onClick={() => setRetrying({ incidentKey: incident.incidentKey, isJob: incident.jobKey !== null })}>{t.resolve}</Button>}
              {message && <Button icon="message" role="operator" onClick={() => setPublishing(message)}>{t.publish}</Button>}
              {task && <Link class="button" to={`/tasks?whose=all&task=${task.userTaskKey}`}>{t.openTask}</Link>}
              <Button kind="ghost" icon="move" role="operator" onClick={() => onMove(element.elementId)}>{t.move}</Button>
            </div>
          </li>
        );
      })}
      {leaves.length > SHOWN_MAX && <li class="soft">{t.andMore(leaves.length - SHOWN_MAX)}</li>}
      {publishing && <PublishDialog subscription={publishing} tenantId={instance.tenantId} onClose={() => setPublishing(null)} onDone={onDone} />}
      {retrying && <RetryDialog retry={retrying} onClose={() => setRetrying(null)} onDone={onDone} />}
    </ul>
  );
}

/** Instances of one element that wait alike are one line; the body around them waits for them, which says nothing new. */
export function alike(elements: ActiveElement[]): { element: ActiveElement; count: number }[] {
  const groups = new Map<string, { element: ActiveElement; count: number }>();
  const many = new Set(elements.filter(({ elementId }, index) => elements.findIndex((each) => each.elementId === elementId) !== index).map(({ elementId }) => elementId));
  for (const element of elements) {
    if (many.has(element.elementId) && element.waitsFor.endsWith("within it")) continue;
    const key = element.incidentKey ?? element.elementId;
    const found = groups.get(key);
    if (found) found.count += 1;
    else groups.set(key, { element, count: 1 });
  }
  return [...groups.values()];
}

/** Whether what waits at `id` belongs to an active element: itself, or an event at its border. */
function belongs(id: string, element: ActiveElement, model: BpmnModel | undefined): boolean {
  return id === element.elementId || model?.elements.get(id)?.attachedTo === element.elementId;
}

/** What has to happen for an active element to go on, in one sentence. */
export function Sentence({ element, now, model }: { element: ActiveElement; now: Now; model: BpmnModel | undefined }): JSX.Element {
  const t = useWords(words);
  const late = now.timers.find((timer) => model?.elements.get(timer.elementId)?.attachedTo === element.elementId);
  return (
    <>
      <Main element={element} now={now} t={t} />
      {late && <>{t.unless(model?.elements.get(late.elementId)?.name ?? late.elementId)} <When at={late.dueDate} /></>}.
    </>
  );
}

function Main({ element, now, t }: { element: ActiveElement; now: Now; t: Words }): JSX.Element {
  const own = element.elementInstanceKey;
  if (element.incidentKey) return <>{t.waitsIncident}</>;
  const task = now.userTasks.find((each) => each.elementId === element.elementId);
  if (task) return <>{whom(task) ? t.waitsTaskOf(task.assignee || t.group(task.candidateGroups.join(", "))) : t.waitsTask}</>;
  const job = now.jobs.find((each) => each.elementInstanceKey === own);
  if (job) {
    if (job.kind === "METHOD") return <>{t.waitsMethod(job.type)}</>;
    if (job.state === "RUNNING") return <>{t.runsJob(job.type)}</>;
    if (job.state === "SCHEDULED" && job.errorMessage) return <>{t.retriesJob(job.type)} <When at={job.runAt} style="relative" /></>;
    return <>{t.waitsJob(job.type)}</>;
  }
  const waits = [
    ...now.subscriptions.filter((each) => each.elementId === element.elementId).map((each) => <>{subscribed(each, t)}</>),
    ...now.timers.filter((each) => each.elementId === element.elementId).map((each) => <>{t.waitsTimer} <When at={each.dueDate} /></>),
  ];
  if (waits.length > 0) return <>{waits.flatMap((each, index) => (index ? [` ${t.or} `, each] : [each]))}</>;
  const called = now.called.find((each) => each.elementInstanceKey === own);
  if (called) return <>{t.waitsCalled}: <Link to={`/instances/${called.processInstanceKey}`}>{called.processDefinitionId}</Link></>;
  return <>{element.waitsFor}</>;
}

function whom(task: Now["userTasks"][number]): boolean {
  return Boolean(task.assignee || task.candidateGroups.length);
}

export function subscribed(each: Subscription, t: Words): string {
  if (each.trigger === "SIGNAL") return t.waitsSignal(each.name);
  if (each.trigger === "CONDITIONAL") return t.waitsCondition(each.name);
  return t.waitsMessage(each.name, each.correlationKey);
}
