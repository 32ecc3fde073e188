// The decisions that are deployed, the latest version of each.

import type { JSX } from "preact";
import { api } from "@/base/api";
import { useList } from "@/base/ask";
import { Link, segment, useQuery } from "@/base/route";
import { useWords } from "@/base/words";
import { Empty } from "@/parts/feedback";
import { Filters } from "@/parts/filters";
import { PageHead, Panel } from "@/parts/layout";
import { DataTable } from "@/parts/table";
import { filesOf, type Decision } from "./server";
import { words } from "./words";
import "./decisions.css";

const PAGE = 50;
const SEARCHED_MAX = 1_000;

/** Whether a decision is meant by what was typed, in upper or lower case. */
function fits(row: Decision, typed: string): boolean {
  const text = typed.trim().toLowerCase();
  return [row.name, row.decisionDefinitionId, row.decisionRequirementsId].some((each) => each.toLowerCase().includes(text));
}

export default function Decisions(): JSX.Element {
  const t = useWords(words);
  const [name] = useQuery("name");
  const list = useList<Decision & { file: string }>(
    `decisions ${name}`,
    async (after, signal) => {
      const page = { limit: name ? SEARCHED_MAX : PAGE, ...(after ? { after } : {}) };
      const found = await api.search<Decision>("/v2/decision-definitions/search", { filter: { isLatestVersion: true }, sort: [{ field: "name" }], page }, signal);
      const rows = name ? found.items.filter((row) => fits(row, name)) : found.items;
      const files = rows.length ? await filesOf(rows, signal) : {};
      const items = rows.map((row) => ({ ...row, file: files[row.decisionRequirementsKey] ?? "" }));
      return name ? { items } : { ...found, items };
    },
    ["decisions"],
  );
  return (
    <>
      <PageHead title={t.title} subtitle={t.lead} actions={<Link class="button" to="/modeler/new/dmn">{t.draw}</Link>} />
      <Filters filters={[{ name: "name", label: t.name, kind: "text", placeholder: t.search }]} />
      <Panel>
        <DataTable
          label={t.title}
          list={list}
          keyOf={(row) => row.decisionDefinitionKey}
          columns={[
            { id: "name", title: t.name, isMain: true, isWide: true, cell: (row) => <Link to={`/decisions/${segment(row.decisionDefinitionId)}`}>{row.name || row.decisionDefinitionId}</Link> },
            { id: "id", title: t.id, cell: (row) => <code class="nowrap">{row.decisionDefinitionId}</code> },
            { id: "file", title: t.file, cell: (row) => <span class="nowrap" title={row.decisionRequirementsId}>{row.file || row.decisionRequirementsId}</span> },
            { id: "version", title: t.version, align: "right", cell: (row) => row.version },
          ]}
          empty={
            name ? <Empty title={t.notFound} icon="search" /> : <Empty title={t.empty} icon="decisions">{t.emptyNext} <code>procession deploy discount.dmn</code></Empty>
          }
        />
      </Panel>
    </>
  );
}
