// One process: its diagram with counts, the time spent or the difference between versions, and its instances.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAsk } from "@/base/ask";
import { readBpmn } from "@/base/bpmn";
import { navigate, useQuery } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge } from "@/parts/data";
import { confirm } from "@/parts/dialog";
import { Empty, Loading, ProblemBox, toast } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { Menu } from "@/parts/menu";
import type { PageProps } from "@/pages/entry";
import { DEFAULT_TENANT, versionsOf, xmlOf, type Version } from "@/pages/processes/data";
import { Counted, Difference, HeatMap } from "@/pages/processes/diagrams";
import { InstancesPanel } from "@/pages/processes/instances";
import { StartDialog } from "@/pages/processes/start";
import { words } from "@/pages/processes/words";
import "@/pages/processes/processes.css";

type View = "counts" | "heat" | "difference";

export default function Process({ params }: PageProps): JSX.Element {
  const t = useWords(words);
  const id = params.id ?? "";
  const [tenant] = useQuery("tenant", DEFAULT_TENANT);
  const asked = useAsk(`versions ${id}`, (signal) => versionsOf(id, signal), ["definitions", "instances", "counts", "incidents"]);
  const crumbs = [{ title: t.title, to: "/processes" }];
  if (!asked.data) {
    return (
      <>
        <PageHead title={id} crumbs={crumbs} />
        {asked.problem ? <ProblemBox problem={asked.problem} onRetry={asked.reload} /> : <Loading />}
      </>
    );
  }
  const own = asked.data.items.filter((each) => each.tenantId === tenant); // two tenants may have processes of one id
  const versions = [...(own.length > 0 ? own : asked.data.items)].sort((one, other) => other.version - one.version);
  if (versions.length === 0) {
    return (
      <>
        <PageHead title={id} crumbs={crumbs} />
        <Panel><Empty title={t.missing(id)} icon="search">{t.missingText}</Empty></Panel>
      </>
    );
  }
  return <OfVersions versions={versions} reload={asked.reload} />;
}

function OfVersions({ versions, reload }: { versions: Version[]; reload: () => void }): JSX.Element {
  const t = useWords(words);
  const [wanted, setWanted] = useQuery("version");
  const [view, setView] = useQuery("view", "counts");
  const [isStarting, setStarting] = useState(false);
  const latest = versions[0] as Version;
  const shown = versions.find(({ version }) => String(version) === wanted) ?? latest;
  const isAll = wanted === "all";
  const isMissing = wanted !== null && wanted !== "" && !isAll && String(shown.version) !== wanted;
  const xml = useAsk(`xml ${shown.processDefinitionKey}`, (signal) => xmlOf(shown.processDefinitionKey, signal));
  const model = xml.data === undefined ? undefined : readBpmn(xml.data);
  const remove = async (): Promise<void> => {
    const isDone = await confirm({
      title: t.deleteVersion,
      text: t.deleteText,
      verb: t.deleteVerb,
      isDangerous: true,
      act: () => api.post(`/v2/resources/${shown.processDefinitionKey}/deletion`, {}),
    });
    if (!isDone) return;
    toast(t.deleted);
    if (versions.length === 1) navigate("/processes");
    else {
      setWanted("");
      reload();
    }
  };
  return (
    <>
      <PageHead
        title={shown.name || shown.processDefinitionId}
        crumbs={[{ title: t.title, to: "/processes" }]}
        subtitle={
          <>
            <select class="inline" aria-label={t.version} value={isAll ? "all" : String(shown.version)} onChange={(event) => setWanted(event.currentTarget.value === String(latest.version) ? "" : event.currentTarget.value)}>
              {versions.map((each) => <option key={each.version} value={String(each.version)}>{t.versionNumber(each.version)}{each.versionTag ? ` (${each.versionTag})` : ""}</option>)}
              {versions.length > 1 && <option value="all">{t.allVersions}</option>}
            </select>
            <code>{shown.processDefinitionId}</code>
            <Numbers versions={isAll ? versions : [shown]} />
          </>
        }
        actions={
          <>
            <Button kind="primary" icon="play" role="operator" onClick={() => setStarting(true)}>{t.start}</Button>
            <Menu
              label={t.moreActions}
              icon="dots"
              isBare
              items={[
                { title: t.openInModeler, icon: "modeler", onClick: () => navigate(`/modeler/deployed/bpmn/${shown.processDefinitionKey}`) },
                { title: t.deleteVersion, icon: "trash", role: "deployer", isDangerous: true, onClick: () => void remove() },
              ]}
            />
          </>
        }
      />
      {isMissing && <p class="notice" role="status">{t.noVersion(wanted)}</p>}
      <Panel>
        <div class="panel-head">
          <ViewChoice view={view as View} onChange={setView} />
        </div>
        {xml.problem ? <ProblemBox problem={xml.problem} onRetry={xml.reload} /> : xml.data === undefined ? <Loading /> : view === "difference" ? (
          <Difference xml={xml.data} version={shown} versions={versions} />
        ) : view === "heat" ? (
          <HeatMap xml={xml.data} definitionKey={shown.processDefinitionKey} />
        ) : (
          <Counted xml={xml.data} definitionKey={shown.processDefinitionKey} />
        )}
      </Panel>
      <InstancesPanel of={{ processId: shown.processDefinitionId, definitionKey: isAll ? undefined : shown.processDefinitionKey }} model={model} />
      {isStarting && <StartDialog version={shown} onClose={() => setStarting(false)} />}
    </>
  );
}

function Numbers({ versions }: { versions: Version[] }): JSX.Element {
  const t = useWords(words);
  const sum = (field: "active" | "incidents" | "completed" | "terminated"): number => versions.reduce((total, each) => total + each[field], 0);
  return (
    <span class="row numbers">
      <Badge tone="active">{t.running}: {sum("active")}</Badge>
      {sum("incidents") > 0 && <Badge tone="bad">{t.incidents}: {sum("incidents")}</Badge>}
      <Badge>{t.completed}: {sum("completed")}</Badge>
    </span>
  );
}

function ViewChoice({ view, onChange }: { view: View; onChange: (view: string) => void }): JSX.Element {
  const t = useWords(words);
  const views: [View, string][] = [["counts", t.counts], ["heat", t.heat], ["difference", t.difference]];
  return (
    <div class="segments" role="group" aria-label={t.view}>
      {views.map(([each, title]) => (
        <button key={each} type="button" aria-pressed={each === view} onClick={() => onChange(each)}>{title}</button>
      ))}
    </div>
  );
}
