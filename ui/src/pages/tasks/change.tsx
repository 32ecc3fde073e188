// Dialogs of a task: to whom it is assigned, its dates, its priority, its candidates.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAct } from "@/base/ask";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import { toast } from "@/parts/feedback";
import { words as partWords } from "@/parts/words";
import { tasks, type Task } from "@/pages/tasks/data";
import { words } from "@/pages/tasks/words";

/** What stands between commas. */
export function listOf(text: string): string[] {
  return [...new Set(text.split(",").map((each) => each.trim()).filter(Boolean))];
}

export function AssignDialog({ task, onClose, onDone }: { task: Task; onClose: () => void; onDone: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const [to, setTo] = useState("");
  const go = async (): Promise<void> => {
    if (!(await act(() => tasks.assign(task.userTaskKey, to.trim())))) return;
    toast(t.assigned, to.trim());
    onClose();
    onDone();
  };
  return (
    <Dialog
      title={t.assignTitle}
      onClose={onClose}
      problem={problem}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!to.trim()}>{t.assignTo.replace("…", "")}</Button>
        </>
      }
    >
      <Field label={t.to}>
        {(id) => (
          <>
            <input id={id} value={to} list={`${id}-candidates`} onInput={(event) => setTo(event.currentTarget.value)} />
            <datalist id={`${id}-candidates`}>{task.candidateUsers.map((each) => <option key={each} value={each} />)}</datalist>
          </>
        )}
      </Field>
    </Dialog>
  );
}

export function ChangeDialog({ task, onClose, onDone }: { task: Task; onClose: () => void; onDone: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const [due, setDue] = useState(local(task.dueDate));
  const [followUp, setFollowUp] = useState(local(task.followUpDate));
  const [priority, setPriority] = useState(String(task.priority));
  const [candidateGroups, setGroups] = useState(task.candidateGroups.join(", "));
  const [users, setUsers] = useState(task.candidateUsers.join(", "));
  const save = async (): Promise<void> => {
    const changeset = {
      dueDate: due ? new Date(due).toISOString() : "",
      followUpDate: followUp ? new Date(followUp).toISOString() : "",
      priority: Number(priority),
      candidateGroups: listOf(candidateGroups),
      candidateUsers: listOf(users),
    };
    if (!(await act(() => tasks.change(task.userTaskKey, changeset)))) return;
    toast(t.changed, task.name);
    onClose();
    onDone();
  };
  const dated = (label: string, value: string, set: (next: string) => void): JSX.Element => (
    <Field label={label}>{(id) => <input id={id} type="datetime-local" value={value} onInput={(event) => set(event.currentTarget.value)} />}</Field>
  );
  const listed = (label: string, value: string, set: (next: string) => void): JSX.Element => (
    <Field label={label} hint={t.commas}>{(id) => <input id={id} value={value} onInput={(event) => set(event.currentTarget.value)} />}</Field>
  );
  return (
    <Dialog
      title={t.editTitle}
      onClose={onClose}
      problem={problem}
      onSubmit={() => void save()}
      buttons={
        <>
          <Button onClick={onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>{t.save}</Button>
        </>
      }
    >
      {dated(t.dueDate, due, setDue)}
      {dated(t.followUpDate, followUp, setFollowUp)}
      <Field label={t.priorityLabel}>{(id) => <input id={id} type="number" min={0} max={100} required value={priority} onInput={(event) => setPriority(event.currentTarget.value)} />}</Field>
      {listed(t.candidateGroups, candidateGroups, setGroups)}
      {listed(t.candidateUsers, users, setUsers)}
    </Dialog>
  );
}

/** An instant as the browser's field for dates takes it: in the reader's zone, to the minute. */
function local(text: string | null): string {
  if (!text) return "";
  const date = new Date(text);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
