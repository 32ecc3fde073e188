// One decision: what its file looks like, what it says of given inputs and why, and what it has said in processes.

import { lazy, Suspense } from "preact/compat";
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct, useAsk } from "@/base/ask";
import { Link, navigate } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { JsonEditor, JsonView } from "@/parts/data";
import { Empty, Loading, ProblemBox, Shown } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { Scroll } from "@/parts/scroll";
import { Fields } from "./fields";
import { inputsOf, type Input } from "./inputs";
import { Past } from "./past";
import { decisionOf, evaluate, type Decision, type Evaluation } from "./server";
import { Trace } from "./trace";
import { words } from "./words";
import "./decisions.css";

const DmnView = lazy(() => import("./viewer"));
const VERSIONS_SHOWN = 100;

export default function One({ params }: { params: Record<string, string> }): JSX.Element {
  const t = useWords(words);
  const name = params.key ?? ""; // its id is as good as its key: the latest version then
  const asked = useAsk(`decision ${name}`, async (signal) => {
    const decision = await decisionOf(name, signal);
    const key = decision.decisionDefinitionKey;
    const [xml, versions] = await Promise.all([
      api.text(`/v2/decision-definitions/${key}/xml`, signal),
      api.search<Decision>("/v2/decision-definitions/search", {
        filter: { decisionDefinitionId: decision.decisionDefinitionId, tenantId: decision.tenantId },
        sort: [{ field: "version", order: "DESC" }],
        page: { limit: VERSIONS_SHOWN },
      }, signal),
    ]);
    return { decision, xml, versions: versions.items };
  });
  return (
    <>
      {!asked.data && <PageHead title={name} crumbs={[{ title: t.title, to: "/decisions" }]} />}
      <Shown asked={asked}>{(data) => <Page {...data} />}</Shown>
    </>
  );
}

function Page({ decision, xml, versions }: { decision: Decision; xml: string; versions: Decision[] }): JSX.Element {
  const t = useWords(words);
  const [evaluation, setEvaluation] = useState<Evaluation | null>(null);
  const key = decision.decisionDefinitionKey;
  const inputs = useMemo(() => inputsOf(xml, decision.decisionDefinitionId), [xml, decision]);
  return (
    <>
      <PageHead
        title={decision.name || decision.decisionDefinitionId}
        crumbs={[{ title: t.title, to: "/decisions" }]}
        subtitle={<code>{decision.decisionDefinitionId}</code>}
        actions={
          <>
            <select class="versions" aria-label={t.version} value={key} onChange={(event) => navigate(`/decisions/${event.currentTarget.value}`)}>
              {versions.map((each) => (
                <option key={each.decisionDefinitionKey} value={each.decisionDefinitionKey}>{t.versionOf(each.version)}</option>
              ))}
            </select>
            <Link class="button" to={`/modeler/deployed/dmn/${decision.decisionRequirementsKey}`}>{t.edit}</Link>
          </>
        }
      />
      <div class="decision">
        <Panel class="decision-file">
          <Suspense fallback={<Loading />}>
            <DmnView xml={xml} decisionId={decision.decisionDefinitionId} steps={evaluation?.steps ?? NO_STEPS} />
          </Suspense>
        </Panel>
        <div class="stack">
          <Evaluate decisionKey={key} inputs={inputs} onEvaluated={setEvaluation} />
          <Outcome evaluation={evaluation} />
        </div>
      </div>
      <Past decision={decision} onShow={setEvaluation} />
    </>
  );
}

const NO_STEPS: Evaluation["steps"] = [];

function Evaluate(props: { decisionKey: string; inputs: Input[]; onEvaluated: (evaluation: Evaluation | null) => void }): JSX.Element {
  const t = useWords(words);
  const { isBusy, problem, act } = useAct();
  const [isJson, setJson] = useState(false);
  const [values, setValues] = useState<Record<string, unknown>>({});
  const [given, setGiven] = useState<unknown>({});
  useEffect(() => props.onEvaluated(null), [props.decisionKey]);
  const variables = isJson ? given : values;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (variables === undefined) return;
    void act(async () => {
      props.onEvaluated(null);
      props.onEvaluated(await evaluate(props.decisionKey, variables as object));
    });
  };
  const turn = (): void => {
    if (!isJson) setGiven(Object.fromEntries(props.inputs.map((input) => [input.name, values[input.name] ?? null])));
    setJson(!isJson);
  };
  return (
    <Panel title={t.inputs} actions={<Button kind="ghost" pressed={isJson} onClick={turn}>{isJson ? t.asForm : t.asJson}</Button>}>
      <form class="panel-body stack" onSubmit={submit}>
        {isJson ? (
          <JsonEditor label={t.inputs} initial={given} isObject rows={8} onChange={setGiven} />
        ) : props.inputs.length ? (
          <Fields inputs={props.inputs} values={values} onChange={setValues} />
        ) : (
          <p class="soft">{t.noInputs}</p>
        )}
        {problem && <ProblemBox problem={problem} />}
        <div class="row">
          <Button kind="primary" icon="play" type="submit" isBusy={isBusy} disabled={variables === undefined}>{t.evaluate}</Button>
          {!isJson && props.inputs.length > 0 && <small>{t.nulls}</small>}
        </div>
      </form>
    </Panel>
  );
}

function Outcome({ evaluation }: { evaluation: Evaluation | null }): JSX.Element {
  const t = useWords(words);
  if (!evaluation) return <Panel title={t.result}><Empty title={t.nothingYet} icon="decisions" /></Panel>;
  return (
    <Panel title={t.result} class="outcome">
      <div class="panel-body stack" role="status">
        {evaluation.when && <small>{t.shownPast(evaluation.when)}</small>}
        {evaluation.isKept === false ? <p class="soft">{t.notKeptNext}</p> : <Scroll class="outcome-value" label={t.result}><JsonView value={evaluation.output} /></Scroll>}
        {evaluation.warnings.length > 0 && (
          <div class="stack">
            <h3>{t.warnings}</h3>
            {evaluation.warnings.map((warning) => <p key={warning} class="outcome-warning">{warning}</p>)}
          </div>
        )}
        <Trace steps={evaluation.steps} />
      </div>
    </Panel>
  );
}
