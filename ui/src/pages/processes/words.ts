import { catalogue } from "@/base/words";

export const words = catalogue({
  en: { title: "Processes", process: "Process", version: "Version", none: "No process is deployed yet", noneNext: "Drop a BPMN file here, draw one in the modeler, or:" },
  ru: { title: "Процессы", process: "Процесс", version: "Версия", none: "Ни один процесс ещё не развёрнут", noneNext: "Перетащите сюда файл BPMN, нарисуйте процесс в редакторе или:" },
});
