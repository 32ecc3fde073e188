// The state of an instance, in words and colour.

import type { JSX } from "preact";
import type { InstanceState } from "@/base/camunda";
import { type Catalogue, catalogue, useWords } from "@/base/words";
import { State } from "@/parts/data";

export const stateWords = catalogue({
  en: { ACTIVE: "running", COMPLETED: "completed", TERMINATED: "terminated", SUSPENDED: "suspended", INCIDENT: "incident" },
  ru: { ACTIVE: "идёт", COMPLETED: "завершён", TERMINATED: "прерван", SUSPENDED: "приостановлен", INCIDENT: "инцидент" },
});

/** Kinds of incidents, by the server's names. */
const kindWords: Catalogue<Record<string, string>> = {
  en: {}, // the names are words
  ru: {
    JOB_NO_RETRIES: "у задания кончились попытки", UNHANDLED_ERROR_EVENT: "ошибку никто не поймал", CONDITION_ERROR: "ошибка в условии",
    IO_MAPPING_ERROR: "ошибка в соответствии переменных", EXTRACT_VALUE_ERROR: "ошибка в выражении", CALLED_ELEMENT_ERROR: "вызываемого процесса нет",
    DECISION_EVALUATION_ERROR: "ошибка в решении", CALLED_DECISION_ERROR: "вызываемого решения нет", MESSAGE_SIZE_EXCEEDED: "сообщение слишком велико",
    FORM_NOT_FOUND: "формы нет", CALL_DEPTH_EXCEEDED: "слишком много вызовов друг в друге", AD_HOC_ERROR: "ошибка в ad-hoc-подпроцессе",
    LISTENER_NO_RETRIES: "у слушателя кончились попытки", EXECUTION_LISTENER_NO_RETRIES: "у слушателя кончились попытки",
    TASK_LISTENER_NO_RETRIES: "у слушателя кончились попытки", COMPENSATION_ERROR: "ошибка при компенсации", UNKNOWN: "неизвестная ошибка",
  },
};

export function KindOfIncident({ kind }: { kind: string }): JSX.Element {
  const t = useWords(kindWords);
  return <small>{t[kind] ?? kind.toLowerCase().replaceAll("_", " ")}</small>;
}

export function StateOfInstance({ state, hasIncident }: { state: InstanceState; hasIncident: boolean }): JSX.Element {
  const t = useWords(stateWords);
  const isBroken = hasIncident && state === "ACTIVE";
  return <State state={isBroken ? "INCIDENT" : state} label={isBroken ? t.INCIDENT : t[state]} />;
}
