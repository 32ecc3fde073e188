// Saved views: sets of filters by a name, kept in this browser.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { setQuery, useRoute } from "@/base/route";
import { useStored } from "@/base/stored";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Dialog, Field } from "@/parts/dialog";
import { toast } from "@/parts/feedback";
import { Menu } from "@/parts/menu";
import { words } from "@/pages/processes/words";

interface View {
  name: string;
  values: Record<string, string>;
}

const views = useStored.create<View[]>("instance-views", []);

export function SavedViews({ filters }: { filters: string[] }): JSX.Element {
  const t = useWords(words);
  const saved = views.use();
  const { query } = useRoute();
  const [isNaming, setNaming] = useState(false);
  const values = Object.fromEntries(filters.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));
  const apply = (view: View): void => setQuery({ ...Object.fromEntries(filters.map((name) => [name, ""])), ...view.values });
  return (
    <>
      <Menu
        label={t.savedViews}
        icon="save"
        empty={t.noViews}
        items={[
          ...saved.map((view) => ({
            title: view.name,
            onClick: () => apply(view),
            onRemove: { label: t.removeView(view.name), act: () => views.set(saved.filter((each) => each !== view)) },
          })),
          ...(Object.keys(values).length > 0 ? [{ title: t.saveView, icon: "plus" as const, onClick: () => setNaming(true) }] : []),
        ]}
      />
      {isNaming && (
        <NameView
          onClose={() => setNaming(false)}
          onSave={(name) => {
            views.set([...saved.filter((view) => view.name !== name), { name, values }]);
            setNaming(false);
            toast(t.viewSaved, name);
          }}
        />
      )}
    </>
  );
}

function NameView({ onClose, onSave }: { onClose: () => void; onSave: (name: string) => void }): JSX.Element {
  const t = useWords(words);
  const [name, setName] = useState("");
  return (
    <Dialog title={t.saveView} onClose={onClose} onSubmit={() => name.trim() && onSave(name.trim())} buttons={<Button kind="primary" type="submit" disabled={!name.trim()}>{t.save}</Button>}>
      <Field label={t.viewName}>{(id) => <input id={id} value={name} maxLength={60} onInput={(event) => setName(event.currentTarget.value)} />}</Field>
      <p class="soft">{t.viewsPlace}</p>
    </Dialog>
  );
}
