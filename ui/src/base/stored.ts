// Values that outlive a page: the theme, the language, saved views. In the browser's storage, or in memory if it has none.

import { useEffect, useState } from "preact/hooks";

export interface Stored<T> {
  get(): T;
  set(value: T): void;
  use(): T;
  listen(reader: (value: T) => void): () => void;
}

const PREFIX = "procession.";

function create<T>(name: string, initial: T, storage: "local" | "session" = "local"): Stored<T> {
  const readers = new Set<(value: T) => void>();
  let value = read<T>(name, storage) ?? initial;
  const listen = (reader: (value: T) => void): (() => void) => {
    readers.add(reader);
    return () => readers.delete(reader);
  };
  return {
    get: () => value,
    set(next) {
      value = next;
      write(name, next, storage);
      for (const reader of readers) reader(next);
    },
    use() {
      const [shown, show] = useState(value);
      useEffect(() => {
        show(() => value);
        return listen((next) => show(() => next));
      }, []);
      return shown;
    },
    listen,
  };
}

/** Makes values that components follow: `useStored.create("theme", "system")`. */
export const useStored = { create };

function read<T>(name: string, storage: "local" | "session"): T | undefined {
  try {
    const text = place(storage).getItem(PREFIX + name);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined; // storage is forbidden, or holds what somebody else wrote
  }
}

function write(name: string, value: unknown, storage: "local" | "session"): void {
  try {
    if (value === undefined || value === null) place(storage).removeItem(PREFIX + name);
    else place(storage).setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // it is remembered until the page is left
  }
}

function place(storage: "local" | "session"): Storage {
  return storage === "local" ? localStorage : sessionStorage;
}
