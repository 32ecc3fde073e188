// What processes have decided: the evaluations that the history of their instances holds.

import type { JSX } from "preact";
import { useList } from "@/base/ask";
import { dateTime } from "@/base/dates";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, JsonShort, When } from "@/parts/data";
import { Empty } from "@/parts/feedback";
import { Panel } from "@/parts/layout";
import { DataTable } from "@/parts/table";
import { pastEvaluations, shownAgain, type Decision, type Evaluation, type PastEvaluation } from "./server";
import { words } from "./words";

const ROUNDS = 5;
const WHOLE = { totalItems: 0, hasMoreTotalItems: true }; // how many there are is not counted

export function Past(props: { decision: Decision; onShow: (evaluation: Evaluation) => void }): JSX.Element {
  const t = useWords(words);
  const key = props.decision.decisionDefinitionKey;
  const list = useList<PastEvaluation>(
    `past ${key}`,
    async (after, signal) => {
      let page = await pastEvaluations(key, after, signal);
      // Each question looks at some thousand instances; most of them may decide nothing.
      for (let round = 1; round < ROUNDS && page.items.length === 0 && page.endCursor; round += 1) {
        page = await pastEvaluations(key, page.endCursor, signal);
      }
      return { items: page.items, page: { ...WHOLE, endCursor: page.endCursor } };
    },
  ); // not live: it reads the history of thousands of instances
  const show = (row: PastEvaluation): void => {
    props.onShow(shownAgain(row, dateTime(row.date)));
    scrollTo({ top: 0, behavior: "smooth" });
  };
  return (
    <Panel title={t.past}>
      <DataTable
        label={t.past}
        list={{ ...list, total: undefined }}
        keyOf={(row) => `${row.processInstanceKey} ${row.elementId} ${row.date}`}
        columns={[
          { id: "when", title: t.when, isMain: true, cell: (row) => <When at={row.date} /> },
          { id: "instance", title: t.instance, isWide: true, cell: (row) => <Link to={`/instances/${row.processInstanceKey}`}>{row.processDefinitionId} · {row.elementId}</Link> },
          { id: "version", title: t.version, cell: (row) => row.decisionVersion },
          { id: "rules", title: t.rules, cell: (row) => <Rules row={row} /> },
          { id: "output", title: t.output, cell: (row) => (row.isKept ? <JsonShort value={row.result} /> : <span class="soft" title={t.notKeptNext}>{t.notKept}</span>) },
          { id: "show", title: "", cell: (row) => row.decisionDefinitionKey === key && <Button onClick={() => show(row)}>{t.show}</Button> },
        ]}
        empty={<Empty title={t.pastEmpty} icon="clock">{t.pastNext}</Empty>}
      />
    </Panel>
  );
}

function Rules({ row }: { row: PastEvaluation }): JSX.Element {
  const t = useWords(words);
  const matched = row.trace.at(-1)?.tables.flatMap((table) => table.matchedRules) ?? [];
  return <span class="row">{matched.map((rule) => <Badge key={rule.ruleId}>{t.rule(rule.ruleIndex)}</Badge>)}</span>;
}
