// A DMN file to look at: its graph, its tables, and which rules of them matched.

import "@/parts/bpmn-io/dmn-styles";

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import DmnViewer from "dmn-js/lib/NavigatedViewer";
import { problemOf } from "@/base/ask";
import type { Problem } from "@/base/api";
import { useLanguage, useWords } from "@/base/words";
import { shown } from "@/parts/bpmn-io/dmn-file";
import { fitBeside, type Canvas } from "@/parts/bpmn-io/fit";
import { fontLoaded, TEXT } from "@/parts/bpmn-io/font";
import { translateModule } from "@/parts/bpmn-io/translate";
import { Button } from "@/parts/button";
import { Loading, ProblemBox } from "@/parts/feedback";
import type { Step } from "./server";
import { words } from "./words";

const COLOURS = { defaultFillColor: "var(--diagram-fill)", defaultStrokeColor: "var(--diagram-stroke)", defaultLabelColor: "var(--diagram-stroke)" };

interface Overlays {
  add(id: string, type: string, overlay: { position: object; html: HTMLElement }): void;
  remove(filter: { type: string }): void;
}

export default function DmnView(props: { xml: string; decisionId: string; steps: Step[] }): JSX.Element {
  const t = useWords(words);
  const tongue = useLanguage();
  const place = useRef<HTMLDivElement>(null);
  const [viewer, setViewer] = useState<DmnJs | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [, turn] = useState(0);

  useEffect(() => {
    if (!place.current) return;
    let isOver = false;
    setProblem(null);
    setViewer(null);
    const made = makeViewer(place.current);
    made.on("views.changed", () => turn((count) => count + 1));
    void (async () => {
      try {
        await fontLoaded();
        await made.importXML(shown(props.xml));
        const view = made.getViews().find((each) => each.element.id === props.decisionId);
        if (view) await made.open(view);
        if (!isOver) setViewer(made);
      } catch (error) {
        if (!isOver) setProblem(problemOf(error));
      }
    })();
    return () => {
      isOver = true;
      made.destroy();
    };
  }, [props.xml, tongue]);

  const active = viewer?.getActiveView();
  useEffect(() => {
    if (!viewer) return;
    const frame = requestAnimationFrame(() => mark(viewer, place.current, props.steps));
    return () => cancelAnimationFrame(frame);
  }, [viewer, active?.element.id, props.steps]);

  return (
    <div class="dmn-viewer">
      {viewer && viewer.getViews().length > 1 && (
        <nav class="dmn-views" aria-label={t.views}>
          {viewer.getViews().map((view) => (
            <Button key={view.element.id} kind="ghost" pressed={view.element.id === active?.element.id} onClick={() => void open(viewer, view)}>
              {view.type === "drd" ? t.graph : (view.element.name ?? view.element.id)}
            </Button>
          ))}
        </nav>
      )}
      <div class={`dmn-place ${active?.type ?? ""}`} ref={place} data-ready={viewer !== null} tabIndex={0} role="group" aria-label={t.views} />
      {problem ? <ProblemBox problem={Object.assign(problem, { title: t.cannotShow })} /> : !viewer && <Loading />}
    </div>
  );
}

function makeViewer(container: HTMLElement): DmnJs {
  const additionalModules = [translateModule()];
  return new DmnViewer({
    container,
    drd: { drdRenderer: COLOURS, textRenderer: TEXT, additionalModules },
    decisionTable: { additionalModules },
    literalExpression: { additionalModules },
    boxedExpression: { additionalModules },
  });
}

async function open(viewer: DmnJs, view: DmnView): Promise<void> {
  await viewer.open(view);
}

/** Marks the rules that matched in a table; in the graph, what each decision came to. */
function mark(viewer: DmnJs, place: HTMLElement | null, steps: Step[]): void {
  for (const row of place?.querySelectorAll("tr.matched") ?? []) row.classList.remove("matched");
  for (const { ruleId } of steps.flatMap((step) => step.matched)) {
    place?.querySelector(`[data-row-id="${CSS.escape(ruleId)}"]`)?.closest("tr")?.classList.add("matched");
  }
  if (viewer.getActiveView()?.type !== "drd") return;
  const canvas = viewer.getActiveViewer()?.get<Canvas>("canvas");
  const overlays = viewer.getActiveViewer()?.get<Overlays>("overlays");
  if (canvas) fitBeside(canvas);
  overlays?.remove({ type: "outcome" });
  for (const step of steps.filter(({ output }) => output !== undefined)) {
    const html = document.createElement("code");
    html.className = "dmn-outcome";
    html.textContent = JSON.stringify(step.output) ?? "null";
    html.title = html.textContent;
    try {
      overlays?.add(step.id, "outcome", { position: { bottom: 12, left: 10 }, html });
    } catch {
      // a decision that is not drawn, such as one of an imported file
    }
  }
}
