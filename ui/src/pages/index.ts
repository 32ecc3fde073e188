// The table of pages: every folder beside this file that has an `entry.ts`.

import type { PageEntry } from "@/pages/entry";

const found = import.meta.glob<{ entry: PageEntry }>("./*/entry.ts", { eager: true });

export const pages: PageEntry[] = Object.values(found)
  .map((module) => module.entry)
  .sort((one, other) => one.order - other.order);
