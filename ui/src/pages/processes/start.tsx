// Starts an instance with variables and a business id, and goes to it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, Problem } from "@/base/api";
import { useAct, useAsk } from "@/base/ask";
import { navigate } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import { ProblemBox, toast } from "@/parts/feedback";
import { StartVariables, type Filled } from "@/parts/form";
import { startForm, type Version } from "@/pages/processes/data";
import { words } from "@/pages/processes/words";
import { words as partWords } from "@/parts/words";

export function StartDialog({ version, onClose }: { version: Version; onClose: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const [businessId, setBusinessId] = useState("");
  const [filled, setFilled] = useState<Filled | null>(null);
  const form = useAsk(`start form ${version.processDefinitionKey}`, (signal) => startForm(version.processDefinitionKey, signal));
  const start = async (): Promise<void> => {
    await act(async () => {
      const variables = filled?.();
      if (!variables) throw new Problem(0, parts.fillIn, "");
      const created = await api.post<{ processInstanceKey: string }>("/v2/process-instances", {
        processDefinitionKey: version.processDefinitionKey,
        tenantId: version.tenantId,
        variables,
        ...(businessId && { businessId }),
      });
      toast(t.started, created.processInstanceKey);
      onClose();
      navigate(`/instances/${created.processInstanceKey}`);
    });
  };
  return (
    <Dialog
      title={`${t.start}: ${version.name || version.processDefinitionId}`}
      onClose={onClose}
      problem={problem}
      onSubmit={() => void start()}
      buttons={
        <>
          <Button onClick={onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!filled}>{t.startVerb}</Button>
        </>
      }
    >
      <Field label={t.businessId} hint={t.businessIdHint}>
        {(id) => <input id={id} value={businessId} maxLength={256} onInput={(event) => setBusinessId(event.currentTarget.value)} />}
      </Field>
      {form.problem && <ProblemBox problem={form.problem} onRetry={form.reload} />}
      <StartVariables schema={form.problem ? null : form.data} onReady={(next) => setFilled(() => next)} />
    </Dialog>
  );
}
