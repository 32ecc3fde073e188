// Addresses that can be shared: paths by the history API, filters in the query.

import type { AnchorHTMLAttributes, ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const CHANGED = "procession:route";

/** Goes to an address of this page; `replace` where going back should not come here again. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search) return;
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  dispatchEvent(new Event(CHANGED));
}

/** Where the reader is. */
export function useRoute(): { path: string; query: URLSearchParams } {
  const [, turn] = useState(0);
  useEffect(() => {
    const again = (): void => turn((count) => count + 1);
    addEventListener("popstate", again);
    addEventListener(CHANGED, again);
    return () => {
      removeEventListener("popstate", again);
      removeEventListener(CHANGED, again);
    };
  }, []);
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** The values of `:names` in a pattern such as `/processes/:id`, or undefined where it does not fit. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith(":")) found[part.slice(1)] = named(value);
    else if (part !== value) return undefined;
  }
  return found;
}

/** A name as a part of a path. Browsers take "." and ".." for steps, however they are written: a tilde stands before those. */
export function segment(name: string): string {
  return encodeURIComponent(/^~*\.{0,2}$/.test(name) ? `~${name}` : name);
}

function named(text: string): string {
  const name = safeDecode(text);
  return /^~+\.{0,2}$/.test(name) ? name.slice(1) : name;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One value of the query, and how to change it. An empty value leaves the address. */
export function useQuery(name: string, initial = ""): [string, (value: string) => void] {
  const { query } = useRoute();
  return [query.get(name) ?? initial, (value) => setQuery({ [name]: value === initial ? "" : value })];
}

/** Changes values of the query; the address stays one step in the browser's history. */
export function setQuery(values: Record<string, string | undefined>, options = { replace: true }): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  navigate(location.pathname + (text ? `?${text}` : ""), options);
}

type LinkProps = Pick<AnchorHTMLAttributes, "class" | "title" | "aria-current" | "aria-label" | "id"> & {
  to: string;
  onClick?: (event: MouseEvent) => void;
  children?: ComponentChildren;
};

/** A link within the page. It is a link: it can be opened in another tab, copied, and reached by keyboard. */
export function Link({ to, onClick, ...rest }: LinkProps): JSX.Element {
  return (
    <a
      {...rest}
      href={to}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        navigate(to);
        scrollTo(0, 0);
      }}
    />
  );
}
