// Files that are dropped anywhere in the page. What follows is loaded only then.

import "./drop.css";
import { wordsNow } from "@/base/words";
import { words } from "./words";

const CLASS = "files-above";

/** From now on: files dropped anywhere are offered for deployment. */
export function takeDroppedFiles(): void {
  let depth = 0; // an element is entered before the last one is left
  const isAbove = (event: DragEvent): boolean =>
    (event.dataTransfer?.types.includes("Files") ?? false) && !(event.target as Element | null)?.closest?.('input[type="file"]');
  const leave = (): void => {
    depth = 0;
    document.documentElement.classList.remove(CLASS);
  };
  addEventListener("dragenter", (event) => {
    if (!isAbove(event)) return;
    depth += 1;
    document.documentElement.dataset.dropHere = wordsNow(words).dropHere;
    document.documentElement.classList.add(CLASS);
  });
  addEventListener("dragleave", (event) => {
    if (!isAbove(event)) return;
    depth -= 1;
    if (depth <= 0) leave();
  });
  addEventListener("dragover", (event) => {
    if (isAbove(event)) event.preventDefault();
  });
  // Before anything within: where a file lands must not decide what becomes of it.
  addEventListener(
    "drop",
    (event) => {
      if (!isAbove(event)) return;
      event.preventDefault();
      leave();
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length) void import("./offer").then((module) => module.offer(files));
    },
    { capture: true },
  );
}
