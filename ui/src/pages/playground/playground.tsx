// Where expressions and messages are tried out. It changes nothing.

import type { JSX } from "preact";
import { useQuery } from "@/base/route";
import { useWords } from "@/base/words";
import { PageHead, Panel, Tabs } from "@/parts/layout";
import { Feel } from "./feel";
import { Messages } from "./messages";
import { words } from "./words";
import "./playground.css";

export default function Playground(): JSX.Element {
  const t = useWords(words);
  const [tab, setTab] = useQuery("tab", "feel");
  return (
    <>
      <PageHead title={t.title} subtitle={t.lead} />
      <Panel>
        <Tabs
          label={t.title}
          tabs={[{ id: "feel", title: t.feel }, { id: "messages", title: t.messages }]}
          current={tab}
          onChange={setTab}
        >
          {tab === "messages" ? <Messages /> : <Feel />}
        </Tabs>
      </Panel>
    </>
  );
}
