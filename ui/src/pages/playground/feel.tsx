// An expression on values: its result and type as one types, or where it cannot be read, or why it is null.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Problem } from "@/base/api";
import { problemOf } from "@/base/ask";
import { feel, type FeelAnswer } from "@/base/feel";
import { setQuery, useRoute } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, JsonEditor, JsonView } from "@/parts/data";
import { Empty, ProblemBox, toast } from "@/parts/feedback";
import { Scroll } from "@/parts/scroll";
import { FeelField } from "./editor";
import { EXAMPLES, type Example } from "./examples";
import { words } from "./words";

const TYPING_MS = 300;
const ADDRESS_CHARS_MAX = 4_000; // longer addresses are cut on their way by some

export function Feel(): JSX.Element {
  const t = useWords(words);
  const { query } = useRoute();
  const [example, setExample] = useState<Example>(() => fromAddress(query) ?? EXAMPLES[0]);
  const [round, setRound] = useState(0); // the fields begin anew with each example
  return (
    <div class="feel">
      <div class="feel-examples" role="group" aria-label={t.examples}>
        {EXAMPLES.map((each) => (
          <Button key={each.expression} kind="ghost" onClick={() => { setExample(each); setRound(round + 1); }}>
            <code>{each.title}</code>
          </Button>
        ))}
      </div>
      <Bench key={round} example={example} />
    </div>
  );
}

function fromAddress(query: URLSearchParams): Example | undefined {
  const expression = query.get("expression");
  if (expression === null) return undefined;
  return { title: "", expression, context: read(query.get("values")) ?? {}, ...(query.has("value") ? { value: read(query.get("value")) } : {}) };
}

function read(text: string | null): unknown {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function Bench({ example }: { example: Example }): JSX.Element {
  const t = useWords(words);
  const [expression, setExpression] = useState(example.expression);
  const [context, setContext] = useState<unknown>(example.context);
  const [isTests, setTests] = useState("value" in example);
  const [value, setValue] = useState<unknown>(example.value ?? null);
  const { answer, problem } = useAnswer(expression, context, isTests, value);
  const share = (): void => {
    const values = { expression, values: JSON.stringify(context ?? {}), value: isTests ? JSON.stringify(value) : "" };
    setQuery(values);
    void navigator.clipboard?.writeText(location.href).then(() => toast(t.shared));
  };
  const isShort = expression.length + JSON.stringify(context ?? {}).length < ADDRESS_CHARS_MAX;
  return (
    <div class="bench">
      <div class="stack">
        <div class="field">
          <div class="bench-label">
            <label>{isTests ? t.tests : t.expression}</label>
            <label class="flag"><input type="checkbox" checked={isTests} onChange={() => setTests(!isTests)} />{t.isTests}</label>
          </div>
          <FeelField key={String(isTests)} label={isTests ? t.tests : t.expression} value={expression} isTests={isTests} context={context} onChange={setExpression} />
        </div>
        {isTests && (
          <div class="field"><label>{t.value}</label><JsonEditor label={t.value} initial={value} rows={2} onChange={setValue} /></div>
        )}
        <div class="field"><label>{t.context}</label><JsonEditor label={t.context} initial={context} isObject rows={10} onChange={setContext} /></div>
        <div class="row"><Button icon="copy" disabled={!isShort} onClick={share}>{t.share}</Button></div>
      </div>
      <div class="bench-result" role="status" aria-live="polite">
        <h2>{t.result}</h2>
        {problem ? <ProblemBox problem={problem} /> : context === undefined ? <p class="bad">{t.badValues}</p> : answer ? <Answer answer={answer} /> : <Empty title={t.begin} icon="playground" />}
      </div>
    </div>
  );
}

/** The answer to what stands there now, once somebody stops typing. */
function useAnswer(expression: string, context: unknown, isTests: boolean, value: unknown): { answer: FeelAnswer | null; problem: Problem | null } {
  const [state, setState] = useState<{ answer: FeelAnswer | null; problem: Problem | null }>({ answer: null, problem: null });
  const key = JSON.stringify([expression, context, isTests, value]);
  useEffect(() => {
    if (!expression.trim()) return setState({ answer: null, problem: null });
    if (context === undefined || (isTests && value === undefined)) return;
    const control = new AbortController();
    const timer = setTimeout(() => {
      feel({ expression, context: context as object, ...(isTests ? { isTests, value } : {}) }, control.signal).then(
        (answer) => setState({ answer, problem: null }),
        (error: unknown) => control.signal.aborted || setState({ answer: null, problem: problemOf(error) }),
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [key]);
  return state;
}

function Answer({ answer }: { answer: FeelAnswer }): JSX.Element {
  const t = useWords(words);
  if (answer.error) {
    const { message, line, column } = answer.error;
    return (
      <div class="problem" role="alert">
        <div><strong>{t.error}</strong><p>{message}</p><small>{t.at(line, column)}</small></div>
      </div>
    );
  }
  return (
    <div class="stack">
      <Scroll class="feel-value" label={t.result}><JsonView value={answer.result ?? null} /></Scroll>
      <div class="row">
        {answer.type && <Badge tone="active">{answer.type}</Badge>}
        {answer.text !== JSON.stringify(answer.result) && <code class="feel-text">{answer.text}</code>}
      </div>
      {answer.warnings.length > 0 && (
        <div class="stack">
          <h3>{t.warnings}</h3>
          {distinct(answer.warnings).map((warning, index) => (
            <p key={index} class="feel-warning">{warning.message} <small>{t.at(warning.line, warning.column)}</small></p>
          ))}
        </div>
      )}
    </div>
  );
}

/** A part that is evaluated for each item warns for each. */
function distinct(warnings: FeelAnswer["warnings"]): FeelAnswer["warnings"] {
  return [...new Map(warnings.map((warning) => [`${warning.message} ${warning.line} ${warning.column}`, warning])).values()];
}
