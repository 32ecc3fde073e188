import type { PageEntry } from "@/pages/entry";

export const entry: PageEntry = {
  id: "overview",
  order: 10,
  icon: "overview",
  title: { en: "Overview", ru: "Обзор" },
  home: "/overview",
  routes: [
    { path: "/", load: () => import("./overview") },
    { path: "/overview", load: () => import("./overview") },
  ],
};
