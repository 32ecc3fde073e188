// What can be done to an instance as a whole.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAct } from "@/base/ask";
import type { BpmnModel } from "@/base/bpmn";
import type { Instance } from "@/base/camunda";
import { navigate, segment } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { confirm } from "@/parts/dialog";
import { toast, toastProblem } from "@/parts/feedback";
import { problemOf } from "@/base/ask";
import { Menu, type MenuItem } from "@/parts/menu";
import { RetryDialog } from "@/pages/instance/dialogs";
import type { Now } from "@/pages/instance/data";
import { MigrateDialog } from "@/pages/instance/migrate";
import { RestartDialog } from "@/pages/instance/restart";
import { words } from "@/pages/instance/words";

interface ActionsProps {
  instance: Instance;
  now: Now | undefined;
  model: BpmnModel | undefined;
  onDone: () => void;
  onMove: () => void;
}

export function InstanceActions({ instance, now, model, onDone, onMove }: ActionsProps): JSX.Element {
  const t = useWords(words);
  const [open, setOpen] = useState<"migrate" | "restart" | "resolve" | null>(null);
  const { isBusy, act } = useAct();
  const path = `/v2/process-instances/${instance.processInstanceKey}`;
  const isOver = instance.state === "COMPLETED" || instance.state === "TERMINATED";
  const isSuspended = instance.state === "SUSPENDED";
  const command = async (name: string, said: string): Promise<void> => {
    await act(async () => {
      try {
        await api.post(`${path}/${name}`, {});
        toast(said);
        onDone();
      } catch (error) {
        toastProblem(problemOf(error));
      }
    });
  };
  const cancel = async (): Promise<void> => {
    const isDone = await confirm({ title: t.cancel, text: t.cancelText, verb: t.cancel, isDangerous: true, act: () => api.post(`${path}/cancellation`, {}) });
    if (isDone) {
      toast(t.canceled);
      onDone();
    }
  };
  const remove = async (): Promise<void> => {
    const isDone = await confirm({ title: t.deleteInstance, text: t.deleteText, verb: t.deleteInstance, isDangerous: true, act: () => api.post(`${path}/deletion`, {}) });
    if (isDone) {
      toast(t.deleted);
      navigate(`/processes/${segment(instance.processDefinitionId)}`);
    }
  };
  const items: MenuItem[] = isOver
    ? [{ title: t.deleteInstance, icon: "trash", role: "operator", isDangerous: true, onClick: () => void remove() }]
    : [
        { title: t.move, icon: "move", role: "operator", onClick: onMove, disabled: isSuspended || !now?.elements.length },
        { title: t.migrate, icon: "upload", role: "operator", onClick: () => setOpen("migrate") },
        { title: t.cancel, icon: "stop", role: "operator", isDangerous: true, onClick: () => void cancel() },
      ];
  return (
    <>
      {(now?.incidents.length ?? 0) > 0 && (
        <Button kind="primary" icon="retry" role="operator" onClick={() => setOpen("resolve")}>{t.resolveAll}</Button>
      )}
      {isOver && <Button kind="primary" icon="play" role="operator" onClick={() => setOpen("restart")}>{t.restart}</Button>}
      {!isOver && (
        <Button icon={isSuspended ? "play" : "pause"} role="operator" isBusy={isBusy} onClick={() => void (isSuspended ? command("resumption", t.isResumed) : command("suspension", t.isSuspended))}>
          {isSuspended ? t.resume : t.suspend}
        </Button>
      )}
      <Menu label={t.more} icon="dots" isBare items={items} />
      {open === "migrate" && model && <MigrateDialog instance={instance} model={model} now={now} onClose={() => setOpen(null)} onDone={onDone} />}
      {open === "restart" && model && <RestartDialog instance={instance} model={model} onClose={() => setOpen(null)} />}
      {open === "resolve" && <RetryDialog retry={{ instanceKey: instance.processInstanceKey, isJob: now?.incidents.some(({ jobKey }) => jobKey !== null) ?? true }} onClose={() => setOpen(null)} onDone={onDone} />}
    </>
  );
}
