// What is drawn and not deployed yet, kept in the browser: each file under a name of its own, so that neither another tab
// nor another file takes its place.

import { me } from "@/base/me";
import type { OpenFile } from "./workbench";

export interface Draft {
  id: string;
  at: number;
  owner: string; // whoever has drawn it: others of this browser are not shown it
  file: OpenFile;
}

const PREFIX = "procession.modeler-draft.";
const MINE = "procession.modeler-draft"; // of this tab: the one that is open
const CHARS_MAX = 2_000_000; // browsers keep about 5 MB for a site

export const newId = (): string => crypto.randomUUID();

const owner = (): string => me.current?.username ?? "";

/** All of the reader, the newest first. */
export function drafts(): Draft[] {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
    return names.flatMap((name) => read(name) ?? []).filter((draft) => draft.owner === owner()).sort((one, other) => other.at - one.at);
  } catch {
    return []; // storage is forbidden
  }
}

/** The one that was open in this tab, or else the newest. */
export function ownDraft(): Draft | undefined {
  const all = drafts();
  return all.find(({ id }) => id === sessionStorage.getItem(MINE)) ?? all[0];
}

/** Whether it is kept: it may be too large, or there is no room. */
export function keepDraft(id: string, file: OpenFile): boolean {
  if (file.content.length > CHARS_MAX) return false;
  try {
    localStorage.setItem(PREFIX + id, JSON.stringify({ id, at: Date.now(), owner: owner(), file } satisfies Draft));
    sessionStorage.setItem(MINE, id);
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(id: string): void {
  try {
    localStorage.removeItem(PREFIX + id);
  } catch {
    // there is none
  }
}

function read(name: string): Draft | undefined {
  try {
    const draft = JSON.parse(localStorage.getItem(name) ?? "null") as Draft | null;
    return draft && typeof draft.file?.content === "string" ? { ...draft, id: name.slice(PREFIX.length) } : undefined;
  } catch {
    return undefined; // somebody else wrote it
  }
}
