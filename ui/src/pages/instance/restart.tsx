// Starts a new instance from what an ended one left.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct, useAsk } from "@/base/ask";
import type { BpmnModel } from "@/base/bpmn";
import type { Instance } from "@/base/camunda";
import { navigate } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import { toast } from "@/parts/feedback";
import { words as partWords } from "@/parts/words";
import { words } from "@/pages/instance/words";

export function RestartDialog({ instance, model, onClose }: { instance: Instance; model: BpmnModel; onClose: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const places = [...model.elements.values()].filter((each) => !each.isFlow && each.type !== "boundaryEvent");
  const first = places.find((each) => each.type === "startEvent" && each.parent === model.processId) ?? places[0];
  const [before, setBefore] = useState(first?.id ?? "");
  const [chosen, choose] = useState("");
  const told = useAsk(`level ${instance.processInstanceKey}`, (signal) => api.get<{ historyLevel: string }>(`/api/process-instances/${instance.processInstanceKey}/timeline`, { limit: 1 }, signal));
  const isKept = told.data?.historyLevel === "FULL";
  const variables = chosen || (isKept ? "initial" : "last");
  const go = async (): Promise<void> => {
    await act(async () => {
      const begun = await api.post<{ processInstanceKey: string }>(`/api/process-instances/${instance.processInstanceKey}/restart`, { before: [before], variables });
      toast(t.restarted, begun.processInstanceKey);
      onClose();
      navigate(`/instances/${begun.processInstanceKey}`);
    });
  };
  return (
    <Dialog
      title={t.restartTitle}
      onClose={onClose}
      problem={problem}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!before || told.isLoading}>{t.restart}</Button>
        </>
      }
    >
      <Field label={t.restartBefore}>
        {(id) => (
          <select id={id} value={before} onChange={(event) => setBefore(event.currentTarget.value)}>
            {places.map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
          </select>
        )}
      </Field>
      <Field label={t.withVariables}>
        {(id) => (
          <select id={id} value={variables} onChange={(event) => choose(event.currentTarget.value)}>
            <option value="initial" disabled={!isKept}>{t.initialVariables}{told.data && !isKept && ` (${t.levelFull})`}</option>
            <option value="last">{t.lastVariables}</option>
            <option value="none">{t.noVariables}</option>
          </select>
        )}
      </Field>
    </Dialog>
  );
}
