// Limits that jobs share by their keys: the rule, what is taken of it now, who waits; the rule can be set, the limit dropped.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct, useList } from "@/base/ask";
import { span } from "@/base/dates";
import { Link } from "@/base/route";
import { useLanguage, useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Count, When } from "@/parts/data";
import { confirm, Dialog } from "@/parts/dialog";
import { Empty, toast } from "@/parts/feedback";
import { Panel } from "@/parts/layout";
import { DataTable, type Column } from "@/parts/table";
import { words as partWords } from "@/parts/words";
import { listOf, part, type Limit } from "@/pages/jobs/data";
import { Head, NumberField, Shared } from "@/pages/jobs/frame";
import { words } from "@/pages/jobs/words";

const EXAMPLE = 'await app.enqueue("send", limits=[Limit("mail-server", most=2)])';

export default function LimitsPage(): JSX.Element {
  const t = useWords(words);
  useLanguage();
  const list = useList<Limit>("limits", listOf("/api/limits"), ["limits"]);
  const [sets, setSets] = useState<Limit | null>(null);
  const drop = async (limit: Limit): Promise<void> => {
    if (await confirm({ title: `${t.drop}: ${limit.key}`, text: t.dropText, verb: t.drop, isDangerous: true, act: () => api.delete(`/api/limits/${part(limit.key)}`) })) {
      toast(t.dropped, limit.key);
      list.reload();
    }
  };
  if (list.problem?.status === 403) return <Shared title={t.limits} />;
  return (
    <>
      <Head title={t.limits} />
      <Panel>
        <DataTable
          label={t.limits}
          list={list}
          keyOf={(row) => row.key}
          columns={columns(t, setSets, (limit) => void drop(limit))}
          empty={<Empty title={t.noLimits} icon="jobs">{t.noLimitsNext}<br /><code>{EXAMPLE}</code></Empty>}
        />
      </Panel>
      {sets && (
        <SetDialog
          limit={sets}
          onClose={(isDone) => {
            setSets(null);
            if (isDone) list.reload();
          }}
        />
      )}
    </>
  );
}

function ruleOf(t: (typeof words)["en"], limit: Limit): string {
  const parts = [limit.most > 0 && t.ruleMost(limit.most), limit.rate > 0 && t.ruleRate(limit.rate, span(limit.perMs)), limit.rate > 0 && limit.burst > 0 && t.ruleBurst(limit.burst)];
  return parts.filter(Boolean).join(" · ");
}

function columns(t: (typeof words)["en"], onSet: (limit: Limit) => void, onDrop: (limit: Limit) => void): Column<Limit>[] {
  return [
    { id: "key", title: t.limit, isMain: true, cell: (row) => row.key },
    { id: "rule", title: t.rule, isWide: true, cell: (row) => ruleOf(t, row) },
    {
      id: "used",
      title: t.used,
      cell: (row) =>
        row.most > 0 ? (
          <div class="limit-use">
            <progress max={row.most} value={Math.min(row.used, row.most)} aria-label={`${row.key}: ${t.usedOf(row.used, row.most)}`} />
            {t.usedOf(row.used, row.most)}
          </div>
        ) : (
          <Count value={row.used} />
        ),
    },
    { id: "waiting", title: t.waiting, align: "right", cell: (row) => (row.waiting > 0 ? <Link to="/jobs?state=THROTTLED"><Count value={row.waiting} /></Link> : <Count value={0} />) },
    { id: "next", title: t.nextStart, align: "right", cell: (row) => <When at={row.reservedAt} /> },
    {
      id: "act",
      title: "",
      align: "right",
      cell: (row) => (
        <span class="row">
          <Button role="operator" onClick={() => onSet(row)}>{t.set}</Button>
          <Button role="operator" icon="trash" label={`${t.drop}: ${row.key}`} onClick={() => onDrop(row)} />
        </span>
      ),
    },
  ];
}

function SetDialog({ limit, onClose }: { limit: Limit; onClose: (isDone: boolean) => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const { isBusy, problem, act } = useAct();
  const [rule, setRule] = useState({ most: String(limit.most), rate: String(limit.rate), per: String((limit.perMs || 1_000) / 1_000), burst: String(limit.burst) });
  const go = async (): Promise<void> => {
    const body = { most: Number(rule.most), rate: Number(rule.rate), per: Math.round(Number(rule.per) * 1_000), burst: Number(rule.burst) };
    if (!(await act(() => api.put(`/api/limits/${part(limit.key)}`, body)))) return;
    toast(t.changed, limit.key);
    onClose(true);
  };
  return (
    <Dialog
      title={t.setTitle(limit.key)}
      problem={problem}
      onClose={() => onClose(false)}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={() => onClose(false)}>{parts.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>{t.set}</Button>
        </>
      }
    >
      <NumberField label={t.most} least={0} value={rule.most} onChange={(most) => setRule({ ...rule, most })} />
      <div class="job-fields">
        <NumberField label={t.rate} least={0} value={rule.rate} onChange={(rate) => setRule({ ...rule, rate })} />
        <NumberField label={t.per} least={0.001} value={rule.per} onChange={(per) => setRule({ ...rule, per })} />
        <NumberField label={t.burst} least={0} value={rule.burst} onChange={(burst) => setRule({ ...rule, burst })} />
      </div>
    </Dialog>
  );
}
