// What a task asks for: its form, drawn by form-js, or the variables as JSON where it has none.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWords } from "@/base/words";
import { JsonEditor } from "@/parts/data";
import { Field } from "@/parts/dialog";
import { Loading, ProblemBox } from "@/parts/feedback";
import { Problem } from "@/base/api";
import { problemOf } from "@/base/ask";
import type { TaskForm } from "@/pages/tasks/data";
import { words } from "@/pages/tasks/words";

/** Gives what was filled in, or null while that is not complete (and says so where it is not). */
export type Filled = () => Record<string, unknown> | null;

interface Viewer {
  importSchema(schema: object, data: object): Promise<unknown>;
  submit(): { data: Record<string, unknown>; errors: Record<string, string[]> };
  setProperty(name: string, value: unknown): void;
  destroy(): void;
}

export function FormView(props: { form: TaskForm; data: Record<string, unknown>; isReadOnly: boolean; onReady: (filled: Filled | null) => void }): JSX.Element {
  const t = useWords(words);
  const box = useRef<HTMLDivElement>(null);
  const viewer = useRef<Viewer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    let isGone = false;
    const open = async (): Promise<void> => {
      const { drawn } = await import("@/pages/tasks/form-js");
      if (isGone || !box.current) return;
      const form: Viewer = drawn(box.current);
      viewer.current = form;
      form.setProperty("readOnly", props.isReadOnly);
      await form.importSchema(JSON.parse(props.form.schema) as object, props.data);
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
  }, [props.form.schema]);
  useEffect(() => viewer.current?.setProperty("readOnly", props.isReadOnly), [props.isReadOnly]);
  return (
    <>
      {problem && (
        <>
          <ProblemBox problem={new Problem(0, t.badForm, problem.detail || problem.message)} />
          {!props.isReadOnly && <JsonResult onReady={props.onReady} />}
        </>
      )}
      {!isReady && !problem && <Loading />}
      <div ref={box} class="task-form" />
    </>
  );
}

/** Variables as JSON. */
export function JsonResult({ onReady }: { onReady: (filled: Filled | null) => void }): JSX.Element {
  const t = useWords(words);
  const value = useRef<unknown>({});
  useEffect(() => {
    onReady(() => (value.current === undefined ? null : (value.current as Record<string, unknown>)));
    return () => onReady(null);
  }, []);
  return (
    <Field label={t.result}>
      {(id) => <JsonEditor id={id} initial={{}} isObject rows={5} onChange={(next) => { value.current = next; }} />}
    </Field>
  );
}
