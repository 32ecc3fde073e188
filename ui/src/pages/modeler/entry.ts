import type { PageEntry } from "@/pages/entry";
import { takeDroppedFiles } from "./drop";

takeDroppedFiles();

export const entry: PageEntry = {
  id: "modeler",
  order: 60,
  icon: "modeler",
  title: { en: "Modeler", ru: "Редактор" },
  home: "/modeler",
  routes: [
    { path: "/modeler", load: () => import("./begin") },
    { path: "/modeler/edit", load: () => import("./edit") },
    { path: "/modeler/new/:kind", load: () => import("./edit") },
    { path: "/modeler/deployed/:kind/:key", load: () => import("./edit") },
  ],
};
