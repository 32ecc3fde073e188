// Moves tokens: dropped on the diagram, or chosen from two lists. Both end in the same question.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct } from "@/base/ask";
import type { BpmnModel } from "@/base/bpmn";
import type { Instance } from "@/base/camunda";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import { toast } from "@/parts/feedback";
import { words as partWords } from "@/parts/words";
import type { Now } from "@/pages/instance/data";
import { words } from "@/pages/instance/words";

/** From where to where; empty texts are still to be chosen. */
export interface Wish {
  from: string;
  to: string;
}

interface MoveProps {
  instance: Instance;
  wish: Wish;
  now: Now | undefined;
  model: BpmnModel;
  onClose: () => void;
  onDone: () => void;
}

export function MoveDialog({ instance, wish, now, model, onClose, onDone }: MoveProps): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const active = [...new Set((now?.elements ?? []).map((each) => each.elementId))];
  const [from, setFrom] = useState(wish.from || active[0] || "");
  const [to, setTo] = useState(wish.to);
  const nameOf = (id: string): string => model.elements.get(id)?.name ?? id;
  const targets = [...model.elements.values()].filter((each) => !each.isFlow && each.type !== "boundaryEvent" && each.id !== from);
  const go = async (): Promise<void> => {
    const body = { moveInstructions: [{ sourceElementInstruction: { sourceType: "byId", sourceElementId: from }, targetElementId: to }] };
    if (!(await act(() => api.post(`/v2/process-instances/${instance.processInstanceKey}/modification`, body)))) return;
    toast(t.moved, `${nameOf(from)} → ${nameOf(to)}`);
    onClose();
    onDone();
  };
  return (
    <Dialog
      title={t.moveTitle}
      onClose={onClose}
      problem={problem}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!from || !to}>{t.move}</Button>
        </>
      }
    >
      <Field label={t.moveFrom}>
        {(id) => (
          <select id={id} value={from} onChange={(event) => setFrom(event.currentTarget.value)}>
            {active.map((each) => <option key={each} value={each}>{nameOf(each)}</option>)}
          </select>
        )}
      </Field>
      <Field label={t.moveTo} hint={t.moveHint}>
        {(id) => (
          <select id={id} value={to} onChange={(event) => setTo(event.currentTarget.value)}>
            <option value="">–</option>
            {targets.map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
          </select>
        )}
      </Field>
      {from && to && <p>{t.moveText(nameOf(from), nameOf(to))}</p>}
    </Dialog>
  );
}
