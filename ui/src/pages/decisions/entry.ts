import type { PageEntry } from "@/pages/entry";

export const entry: PageEntry = {
  id: "decisions",
  order: 50,
  icon: "decisions",
  title: { en: "Decisions", ru: "Решения" },
  home: "/decisions",
  routes: [
    { path: "/decisions", load: () => import("./list") },
    { path: "/decisions/:key", load: () => import("./one") },
  ],
};
