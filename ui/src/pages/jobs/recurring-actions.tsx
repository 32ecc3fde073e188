// What can be done to a recurring job: run it now, pause it, let it go on, delete it.

import type { JSX } from "preact";
import { api, withQuery } from "@/base/api";
import { problemOf, useAct } from "@/base/ask";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { confirm } from "@/parts/dialog";
import { toast, toastProblem } from "@/parts/feedback";
import { Menu } from "@/parts/menu";
import { part, type Recurring } from "@/pages/jobs/data";
import { words } from "@/pages/jobs/words";

/** The address of one, on the server. */
export function pathOf(name: string, tenantId: string, verb = ""): string {
  return withQuery(`/api/recurring/${part(name)}${verb}`, { tenantId });
}

export function RecurringActions({ of, onDone, onDeleted, isShort = false }: { of: Recurring; onDone: () => void; onDeleted?: () => void; isShort?: boolean }): JSX.Element {
  const t = useWords(words);
  const { isBusy, act } = useAct();
  const command = (verb: string, said: string): void => {
    void act(async () => {
      try {
        await api.post(pathOf(of.name, of.tenantId, `/${verb}`), {});
        toast(said, of.name);
      } catch (error) {
        toastProblem(problemOf(error));
      }
      onDone();
    });
  };
  const remove = async (): Promise<void> => {
    const isDone = await confirm({ title: t.deleteRecurring(of.name), text: t.deleteRecurringText, verb: t.remove, isDangerous: true, act: () => api.delete(pathOf(of.name, of.tenantId)) });
    if (!isDone) return;
    toast(t.removed, of.name);
    (onDeleted ?? onDone)();
  };
  const trigger = (): void => command("trigger", t.triggered);
  const turn = (): void => (of.isPaused ? command("resume", t.isResumed) : command("pause", t.isPausedNow));
  if (isShort) {
    return (
      <Menu
        label={of.name}
        icon="dots"
        isBare
        items={[
          { title: t.trigger, icon: "play", role: "operator", onClick: trigger },
          { title: of.isPaused ? t.resume : t.pause, icon: of.isPaused ? "play" : "pause", role: "operator", onClick: turn },
          { title: t.remove, icon: "trash", role: "operator", isDangerous: true, onClick: () => void remove() },
        ]}
      />
    );
  }
  return (
    <>
      <Button role="operator" icon="play" isBusy={isBusy} onClick={trigger}>{t.trigger}</Button>
      <Button role="operator" icon={of.isPaused ? "play" : "pause"} isBusy={isBusy} onClick={turn}>{of.isPaused ? t.resume : t.pause}</Button>
      <Button role="operator" icon="trash" onClick={() => void remove()}>{t.remove}</Button>
    </>
  );
}
