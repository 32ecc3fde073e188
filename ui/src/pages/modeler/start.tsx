// Starts an instance of the version that is deployed.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAct } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { JsonEditor, Key } from "@/parts/data";
import { Dialog, Field } from "@/parts/dialog";
import { Icon } from "@/parts/icons";
import { start } from "./server";
import { words } from "./words";
import type { OpenFile } from "./workbench";

export function StartDialog(props: { origin: NonNullable<OpenFile["origin"]>; isChanged: boolean; onClose: () => void }): JSX.Element {
  const t = useWords(words);
  const { isBusy, problem, act } = useAct();
  const [variables, setVariables] = useState<unknown>({});
  const [businessId, setBusinessId] = useState("");
  const [started, setStarted] = useState("");
  const go = (): void =>
    void act(async () => setStarted(await start(props.origin.key, variables as object, businessId.trim())));
  return (
    <Dialog
      title={t.startTitle(props.origin.id, props.origin.version)}
      onClose={props.onClose}
      problem={problem}
      onSubmit={go}
      buttons={
        <>
          <Button onClick={props.onClose}>{t.close}</Button>
          <Button kind="primary" icon="play" type="submit" role="operator" isBusy={isBusy} disabled={variables === undefined}>{t.start}</Button>
        </>
      }
    >
      {props.isChanged && <p class="soft">{t.startChanged}</p>}
      <Field label={t.variables}>
        {(id) => <JsonEditor id={id} initial={{}} isObject rows={6} onChange={setVariables} />}
      </Field>
      <Field label={t.businessId} hint={t.businessIdHint}>
        {(id) => <input id={id} value={businessId} onInput={(event) => setBusinessId(event.currentTarget.value)} />}
      </Field>
      {started && (
        <p class="started" role="status">
          <Icon name="check" size={16} /> {t.started} <Key value={started} /> · <Link to={`/instances/${started}`}>{t.showInstance}</Link>
        </p>
      )}
    </Dialog>
  );
}
