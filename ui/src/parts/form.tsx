// What is asked for when a task is completed or a process started: a form, drawn by form-js, or variables as JSON.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { JsonEditor } from "@/parts/data";
import { Field } from "@/parts/dialog";
import { Loading, ProblemBox } from "@/parts/feedback";
import { Problem } from "@/base/api";
import { problemOf } from "@/base/ask";
import { words } from "@/parts/words";

/** Gives what was filled in, or null while that is not complete (and says so where it is not). */
export type Filled = () => Record<string, unknown> | null;

interface Viewer {
  importSchema(schema: object, data: object): Promise<unknown>;
  submit(): { data: Record<string, unknown>; errors: Record<string, string[]> };
  setProperty(name: string, value: unknown): void;
  destroy(): void;
}

export function FormView(props: { schema: string; data: Record<string, unknown>; isReadOnly: boolean; onReady: (filled: Filled | null) => void }): JSX.Element {
  const t = useWords(words);
  const box = useRef<HTMLDivElement>(null);
  const viewer = useRef<Viewer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    let isGone = false;
    const open = async (): Promise<void> => {
      const { drawn } = await import("@/parts/form-js");
      if (isGone || !box.current) return;
      const form: Viewer = drawn(box.current);
      viewer.current = form;
      form.setProperty("readOnly", props.isReadOnly);
      await form.importSchema({ type: "default", ...(JSON.parse(props.schema) as object) }, props.data);
      if (isGone) return;
      setReady(true);
      props.onReady(() => {
        const { data, errors } = form.submit();
        return Object.keys(errors).length > 0 ? null : data;
      });
    };
    open().catch((error: unknown) => !isGone && setProblem(problemOf(error)));
    return () => {
      isGone = true;
      props.onReady(null);
      viewer.current?.destroy();
      viewer.current = null;
    };
  }, [props.schema]);
  useEffect(() => viewer.current?.setProperty("readOnly", props.isReadOnly), [props.isReadOnly]);
  return (
    <>
      {problem && (
        <>
          <ProblemBox problem={new Problem(0, t.badForm, problem.detail || problem.message)} />
          {!props.isReadOnly && <JsonResult label={t.variables} onReady={props.onReady} />}
        </>
      )}
      {!isReady && !problem && <Loading />}
      <div ref={box} class="task-form" />
    </>
  );
}

/** Variables as JSON. */
export function JsonResult({ label, onReady }: { label: string; onReady: (filled: Filled | null) => void }): JSX.Element {
  const give = (value: unknown): void => onReady(value === undefined ? null : () => value as Record<string, unknown>);
  useEffect(() => {
    give({});
    return () => onReady(null);
  }, []);
  return (
    <Field label={label}>
      {(id) => <JsonEditor id={id} initial={{}} isObject rows={5} onChange={give} />}
    </Field>
  );
}

/** What a process is given at its start: the form of its start event where it has one, variables as JSON otherwise or at will. */
export function StartVariables({ schema, onReady }: { schema: string | null | undefined; onReady: (filled: Filled | null) => void }): JSX.Element {
  const t = useWords(words);
  const [isJson, setJson] = useState(false);
  if (schema === undefined) return <Loading />;
  if (schema === null) return <JsonResult label={t.variables} onReady={onReady} />;
  return (
    <div class="start-variables">
      {isJson ? <JsonResult label={t.variables} onReady={onReady} /> : <FormView schema={schema} data={{}} isReadOnly={false} onReady={onReady} />}
      <Button kind="ghost" onClick={() => setJson(!isJson)}>{isJson ? t.asForm : t.asJson}</Button>
    </div>
  );
}
