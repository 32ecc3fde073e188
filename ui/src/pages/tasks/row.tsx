// One task in the list: its name, whose it is, and whether there is any hurry.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Badge, When } from "@/parts/data";
import { hurry, type Task } from "@/pages/tasks/data";
import { words } from "@/pages/tasks/words";

const USUAL = 50; // the priority of a task that names none

export function Row({ task, to, isChosen }: { task: Task; to: string; isChosen: boolean }): JSX.Element {
  const t = useWords(words);
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) item.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    <li ref={item} class={isChosen ? "task-row chosen" : "task-row"}>
      <Link to={to} aria-current={isChosen ? "true" : undefined}>
        <strong>{task.name}</strong>
        <span class="soft">{[task.businessId, task.processName ?? task.processDefinitionId].filter(Boolean).join(" · ")}</span>
        <span class="task-marks">
          <Hurry task={task} />
          {task.priority !== USUAL && <Badge tone={task.priority > USUAL ? "warn" : "muted"}>{t.priority(task.priority)}</Badge>}
          {task.assignee && <Badge tone="active">{task.assignee}</Badge>}
          {!task.assignee && task.candidateGroups.map((group) => <Badge key={group}>{group}</Badge>)}
          {!task.dueDate && <small><When at={task.creationDate} style="relative" /></small>}
        </span>
      </Link>
    </li>
  );
}

/** When it is due, in words that say how pressing that is. */
export function Hurry({ task }: { task: Task }): JSX.Element | null {
  const t = useWords(words);
  if (!task.dueDate) return null;
  const how = hurry(task);
  const word = how === "overdue" ? t.overdueAt : how === "soon" ? t.soonAt : t.dueAt;
  return <Badge tone={how === "overdue" ? "bad" : how === "soon" ? "warn" : "neutral"}>{word} <When at={task.dueDate} /></Badge>;
}
