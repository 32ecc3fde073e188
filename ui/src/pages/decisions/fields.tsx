// A field for each input, fit for its type. An empty one is not given.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { readJson } from "@/base/json";
import { useWords } from "@/base/words";
import { Field } from "@/parts/dialog";
import type { Input } from "./inputs";
import { words } from "./words";

type Values = Record<string, unknown>;

export function Fields(props: { inputs: Input[]; values: Values; onChange: (values: Values) => void }): JSX.Element {
  const change = (name: string, value: unknown): void => {
    const rest = Object.fromEntries(Object.entries(props.values).filter(([each]) => each !== name));
    props.onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  return (
    <>
      {props.inputs.map((input) => (
        <Field key={input.name} label={input.name} hint={input.type === "any" ? "JSON" : input.type}>
          {(id) => <One id={id} input={input} value={props.values[input.name]} onChange={(value) => change(input.name, value)} />}
        </Field>
      ))}
    </>
  );
}

interface OneProps {
  id: string;
  input: Input;
  value: unknown;
  onChange: (value: unknown) => void;
}

const KINDS: Partial<Record<Input["type"], string>> = { number: "number", date: "date", time: "time", dateTime: "datetime-local" };

function One({ id, input, value, onChange }: OneProps): JSX.Element {
  const t = useWords(words);
  if (input.type === "boolean") {
    return (
      <select id={id} value={value === undefined ? "" : String(value)} onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value === "true")}>
        <option value="">{t.unset}</option>
        <option value="true">{t.yes}</option>
        <option value="false">{t.no}</option>
      </select>
    );
  }
  if (input.options.length) {
    return (
      <select id={id} value={typeof value === "string" ? value : ""} onChange={(event) => onChange(event.currentTarget.value || undefined)}>
        <option value="">{t.unset}</option>
        {input.options.map((option) => <option key={option} value={option}>{option}</option>)}
      </select>
    );
  }
  if (input.type === "any") return <AnyValue id={id} onChange={onChange} />;
  return (
    <input
      id={id}
      type={(KINDS[input.type] ?? "text") as "text"}
      step="any"
      value={value === undefined ? "" : String(value)}
      onInput={(event) => {
        const text = event.currentTarget.value;
        onChange(text === "" ? undefined : input.type === "number" ? Number(text) : text);
      }}
    />
  );
}

/** Any JSON; what is none is taken as a text. */
function AnyValue({ id, onChange }: { id: string; onChange: (value: unknown) => void }): JSX.Element {
  const [text, setText] = useState("");
  const read = (next: string): void => {
    setText(next);
    try {
      onChange(next.trim() === "" ? undefined : readJson(next));
    } catch {
      onChange(next);
    }
  };
  return <textarea id={id} rows={2} spellcheck={false} value={text} onInput={(event) => read(event.currentTarget.value)} />;
}
