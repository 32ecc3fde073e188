import type { PageEntry } from "@/pages/entry";

export const entry: PageEntry = {
  id: "playground",
  order: 70,
  icon: "playground",
  title: { en: "Playground", ru: "Песочница" },
  home: "/playground",
  routes: [{ path: "/playground", load: () => import("./playground") }],
};
