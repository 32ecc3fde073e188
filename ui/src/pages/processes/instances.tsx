// The table of instances: filters in the address, saved views, what is done to many at once.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "@/base/api";
import { useList } from "@/base/ask";
import type { BpmnModel } from "@/base/bpmn";
import type { Instance } from "@/base/camunda";
import { Link, segment } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, Duration, Key, When } from "@/parts/data";
import { Empty } from "@/parts/feedback";
import { Filters, useFilters, type Filter } from "@/parts/filters";
import { StateOfInstance, stateWords } from "@/parts/instance-state";
import { Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import { BulkBar } from "@/pages/processes/bulk";
import { searchInstances, unfit, type InstanceFilters } from "@/pages/processes/data";
import { SavedViews } from "@/pages/processes/views";
import { words } from "@/pages/processes/words";

export interface Of {
  processId?: string | undefined;
  definitionKey?: string | undefined;
}

const ALWAYS = 4; // filters that are shown at once; the others stand behind "more"

export function InstancesPanel({ of, model }: { of: Of; model?: BpmnModel | undefined }): JSX.Element {
  const t = useWords(words);
  const filters = useFilterList(model);
  const values = useFilters(filters) as InstanceFilters;
  const wrong = unfit(values);
  for (const filter of filters) if (wrong.includes(filter.name as keyof InstanceFilters)) Object.assign(filter, { problem: filter.name === "variable" ? t.badVariable : t.badDate });
  const isMoreSet = filters.slice(ALWAYS).some(({ name }) => values[name as keyof InstanceFilters]);
  const [wanted, want] = useState<boolean>();
  const isMore = wanted ?? isMoreSet; // the model, and with it a further filter, may come later
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const key = JSON.stringify([of, values]);
  const list = useList<Instance>(key, (after, signal) => (wrong.length ? Promise.reject(new Problem(0, t.badFilter, "")) : searchInstances(of, values, after, signal)), ["instances", "incidents"], true);
  useEffect(() => select(new Set()), [key]);
  const isFiltered = Object.keys(values).length > 0;
  return (
    <Panel title={t.instances} actions={<SavedViews filters={filters.map(({ name }) => name)} />}>
      <div class="panel-body stack">
        <Filters filters={isMore ? filters : filters.slice(0, ALWAYS)}>
          <Button kind="ghost" icon="filter" onClick={() => want(!isMore)}>{isMore ? t.fewerFilters : t.moreFilters}</Button>
        </Filters>
        <BulkBar
          selected={selected}
          of={of}
          filters={values}
          total={list.total}
          isTotalBound={list.isTotalBound}
          rows={list.data ?? []}
          onDone={() => {
            select(new Set());
            list.reload();
          }}
        />
      </div>
      <DataTable
        label={t.instances}
        list={list}
        keyOf={(row) => row.processInstanceKey}
        columns={columns(t, of)}
        selected={selected}
        onSelect={select}
        empty={
          isFiltered ? (
            <Empty title={t.noMatch} icon="filter">{t.noMatchNext}</Empty>
          ) : (
            <Empty title={t.noInstances} icon="play">{t.noInstancesNext}<br /><code>procession start {of.processId ?? "order"}</code></Empty>
          )
        }
      />
    </Panel>
  );
}

function useFilterList(model: BpmnModel | undefined): Filter[] {
  const t = useWords(words);
  const states = useWords(stateWords);
  const elements = [...(model?.elements.values() ?? [])].filter((element) => !element.isFlow);
  const state: Filter = {
    name: "state",
    label: t.state,
    kind: "choice",
    options: [["", t.any], ["ACTIVE", states.ACTIVE], ["INCIDENT", states.INCIDENT], ["SUSPENDED", states.SUSPENDED], ["COMPLETED", states.COMPLETED], ["TERMINATED", states.TERMINATED]],
  };
  const element: Filter[] = model
    ? [{ name: "element", label: t.element, kind: "choice", options: [["", t.any], ...elements.map(({ id, name }): [string, string] => [id, name])] }]
    : [];
  return [
    state,
    ...element,
    { name: "text", label: t.text, kind: "text", placeholder: t.textHint },
    { name: "business", label: t.businessId, kind: "text" },
    { name: "variable", label: t.variable, kind: "text", placeholder: t.variableHint },
    { name: "tag", label: t.tag, kind: "text" },
    { name: "from", label: t.from, kind: "date" },
    { name: "until", label: t.until, kind: "date" },
    { name: "incident", label: t.incidentText, kind: "text", placeholder: t.incidentHint },
  ];
}

function columns(t: ReturnType<typeof useWords<(typeof words)["en"]>>, of: Of): Column<Instance>[] {
  const name: Column<Instance> = {
    id: "name",
    title: t.businessId,
    isMain: true,
    isWide: true,
    cell: (row) => (
      <div class="named">
        <span>
          <Link to={`/instances/${row.processInstanceKey}`}>{row.businessId || row.processInstanceKey}</Link>
          {row.tags.map((tag) => <Badge key={tag}>{tag}</Badge>)}
        </span>
        {row.businessId && <Key value={row.processInstanceKey} />}
      </div>
    ),
  };
  const process: Column<Instance>[] = of.processId ? [] : [{ id: "process", title: t.process, cell: (row) => <Link to={`/processes/${segment(row.processDefinitionId)}`}>{row.processDefinitionName || row.processDefinitionId}</Link> }];
  const version: Column<Instance>[] = of.definitionKey ? [] : [{ id: "version", title: t.version, align: "right", cell: (row) => row.processDefinitionVersion }];
  return [
    name,
    ...process,
    { id: "state", title: t.state, cell: (row) => <StateOfInstance state={row.state} hasIncident={row.hasIncident} /> },
    ...version,
    { id: "started", title: t.started_at, cell: (row) => <When at={row.startDate} /> },
    { id: "ended", title: t.ended_at, cell: (row) => <When at={row.endDate} /> },
    { id: "took", title: t.took, align: "right", cell: (row) => (row.startDate ? <><Duration from={row.startDate} to={row.endDate} />{!row.endDate && <span class="soft"> {t.soFar}</span>}</> : "") },
  ];
}
