// Filters that stand in the address: what is shown can be sent to somebody, and found again by going back.

import type { JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { setQuery, useRoute } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { words } from "@/parts/words";

export type Filter =
  | { name: string; label: string; kind: "text" | "date"; placeholder?: string; problem?: string | undefined }
  | { name: string; label: string; kind: "choice"; options: [value: string, label: string][] }
  | { name: string; label: string; kind: "flag" };

export type Filtered = Record<string, string>;

/** What the address says about these filters. */
export function useFilters(filters: Filter[]): Filtered {
  const { query } = useRoute();
  return Object.fromEntries(filters.flatMap(({ name }) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));
}

export function Filters({ filters, children }: { filters: Filter[]; children?: JSX.Element }): JSX.Element {
  const t = useWords(words);
  const values = useFilters(filters);
  const clear = (): void => setQuery(Object.fromEntries(filters.map(({ name }) => [name, ""])));
  return (
    <div class="filters" role="search">
      {filters.map((filter) => (
        <One key={filter.name} filter={filter} value={values[filter.name] ?? ""} />
      ))}
      {Object.keys(values).length > 0 && (
        <Button kind="ghost" icon="close" onClick={clear}>
          {t.clearFilters}
        </Button>
      )}
      {children}
    </div>
  );
}

function One({ filter, value }: { filter: Filter; value: string }): JSX.Element {
  const id = useId();
  const change = (next: string): void => setQuery({ [filter.name]: next });
  if (filter.kind === "flag") {
    return (
      <label class="flag">
        <input type="checkbox" checked={value !== ""} onChange={() => change(value ? "" : "yes")} />
        {filter.label}
      </label>
    );
  }
  return (
    <div class="filter">
      <label for={id}>{filter.label}</label>
      {filter.kind === "choice" ? (
        <select id={id} value={value} onChange={(event) => change(event.currentTarget.value)}>
          {filter.options.map(([each, label]) => (
            <option key={each} value={each}>{label}</option>
          ))}
        </select>
      ) : filter.kind === "date" ? (
        <input id={id} type="datetime-local" value={value} {...marked(id, filter.problem)} onChange={(event) => change(event.currentTarget.value)} />
      ) : (
        <TypedText id={id} value={value} placeholder={filter.placeholder} problem={filter.problem} onChange={change} />
      )}
      {"problem" in filter && filter.problem && <small id={`${id}-problem`} class="bad">{filter.problem}</small>}
    </div>
  );
}

/** What says of a field that it cannot be meant like this. */
function marked(id: string, problem: string | undefined): { "aria-invalid": boolean; "aria-describedby"?: string } {
  return problem ? { "aria-invalid": true, "aria-describedby": `${id}-problem` } : { "aria-invalid": false };
}

/** Text that counts once one stops typing, and at once with Enter. */
function TypedText(props: { id: string; value: string; placeholder?: string | undefined; problem?: string | undefined; onChange: (value: string) => void }): JSX.Element {
  const [text, setText] = useState(props.value);
  useEffect(() => setText(props.value), [props.value]);
  useEffect(() => {
    if (text === props.value) return;
    const timer = setTimeout(() => props.onChange(text), 350);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      id={props.id}
      type="search"
      value={text}
      placeholder={props.placeholder}
      {...marked(props.id, props.problem)}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => event.key === "Enter" && props.onChange(text)}
    />
  );
}
