// The inbox: whose tasks, which of them, and the one that is worked on. The address holds all of it.

import type { JSX } from "preact";
import { useAsk, useList, type Listed } from "@/base/ask";
import { me } from "@/base/me";
import { useQuery, useRoute } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, useOpen } from "@/parts/dialog";
import { Empty, Loading, ProblemBox, Shown } from "@/parts/feedback";
import { Filters, useFilters, type Filter } from "@/parts/filters";
import { PageHead, Panel, Tabs } from "@/parts/layout";
import { addressOf, groups, isLocal, person, searchTasks, tasks, type Task, type TaskFilters, type Whose } from "@/pages/tasks/data";
import { useKeys } from "@/pages/tasks/keys";
import { Row } from "@/pages/tasks/row";
import { TaskPane } from "@/pages/tasks/task";
import { WhoDialog } from "@/pages/tasks/who";
import { words } from "@/pages/tasks/words";
import "@/pages/tasks/tasks.css";

const WHOSE: Whose[] = ["mine", "groups", "free", "all"];

export default function Inbox(): JSX.Element {
  const t = useWords(words);
  const [wanted, setWhose] = useQuery("whose", "mine");
  const whose = WHOSE.find((each) => each === wanted) ?? "mine";
  const [chosen, choose] = useQuery("task");
  const named = person.use();
  const ownGroups = groups.use();
  const isAnybody = isLocal(me.current?.username);
  const who = (isAnybody && named) || me.current?.username || "";
  const of = [...new Set([...(me.current?.groups ?? []), ...ownGroups])];
  const filters = useFilterList();
  const values = useFilters(filters) as TaskFilters;
  const isKnown = whose !== "groups" || of.length > 0;
  const key = isKnown ? JSON.stringify([whose, whose === "mine" && who, whose === "groups" && of, values]) : null;
  const list = useList<Task>(key, (after, signal) => searchTasks(whose, who, of, values, after, signal), ["tasks"]);
  const settings = useOpen();
  const help = useOpen();
  useKeys(list.data ?? [], chosen, choose);
  return (
    <>
      <PageHead
        title={t.title}
        subtitle={who && `${t.workAs} ${who}`}
        actions={
          <>
            <Button kind="ghost" onClick={() => help.open(true)}>{t.keys}</Button>
            <Button icon="user" onClick={() => settings.open(true)}>{t.settings}</Button>
          </>
        }
      />
      <Tabs label={t.whose} tabs={WHOSE.map((id) => ({ id, title: t[id] }))} current={whose} onChange={setWhose}>
        <div class={chosen ? "inbox chosen" : "inbox"}>
          <Panel class="inbox-list">
            <div class="panel-body"><Filters filters={filters} /></div>
            {isKnown ? (
              <Rows list={list} whose={whose} chosen={chosen} isFiltered={Object.keys(values).length > 0} />
            ) : (
              <Empty title={t.noGroups} icon="user">
                <p>{t.noGroupsNext}</p>
                <Button kind="primary" onClick={() => settings.open(true)}>{t.settings}</Button>
              </Empty>
            )}
          </Panel>
          <Panel class="inbox-task">
            {chosen ? <Chosen key={chosen} taskKey={chosen} who={who} onLeave={() => choose("")} /> : <Empty title={t.choose} icon="tasks">{t.chooseNext}</Empty>}
          </Panel>
        </div>
      </Tabs>
      {settings.value && <WhoDialog asksName={isAnybody} onClose={settings.close} />}
      {help.value && <KeysDialog onClose={help.close} />}
    </>
  );
}

function Chosen({ taskKey, who, onLeave }: { taskKey: string; who: string; onLeave: () => void }): JSX.Element {
  const t = useWords(words);
  const asked = useAsk(`task ${taskKey}`, (signal) => tasks.get(taskKey, signal), ["tasks"]);
  if (asked.problem?.status === 404) {
    return (
      <Empty title={t.gone} icon="check">
        <p>{t.goneNext}</p>
        <Button onClick={onLeave}>{t.back}</Button>
      </Empty>
    );
  }
  return <Shown asked={asked}>{(task) => <TaskPane task={task} who={who} onChange={asked.reload} onLeave={onLeave} />}</Shown>;
}

function Rows(props: { list: Listed<Task>; whose: Whose; chosen: string; isFiltered: boolean }): JSX.Element {
  const t = useWords(words);
  const { query } = useRoute();
  const { list } = props;
  if (list.data === undefined) return list.problem ? <ProblemBox problem={list.problem} onRetry={list.reload} /> : <Loading />;
  if (list.data.length === 0) {
    if (props.isFiltered) return <Empty title={t.noMatch} icon="filter">{t.noMatchNext}</Empty>;
    if (props.whose === "mine") return <Empty title={t.noneMine} icon="check">{t.noneMineNext}</Empty>;
    return <Empty title={t.noneHere} icon="check">{t.noneHereNext}</Empty>;
  }
  return (
    <>
      {list.problem && <ProblemBox problem={list.problem} onRetry={list.reload} />}
      <ul class="task-rows" aria-label={t.title}>
        {list.data.map((task) => (
          <Row key={task.userTaskKey} task={task} to={addressOf(query, task.userTaskKey)} isChosen={task.userTaskKey === props.chosen} />
        ))}
      </ul>
      {list.hasMore && <div class="panel-body"><Button onClick={list.more} isBusy={list.isLoadingMore}>{t.more}</Button></div>}
    </>
  );
}

function useFilterList(): Filter[] {
  const t = useWords(words);
  return [
    { name: "text", label: t.text, kind: "text", placeholder: t.textHint },
    { name: "process", label: t.process, kind: "text" },
    { name: "group", label: t.group, kind: "text" },
    { name: "due", label: t.due, kind: "choice", options: [["", t.any], ["overdue", t.overdue], ["day", t.withinDay], ["week", t.withinWeek]] },
    { name: "order", label: t.order, kind: "choice", options: [["", t.oldest], ["dueDate", t.dueFirst], ["priority", t.urgent]] },
  ];
}

function KeysDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const t = useWords(words);
  const rows: [string[], string][] = [
    [["j", "k", "↓", "↑"], t.keyMove],
    [["Enter"], t.keyOpen],
    [["c"], t.keyTake],
    [["Ctrl", "Enter"], t.keyComplete],
    [["Esc"], t.keyBack],
  ];
  return (
    <Dialog title={t.keys} onClose={onClose} onSubmit={onClose} buttons={<Button kind="primary" type="submit">{t.close}</Button>}>
      <dl class="keys">
        {rows.map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>{keys.map((each) => <kbd key={each}>{each}</kbd>)}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
