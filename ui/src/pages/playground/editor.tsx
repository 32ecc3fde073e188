// One field for FEEL: colours, completion with the names of the values, and the server's errors as one types.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { EditorView } from "@codemirror/view";
import FeelEditor from "@bpmn-io/feel-editor";
import "@/parts/bpmn-io/bpmn-io.css";

export function FeelField(props: { label: string; value: string; isTests: boolean; context: unknown; onChange: (value: string) => void }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<FeelEditor | null>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (!place.current) return;
    editor.current = new FeelEditor({
      container: place.current,
      value: props.value,
      dialect: props.isTests ? "unaryTests" : "expression",
      variables: variablesOf(props.context),
      contentAttributes: { "aria-label": props.label, "aria-multiline": "true" },
      extensions: [EditorView.lineWrapping],
      onChange: (value: string) => latest.current.onChange(value),
    });
    return () => place.current?.replaceChildren();
  }, []);
  const names = JSON.stringify(variablesOf(props.context));
  useEffect(() => editor.current?.setVariables(variablesOf(latest.current.context)), [names]);
  return <div class="feel-field" ref={place} />;
}

interface Variable {
  name: string;
  detail?: string;
  entries?: Variable[];
  isList?: boolean;
}

const DEPTH_MAX = 4;

/** The names that a value offers, for completion. */
function variablesOf(context: unknown, depth = 0): Variable[] {
  if (typeof context !== "object" || context === null || Array.isArray(context) || depth > DEPTH_MAX) return [];
  return Object.entries(context).map(([name, value]) => {
    const inner: unknown = Array.isArray(value) ? value[0] : value;
    return { name, detail: Array.isArray(value) ? "list" : typeof value, isList: Array.isArray(value), entries: variablesOf(inner, depth + 1) };
  });
}
