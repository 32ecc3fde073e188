// Starts an instance with variables and a business id, and goes to it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct } from "@/base/ask";
import { navigate } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { JsonEditor } from "@/parts/data";
import { Dialog, Field } from "@/parts/dialog";
import { toast } from "@/parts/feedback";
import type { Version } from "@/pages/processes/data";
import { words } from "@/pages/processes/words";
import { words as partWords } from "@/parts/words";

export function StartDialog({ version, onClose }: { version: Version; onClose: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const [businessId, setBusinessId] = useState("");
  const [variables, setVariables] = useState<unknown>({});
  const start = async (): Promise<void> => {
    await act(async () => {
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
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={variables === undefined}>{t.startVerb}</Button>
        </>
      }
    >
      <Field label={t.businessId} hint={t.businessIdHint}>
        {(id) => <input id={id} value={businessId} maxLength={256} onInput={(event) => setBusinessId(event.currentTarget.value)} />}
      </Field>
      <Field label={t.variables}>{(id) => <JsonEditor id={id} initial={{}} rows={8} isObject onChange={setVariables} />}</Field>
    </Dialog>
  );
}
