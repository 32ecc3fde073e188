import type { PageEntry } from "@/pages/entry";

export const entry: PageEntry = {
  id: "jobs",
  order: 40,
  icon: "jobs",
  title: { en: "Jobs", ru: "Задания" },
  home: "/jobs",
  routes: [
    { path: "/jobs", load: () => import("./list") },
    { path: "/jobs/queues", load: () => import("./queues") },
    { path: "/jobs/recurring", load: () => import("./recurring") },
    { path: "/jobs/recurring/:name", load: () => import("./recurrence") },
    { path: "/jobs/limits", load: () => import("./limits") },
    { path: "/jobs/batches", load: () => import("./batches") },
    { path: "/jobs/flows", load: () => import("./flows") },
    { path: "/jobs/flows/:key", load: () => import("./flows") },
    { path: "/jobs/workers", load: () => import("./workers") },
    { path: "/jobs/:key", load: () => import("./one") },
  ],
};
