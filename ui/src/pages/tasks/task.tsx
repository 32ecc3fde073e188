// One task: what it is about, whose it is, its form, and what can be done with it.

import type { JSX } from "preact";
import { useCallback, useRef } from "preact/hooks";
import { Problem } from "@/base/api";
import { useAct, useAsk } from "@/base/ask";
import { may } from "@/base/me";
import { Link, setQuery } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { JsonView, Pairs, When } from "@/parts/data";
import { useOpen } from "@/parts/dialog";
import { ProblemBox, Shown, toast, toastProblem } from "@/parts/feedback";
import { FormView, JsonResult, type Filled } from "@/parts/form";
import { AssignDialog, ChangeDialog } from "@/pages/tasks/change";
import { tasks, type Task, type TaskForm } from "@/pages/tasks/data";
import { useWishes } from "@/pages/tasks/keys";
import { Hurry } from "@/pages/tasks/row";
import { words } from "@/pages/tasks/words";

interface PaneProps {
  task: Task;
  who: string;
  onChange: () => void;
  onLeave: () => void;
}

export function TaskPane({ task, who, onChange, onLeave }: PaneProps): JSX.Element {
  const t = useWords(words);
  const key = task.userTaskKey;
  const { isBusy, problem, act } = useAct();
  const assigning = useOpen();
  const changing = useOpen();
  const filled = useRef<Filled | null>(null);
  const isMine = who !== "" && task.assignee === who;
  const asked = useAsk(`task ${key} content`, async (signal) => {
    const [form, variables] = await Promise.all([tasks.form(key, signal), tasks.variables(key, signal)]);
    return { form, variables };
  });
  const ready = useCallback((next: Filled | null) => {
    filled.current = next;
  }, []);

  const take = async (): Promise<void> => {
    let isLost = false; // somebody was first: who that was is shown with the task
    const claim = (): Promise<unknown> =>
      tasks.claim(key, who).catch((error: unknown) => {
        if (!(error instanceof Problem) || error.status !== 409) throw error;
        isLost = true;
      });
    if ((await act(claim)) && !isLost) {
      toast(t.taken, task.name);
      setQuery({ whose: "" }); // where it is found from now on
    }
    onChange();
  };
  const giveBack = async (): Promise<void> => {
    if (await act(() => tasks.release(key))) toast(t.givenBack, task.name);
    onChange();
  };
  const complete = async (): Promise<void> => {
    const variables = filled.current?.();
    if (variables === null || variables === undefined) {
      toastProblem(new Problem(0, t.complete, t.invalid));
      return;
    }
    if (!(await act(() => tasks.complete(key, variables)))) return onChange();
    toast(t.completed, task.name);
    onLeave();
  };
  useWishes((what) => {
    if (isBusy || !may("operator")) return;
    if (what === "take" && who) void (isMine ? giveBack() : task.assignee ? undefined : take());
    if (what === "complete" && isMine) void complete();
  });

  return (
    <article class="task" aria-label={task.name}>
      <header class="task-head">
        <Button kind="ghost" class="task-back" icon="undo" onClick={onLeave}>{t.back}</Button>
        <div class="grow">
          <h2>{task.name}</h2>
          <p class="soft">
            <Link to={`/instances/${task.processInstanceKey}`}>{[task.businessId, task.processName ?? task.processDefinitionId].filter(Boolean).join(" · ")}</Link>{" "}
            <Hurry task={task} />
          </p>
        </div>
        <div class="actions">
          {isMine && <Button role="operator" onClick={() => void giveBack()} isBusy={isBusy}>{t.giveBack}</Button>}
          <Button role="operator" onClick={() => assigning.open(true)}>{t.assignTo}</Button>
          <Button role="operator" onClick={() => changing.open(true)}>{t.change}</Button>
        </div>
      </header>
      <div class="task-body stack">
        <Facts task={task} />
        {!isMine && (
          <div class="task-notice" role="status">
            <span>{task.assignee ? t.belongsTo(task.assignee) : t.takeFirst}</span>
            {!task.assignee && <Button kind="primary" role="operator" disabled={!who} onClick={() => void take()} isBusy={isBusy}>{t.take}</Button>}
          </div>
        )}
        <Shown asked={asked}>
          {({ form, variables }) => (
            <>
              <Content task={task} form={form} variables={variables} isReadOnly={!isMine} onReady={ready} />
              {problem && <ProblemBox problem={problem} />}
              {isMine && <div class="row"><Button kind="primary" icon="check" role="operator" isBusy={isBusy} onClick={() => void complete()}>{t.complete}</Button></div>}
              <details class="task-knows">
                <summary>{t.knows}</summary>
                <JsonView value={variables} />
              </details>
            </>
          )}
        </Shown>
      </div>
      {assigning.value && <AssignDialog task={task} onClose={assigning.close} onDone={onChange} />}
      {changing.value && <ChangeDialog task={task} onClose={changing.close} onDone={onChange} />}
    </article>
  );
}

function Facts({ task }: { task: Task }): JSX.Element {
  const t = useWords(words);
  const candidates = [...task.candidateUsers, ...task.candidateGroups].join(", ");
  return (
    <Pairs
      rows={[
        [t.assignee, task.assignee ?? <span class="none">{t.nobody}</span>],
        ...(candidates ? [[t.candidates, candidates] as [string, string]] : []),
        [t.created, <When key="created" at={task.creationDate} />],
        ...(task.followUpDate ? [[t.followUp, <When key="follow" at={task.followUpDate} />] as [string, JSX.Element]] : []),
        [t.priorityLabel, String(task.priority)],
      ]}
    />
  );
}

function Content(props: { task: Task; form: TaskForm | null; variables: Record<string, unknown>; isReadOnly: boolean; onReady: (filled: Filled | null) => void }): JSX.Element | null {
  const t = useWords(words);
  const { task, form } = props;
  if (form) return <FormView schema={form.schema} data={props.variables} isReadOnly={props.isReadOnly} onReady={props.onReady} />;
  if (props.isReadOnly) return null;
  return (
    <>
      <p class="soft">{task.externalFormReference ? t.foreignForm(task.externalFormReference) : t.noForm}</p>
      <JsonResult label={t.result} onReady={props.onReady} />
    </>
  );
}
