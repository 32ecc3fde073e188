// Questions to the server that a component keeps asking: the answer, the problem, whether it is on its way.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem, type Page } from "@/base/api";
import { useLive, type Topic } from "@/base/live";

export interface Asked<T> {
  data: T | undefined;
  problem: Problem | undefined;
  isLoading: boolean; // the first answer to this question is on its way
  reload: () => void;
}

export function problemOf(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, "Error", error instanceof Error ? error.message : String(error));
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/**
 * Asks when `key` changes and whenever something happens under one of the topics; null as a key asks nothing.
 * The former answer to the same question stays until the next one is there, so that nothing flickers.
 */
export function useAsk<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>, topics: Topic[] = []): Asked<T> {
  const [state, setState] = useState<{ key: string | null; data?: T; problem?: Problem }>({ key });
  const asking = useRef(ask);
  asking.current = ask;
  const running = useRef<AbortController | null>(null);

  const reload = useCallback(() => {
    if (key === null) return;
    running.current?.abort();
    const control = new AbortController();
    running.current = control;
    asking.current(control.signal).then(
      (data) => {
        if (!control.signal.aborted) setState({ key, data });
      },
      (error: unknown) => {
        if (control.signal.aborted || isAbort(error)) return;
        setState((old) => ({ key, data: old.key === key ? old.data : undefined, problem: problemOf(error) }));
      },
    );
  }, [key]);

  useEffect(() => {
    reload();
    return () => running.current?.abort();
  }, [reload]);
  useLive(topics, reload);

  const isSame = state.key === key;
  return {
    data: isSame ? state.data : undefined,
    problem: isSame ? state.problem : undefined,
    isLoading: key !== null && (!isSame || (state.data === undefined && state.problem === undefined)),
    reload,
  };
}

const LOOKED_FOR = 20; // rows, before a reader has to ask for more
const LOOKS = 8;

export interface Listed<T> extends Asked<T[]> {
  total: number | undefined;
  isTotalBound: boolean; // there are at least so many
  hasMore: boolean;
  isLoadingMore: boolean;
  more: () => void;
}

/**
 * A list that is read page by page, by cursors. `ask` gets the cursor of the page before, or undefined for the first one.
 * What is shown is read again when something happens, up to the first page; further pages stay until then. `looksOn`: an answer
 * that has looked at as much as one may, and found little, is asked on by itself, a few times.
 */
export function useList<T>(
  key: string | null,
  ask: (after: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  topics: Topic[] = [],
  looksOn = false,
): Listed<T> {
  const first = useAsk(key, (signal) => ask(undefined, signal), topics);
  const [rest, setRest] = useState<{ of: string | null; pages: Page<T>[] }>({ of: key, pages: [] });
  const [problem, setProblem] = useState<Problem | undefined>();
  const [isLoadingMore, setLoadingMore] = useState(false);
  const pages = rest.of === key ? rest.pages : [];
  const last = pages.at(-1) ?? first.data;
  const cursor = last?.page?.endCursor ?? undefined;
  const items = first.data && [...first.data.items, ...pages.flatMap((page) => page.items)];
  const total = first.data?.page?.totalItems;
  const isTotalBound = first.data?.page?.hasMoreTotalItems ?? false;

  const more = (): void => {
    if (!cursor || isLoadingMore) return;
    setLoadingMore(true);
    const control = new AbortController();
    ask(cursor, control.signal)
      .then((page) => setRest({ of: key, pages: [...pages, page] }))
      .catch((error: unknown) => setProblem(problemOf(error)))
      .finally(() => setLoadingMore(false));
  };
  // an empty page with a cursor: nothing was found as far as was looked
  const hasMore = Boolean(cursor) && items !== undefined && last !== undefined &&
    (last.items.length === 0 || total === undefined || isTotalBound || items.length < total);
  const goesOn = looksOn && hasMore && !problem && (items?.length ?? 0) < LOOKED_FOR && pages.length < LOOKS;
  useEffect(() => {
    if (goesOn) more();
  }, [goesOn, cursor, isLoadingMore]);
  return {
    data: items,
    problem: first.problem ?? problem,
    isLoading: first.isLoading,
    reload: first.reload,
    total,
    isTotalBound,
    hasMore,
    isLoadingMore: isLoadingMore || goesOn,
    more,
  };
}

/** Something that a person does: whether it is under way, and what became of it. */
export function useAct(): { isBusy: boolean; problem: Problem | undefined; act: (doing: () => Promise<unknown>) => Promise<boolean>; forget: () => void } {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const act = async (doing: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await doing();
      return true;
    } catch (error) {
      setProblem(problemOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, act, forget: () => setProblem(undefined) };
}
