// Jobs that are put into the queue again and again, by their cycles.

import type { JSX } from "preact";
import { useList } from "@/base/ask";
import { Link, segment } from "@/base/route";
import { useWords } from "@/base/words";
import { Badge, Count, When } from "@/parts/data";
import { Empty } from "@/parts/feedback";
import { Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import { listOf, part, type Recurring } from "@/pages/jobs/data";
import { Head } from "@/pages/jobs/frame";
import { RecurringActions } from "@/pages/jobs/recurring-actions";
import { words } from "@/pages/jobs/words";

const EXAMPLE = 'await app.put_recurring(Recurring(name="report", cycle="0 9 * * MON-FRI", type="report"))';

export default function RecurringPage(): JSX.Element {
  const t = useWords(words);
  const list = useList<Recurring>("recurring", listOf("/api/recurring"), ["recurring"]);
  return (
    <>
      <Head title={t.recurring} />
      <Panel>
        <DataTable
          label={t.recurring}
          list={list}
          keyOf={(row) => `${row.tenantId} ${row.name}`}
          columns={columns(t, list.reload)}
          empty={<Empty title={t.noRecurring} icon="clock">{t.noRecurringNext}<br /><code>{EXAMPLE}</code></Empty>}
        />
      </Panel>
    </>
  );
}

export function StateOfRecurring({ of }: { of: Recurring }): JSX.Element {
  const t = useWords(words);
  if (of.isPaused) return <Badge tone="warn">{t.paused}</Badge>;
  return of.nextAt ? <Badge tone="active">{t.active}</Badge> : <Badge tone="muted">{t.over}</Badge>;
}

function columns(t: (typeof words)["en"], reload: () => void): Column<Recurring>[] {
  return [
    {
      id: "name",
      title: t.name,
      isMain: true,
      isWide: true,
      cell: (row) => (
        <div class="named">
          <Link to={`/jobs/recurring/${segment(row.name)}${row.tenantId ? `?tenant=${part(row.tenantId)}` : ""}`}>{row.name.trim() ? row.name : JSON.stringify(row.name)}</Link>
          <small>{[row.type, row.group].filter(Boolean).join(" · ")}</small>
        </div>
      ),
    },
    { id: "state", title: t.state, cell: (row) => <StateOfRecurring of={row} /> },
    { id: "cycle", title: t.cycle, cell: (row) => <code>{row.cycle}</code> },
    { id: "next", title: t.next, align: "right", cell: (row) => <When at={row.isPaused ? null : row.nextAt} /> },
    { id: "last", title: t.last, align: "right", cell: (row) => <When at={row.lastAt} /> },
    { id: "fired", title: t.fired, align: "right", cell: (row) => <Count value={row.fired} /> },
    { id: "act", title: "", align: "right", cell: (row) => <RecurringActions of={row} onDone={reload} isShort /> },
  ];
}
