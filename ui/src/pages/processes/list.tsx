// The definitions that are deployed.

import type { JSX } from "preact";
import { api } from "@/base/api";
import { useList } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Empty } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { DataTable } from "@/parts/table";
import { words } from "@/pages/processes/words";

interface Definition {
  processDefinitionKey: string;
  processDefinitionId: string;
  name: string | null;
  version: number;
}

export default function Processes(): JSX.Element {
  const t = useWords(words);
  const list = useList<Definition>("definitions", (after, signal) =>
    api.search("/v2/process-definitions/search", { filter: { isLatestVersion: true }, page: { limit: 50, ...(after && { after }) } }, signal),
    ["definitions"],
  );
  return (
    <>
      <PageHead title={t.title} />
      <Panel>
        <DataTable
          label={t.title}
          list={list}
          keyOf={(row) => row.processDefinitionKey}
          columns={[
            { id: "name", title: t.process, isMain: true, cell: (row) => <Link to={`/processes/${encodeURIComponent(row.processDefinitionId)}`}>{row.name ?? row.processDefinitionId}</Link> },
            { id: "version", title: t.version, align: "right", cell: (row) => row.version },
          ]}
          empty={<Empty title={t.none} icon="processes">{t.noneNext}<br /><code>procession deploy order.bpmn</code></Empty>}
        />
      </Panel>
    </>
  );
}
