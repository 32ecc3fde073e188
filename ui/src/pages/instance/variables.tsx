// The variables of an instance by their scope, to read and to change.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct, useList } from "@/base/ask";
import type { BpmnModel } from "@/base/bpmn";
import type { Instance } from "@/base/camunda";
import { readJson } from "@/base/json";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { JsonEditor, JsonView } from "@/parts/data";
import { Dialog, Field } from "@/parts/dialog";
import { Empty, toast } from "@/parts/feedback";
import { DataTable } from "@/parts/table";
import { words as partWords } from "@/parts/words";
import { variablesOf, type Now, type Variable } from "@/pages/instance/data";
import { words } from "@/pages/instance/words";

interface VariablesProps {
  instance: Instance;
  now: Now | undefined;
  model: BpmnModel | undefined;
}

export function Variables({ instance, now, model }: VariablesProps): JSX.Element {
  const t = useWords(words);
  const [text, setText] = useState("");
  const [editing, setEditing] = useState<Partial<Variable> | null>(null);
  const key = instance.processInstanceKey;
  const list = useList<Variable>(`variables ${key} ${text}`, (after, signal) => variablesOf(key, text.trim(), after, signal), [`instance:${key}`]);
  const canEdit = instance.state === "ACTIVE" || instance.state === "SUSPENDED";
  const scopeName = (scope: string): string => {
    const element = now?.elements.find((each) => each.elementInstanceKey === scope);
    return scope === key || !element ? t.whole : (model?.elements.get(element.elementId)?.name ?? element.elementId);
  };
  return (
    <>
      <div class="panel-body row">
        <input type="search" class="find" aria-label={t.findVariable} placeholder={t.findVariable} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        {canEdit && <Button icon="plus" role="operator" onClick={() => setEditing({ scopeKey: key })}>{t.addVariable}</Button>}
      </div>
      <DataTable
        label={t.variables}
        list={list}
        keyOf={(row) => row.variableKey}
        columns={[
          { id: "name", title: t.name, isMain: true, cell: (row) => <code>{row.name}</code> },
          { id: "value", title: t.value, isWide: true, cell: (row) => <JsonView value={parsed(row)} depth={1} /> },
          { id: "scope", title: t.scope, cell: (row) => scopeName(row.scopeKey) },
          ...(canEdit ? [{ id: "edit", title: "", align: "right" as const, cell: (row: Variable) => <Button role="operator" disabled={row.isTruncated} onClick={() => setEditing(row)}>{t.edit}</Button> }] : []),
        ]}
        empty={text ? <Empty title={t.noSuchVariable} icon="search" /> : <Empty title={t.noVariablesYet} icon="info">{t.noVariablesNext}</Empty>}
      />
      {editing && (
        <EditDialog
          variable={editing}
          scopes={[[key, t.whole], ...(now?.elements ?? []).map((each): [string, string] => [each.elementInstanceKey, each.elementName || each.elementId])]}
          onClose={() => setEditing(null)}
          onDone={list.reload}
        />
      )}
    </>
  );
}

function parsed(variable: Variable): unknown {
  try {
    return readJson(variable.value);
  } catch {
    return variable.value; // it was cut
  }
}

function EditDialog(props: { variable: Partial<Variable>; scopes: [string, string][]; onClose: () => void; onDone: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const isNew = props.variable.name === undefined;
  const initial: unknown = props.variable.value === undefined ? "" : parsed(props.variable as Variable);
  const [name, setName] = useState(props.variable.name ?? "");
  const [value, setValue] = useState<unknown>(initial);
  const [scope, setScope] = useState(props.variable.scopeKey ?? "");
  const save = async (): Promise<void> => {
    if (!(await act(() => api.put(`/v2/element-instances/${scope}/variables`, { variables: { [name]: value }, local: true })))) return;
    toast(t.saved, name);
    props.onClose();
    props.onDone();
  };
  return (
    <Dialog
      title={isNew ? t.addVariable : name}
      onClose={props.onClose}
      problem={problem}
      onSubmit={() => void save()}
      buttons={
        <>
          <Button onClick={props.onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!name || value === undefined}>{t.saveVariable}</Button>
        </>
      }
    >
      {isNew && <Field label={t.name}>{(id) => <input id={id} value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value.trim())} />}</Field>}
      {isNew && (
        <Field label={t.scope}>
          {(id) => (
            <select id={id} value={scope} onChange={(event) => setScope(event.currentTarget.value)}>
              {props.scopes.map(([key, title]) => <option key={key} value={key}>{title}</option>)}
            </select>
          )}
        </Field>
      )}
      <Field label={`${t.value} (JSON)`}>{(id) => <JsonEditor id={id} initial={initial} onChange={setValue} />}</Field>
    </Dialog>
  );
}
