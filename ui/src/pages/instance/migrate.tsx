// Lets an instance go on under another version. It is tried out first; what would prevent it is listed, and can be mapped.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct, useAsk } from "@/base/ask";
import { readBpmn, type BpmnModel } from "@/base/bpmn";
import type { Definition, Instance } from "@/base/camunda";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import { Empty, Shown, toast } from "@/parts/feedback";
import { words as partWords } from "@/parts/words";
import { xmlOf, type Now } from "@/pages/instance/data";
import { words } from "@/pages/instance/words";

interface Finding {
  severity: "error" | "info";
  elementId: string;
  message: string;
}

interface MigrateProps {
  instance: Instance;
  model: BpmnModel;
  now: Now | undefined;
  onClose: () => void;
  onDone: () => void;
}

export function MigrateDialog(props: MigrateProps): JSX.Element {
  const t = useWords(words);
  const { instance } = props;
  const asked = useAsk(`versions ${instance.processDefinitionId}`, async (signal) => {
    const body = { filter: { processDefinitionId: instance.processDefinitionId }, page: { limit: 100 } };
    const { items } = await api.search<Definition>("/v2/process-definitions/search", body, signal);
    return items.filter((each) => each.processDefinitionKey !== instance.processDefinitionKey && each.tenantId === instance.tenantId).sort((one, other) => other.version - one.version);
  });
  return (
    <Shown asked={asked}>
      {(versions) =>
        versions.length === 0 ? (
          <Dialog title={t.migrateTitle} onClose={props.onClose}><Empty title={t.noOther} icon="info" /></Dialog>
        ) : (
          <Plan {...props} versions={versions} />
        )
      }
    </Shown>
  );
}

function Plan({ instance, model, now, versions, onClose, onDone }: MigrateProps & { versions: Definition[] }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const [target, setTarget] = useState(versions[0]?.processDefinitionKey ?? "");
  const [mapping, setMapping] = useState<Record<string, string>>({});
  const [findings, setFindings] = useState<Finding[] | null>(null);
  const there = useAsk(`xml ${target}`, (signal) => xmlOf(target, signal));
  const others = there.data === undefined ? [] : [...readBpmn(there.data).elements.values()].filter((each) => !each.isFlow);
  const missing = [...new Set((now?.elements ?? []).map((each) => each.elementId))].filter((id) => there.data !== undefined && !others.some((each) => each.id === id));
  const isFine = findings !== null && findings.every(({ severity }) => severity !== "error");
  const given = Object.fromEntries(Object.entries(mapping).filter(([, to]) => to));
  const post = (dryRun: boolean): Promise<{ items: Finding[] }> =>
    api.post(`/api/process-instances/${instance.processInstanceKey}/migration`, { targetProcessDefinitionKey: target, mapping: given, dryRun });
  const go = async (): Promise<void> => {
    if (!isFine) {
      await act(async () => setFindings((await post(true)).items));
      return;
    }
    if (!(await act(() => post(false)))) return;
    toast(t.migrated);
    onClose();
    onDone();
  };
  return (
    <Dialog
      title={t.migrateTitle}
      onClose={onClose}
      problem={problem}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={onClose}>{parts.cancel}</Button>
          <Button kind={isFine ? "primary" : "plain"} type="submit" isBusy={isBusy}>{isFine ? t.migrate : t.tryOut}</Button>
        </>
      }
    >
      <Field label={t.target}>
        {(id) => (
          <select id={id} value={target} onChange={(event) => { setTarget(event.currentTarget.value); setFindings(null); }}>
            {versions.map((each) => <option key={each.processDefinitionKey} value={each.processDefinitionKey}>{t.version(each.version)}</option>)}
          </select>
        )}
      </Field>
      {missing.map((element) => (
        <Field key={element} label={t.mapTo(model.elements.get(element)?.name ?? element)}>
          {(id) => (
            <select id={id} value={mapping[element] ?? ""} onChange={(event) => { setMapping({ ...mapping, [element]: event.currentTarget.value }); setFindings(null); }}>
              <option value="">–</option>
              {others.map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
            </select>
          )}
        </Field>
      ))}
      {findings && (
        <div role="status">
          <p>{isFine ? t.dryRunFine : t.dryRunPrevents}</p>
          <ul class="findings">
            {findings.map((finding) => (
              <li key={finding.elementId + finding.message} class={finding.severity}>{finding.message}</li>
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  );
}
