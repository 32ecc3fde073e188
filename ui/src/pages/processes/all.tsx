// Instances of all processes.

import type { JSX } from "preact";
import { useWords } from "@/base/words";
import { PageHead } from "@/parts/layout";
import { InstancesPanel } from "@/pages/processes/instances";
import { words } from "@/pages/processes/words";
import "@/pages/processes/processes.css";

export default function AllInstances(): JSX.Element {
  const t = useWords(words);
  return (
    <>
      <PageHead title={t.allInstances} crumbs={[{ title: t.title, to: "/processes" }]} />
      <InstancesPanel of={{}} />
    </>
  );
}
