// Who the reader is where the server does not ask, and which groups they belong to.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import { words as partWords } from "@/parts/words";
import { groups, person } from "@/pages/tasks/data";
import { listOf } from "@/pages/tasks/change";
import { words } from "@/pages/tasks/words";

export function WhoDialog({ asksName, onClose }: { asksName: boolean; onClose: () => void }): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const [name, setName] = useState(person.get());
  const [of, setOf] = useState(groups.get().join(", "));
  const save = (): void => {
    if (asksName) person.set(name.trim());
    groups.set(listOf(of));
    onClose();
  };
  return (
    <Dialog
      title={t.settings}
      onClose={onClose}
      onSubmit={save}
      buttons={
        <>
          <Button onClick={onClose}>{parts.cancel}</Button>
          <Button kind="primary" type="submit">{t.save}</Button>
        </>
      }
    >
      {asksName && <Field label={t.workAs} hint={t.workAsHint}>{(id) => <input id={id} value={name} autocomplete="username" onInput={(event) => setName(event.currentTarget.value)} />}</Field>}
      <Field label={t.myGroups} hint={t.myGroupsHint}>{(id) => <input id={id} value={of} onInput={(event) => setOf(event.currentTarget.value)} />}</Field>
    </Dialog>
  );
}
