import type { PageEntry } from "@/pages/entry";

export const entry: PageEntry = {
  id: "instance",
  order: 21,
  icon: "processes",
  title: { en: "Instance", ru: "Экземпляр" },
  under: "processes",
  routes: [{ path: "/instances/:key", load: () => import("./one") }],
};
