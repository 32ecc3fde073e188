// Small questions before something is done: a message to publish, attempts to give.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct } from "@/base/ask";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { JsonEditor } from "@/parts/data";
import { Dialog, Field } from "@/parts/dialog";
import { toast } from "@/parts/feedback";
import { words as partWords } from "@/parts/words";
import type { Subscription } from "@/pages/instance/data";
import { words } from "@/pages/instance/words";

export function PublishDialog(props: { subscription: Subscription; tenantId: string; onClose: () => void; onDone: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const { name, correlationKey } = props.subscription;
  const [variables, setVariables] = useState<unknown>({});
  const publish = async (): Promise<void> => {
    const isDone = await act(() => api.post("/v2/messages/publication", { name, correlationKey, variables, timeToLive: 0, tenantId: props.tenantId }));
    if (!isDone) return;
    toast(t.published, name);
    props.onClose();
    props.onDone();
  };
  return (
    <Dialog
      title={t.publish}
      onClose={props.onClose}
      problem={problem}
      onSubmit={() => void publish()}
      buttons={
        <>
          <Button onClick={props.onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={variables === undefined}>{t.publish}</Button>
        </>
      }
    >
      <p><code>{name}</code>{correlationKey && <> · <code>{correlationKey}</code></>}</p>
      <p class="soft">{t.publishHint}</p>
      <Field label={t.variables}>{(id) => <JsonEditor id={id} initial={{}} rows={6} isObject onChange={setVariables} />}</Field>
    </Dialog>
  );
}

/** What is tried again: an incident, or all of an instance; or a job whose attempts change. */
export interface Retry {
  incidentKey?: string;
  instanceKey?: string;
  jobKey?: string;
  isJob: boolean; // attempts can be given
}

export function RetryDialog({ retry, onClose, onDone }: { retry: Retry; onClose: () => void; onDone: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const [retries, setRetries] = useState("1");
  const count = Number(retries);
  const path = retry.jobKey
    ? `/api/jobs/${retry.jobKey}/retries`
    : retry.incidentKey
      ? `/api/incidents/${retry.incidentKey}/resolution`
      : `/api/process-instances/${retry.instanceKey}/incident-resolution`;
  const title = retry.jobKey ? t.changeRetries : retry.incidentKey ? t.resolve : t.resolveAll;
  const go = async (): Promise<void> => {
    if (!(await act(() => api.post(path, { retries: count })))) return;
    toast(retry.jobKey ? t.retriesChanged : t.resolved);
    onClose();
    onDone();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      problem={problem}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!Number.isInteger(count) || count < 1}>{title}</Button>
        </>
      }
    >
      {retry.isJob && (
        <Field label={t.retries} hint={t.retriesHint}>
          {(id) => <input id={id} type="number" min={1} max={1000} value={retries} aria-describedby={`${id}-hint`} onInput={(event) => setRetries(event.currentTarget.value)} />}
        </Field>
      )}
    </Dialog>
  );
}
