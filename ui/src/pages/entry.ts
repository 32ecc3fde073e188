// What a page says about itself. A page is a folder here with an `entry.ts`; nothing else has to know of it.

import type { FunctionComponent } from "preact";
import type { IconName } from "@/parts/icons";

export interface PageRoute {
  path: string; // "/processes/:id"; the values of the names are the component's `params`
  load: () => Promise<{ default: FunctionComponent<PageProps> }>;
}

export interface PageProps {
  params: Record<string, string>;
}

export interface PageEntry {
  id: string;
  order: number; // in the navigation
  icon: IconName;
  title: { en: string; ru: string };
  home?: string; // where the navigation leads; without one the page has no place in it
  under?: string; // the page whose place in the navigation is marked instead
  routes: PageRoute[];
}
