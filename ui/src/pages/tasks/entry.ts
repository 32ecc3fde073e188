import type { PageEntry } from "@/pages/entry";

export const entry: PageEntry = {
  id: "tasks",
  order: 30,
  icon: "tasks",
  title: { en: "Tasks", ru: "Задачи" },
  home: "/tasks",
  routes: [{ path: "/tasks", load: () => import("./inbox") }],
};
