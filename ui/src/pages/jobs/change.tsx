// What can be changed of a job that waits: its priority, its attempts, when it is due.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct } from "@/base/ask";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog } from "@/parts/dialog";
import { toast } from "@/parts/feedback";
import { words as partWords } from "@/parts/words";
import type { Job } from "@/pages/jobs/data";
import { NumberField } from "@/pages/jobs/frame";
import { words } from "@/pages/jobs/words";

/** As typed; an empty text leaves it as it is. */
export interface Changes {
  priority: string;
  retries: string;
  delay: string;
}

export function changesOf(typed: Changes): Record<string, number> {
  const changes: Record<string, number> = {};
  if (typed.priority !== "") changes.priority = Number(typed.priority);
  if (typed.retries !== "") changes.retries = Number(typed.retries);
  if (typed.delay !== "") changes.delay = Math.round(Number(typed.delay) * 1_000);
  return changes;
}

export function useChanges(initial: Partial<Changes> = {}): { changes: Changes; fields: JSX.Element } {
  const t = useWords(words);
  const [changes, set] = useState<Changes>({ priority: "", retries: "", delay: "", ...initial });
  const fields = (
    <div class="job-fields">
      <NumberField label={t.priority} value={changes.priority} onChange={(priority) => set({ ...changes, priority })} />
      <NumberField label={t.retries} least={1} value={changes.retries} onChange={(retries) => set({ ...changes, retries })} />
      <NumberField label={t.delay} hint={t.delayHint} least={0} value={changes.delay} onChange={(delay) => set({ ...changes, delay })} />
    </div>
  );
  return { changes, fields };
}

export function ChangeDialog({ job, onClose }: { job: Job; onClose: (isDone: boolean) => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const before = { priority: String(job.priority), retries: job.retries > 0 ? String(job.retries) : "" };
  const { changes, fields } = useChanges(before);
  const { isBusy, problem, act } = useAct();
  const go = async (): Promise<void> => {
    const asked = changesOf({
      priority: changes.priority === before.priority ? "" : changes.priority,
      retries: changes.retries === before.retries ? "" : changes.retries,
      delay: changes.delay,
    });
    if (!(await act(() => (Object.keys(asked).length > 0 ? api.patch(`/api/jobs/${job.jobKey}`, asked) : Promise.resolve())))) return;
    toast(t.changed);
    onClose(true);
  };
  return (
    <Dialog
      title={t.changeTitle}
      problem={problem}
      onClose={() => onClose(false)}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={() => onClose(false)}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>{t.change}</Button>
        </>
      }
    >
      {fields}
    </Dialog>
  );
}
