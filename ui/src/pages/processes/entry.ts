import type { PageEntry } from "@/pages/entry";

export const entry: PageEntry = {
  id: "processes",
  order: 20,
  icon: "processes",
  title: { en: "Processes", ru: "Процессы" },
  home: "/processes",
  routes: [
    { path: "/processes", load: () => import("./list") },
    { path: "/processes/:id", load: () => import("./one") },
    { path: "/instances", load: () => import("./all") },
    { path: "/batches", load: () => import("./batches") },
  ],
};
