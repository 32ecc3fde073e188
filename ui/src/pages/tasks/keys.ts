// The keyboard: up and down the list, and what is done with the task that is open, said to it as an event.

import { useLayoutEffect } from "preact/hooks"; // before the next key can come
import type { Task } from "@/pages/tasks/data";

/** What a key asks of the task that is open. */
export type Wish = "take" | "complete";
const WISHED = "procession:task";
const DOWN = new Set(["j", "ArrowDown"]);
const UP = new Set(["k", "ArrowUp"]);

export function useKeys(shown: Task[], chosen: string, choose: (key: string) => void): void {
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (document.querySelector("dialog[open]")) return;
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return wish("complete", event);
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      if (event.key === "Escape" && chosen) return choose("");
      if (event.key === "c") return wish("take", event);
      const step = DOWN.has(event.key) ? 1 : UP.has(event.key) ? -1 : 0;
      if (!step || shown.length === 0) return;
      event.preventDefault();
      const at = shown.findIndex((task) => task.userTaskKey === chosen);
      const next = shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + step))];
      if (next) choose(next.userTaskKey);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [shown, chosen]);
}

function wish(what: Wish, event: KeyboardEvent): void {
  event.preventDefault();
  dispatchEvent(new CustomEvent<Wish>(WISHED, { detail: what }));
}

/** Whoever shows a task does what a key asks. */
export function useWishes(grant: (what: Wish) => void): void {
  useLayoutEffect(() => {
    const hear = (event: Event): void => grant((event as CustomEvent<Wish>).detail);
    addEventListener(WISHED, hear);
    return () => removeEventListener(WISHED, hear);
  });
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input:not([type=checkbox]), textarea, select, [contenteditable], .fjs-container") !== null;
}
