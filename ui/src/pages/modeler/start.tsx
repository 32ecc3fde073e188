// Starts an instance of the version that is deployed.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Problem } from "@/base/api";
import { useAct, useAsk } from "@/base/ask";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Key } from "@/parts/data";
import { Dialog, Field } from "@/parts/dialog";
import { ProblemBox } from "@/parts/feedback";
import { StartVariables, type Filled } from "@/parts/form";
import { Icon } from "@/parts/icons";
import { words as partWords } from "@/parts/words";
import { start, startForm } from "./server";
import { words } from "./words";
import type { OpenFile } from "./workbench";

export function StartDialog(props: { origin: NonNullable<OpenFile["origin"]>; isChanged: boolean; onClose: () => void }): JSX.Element {
  const t = useWords(words);
  const { isBusy, problem, act } = useAct();
  const parts = useWords(partWords);
  const [filled, setFilled] = useState<Filled | null>(null);
  const form = useAsk(`start form ${props.origin.key}`, (signal) => startForm(props.origin.key, signal));
  const [businessId, setBusinessId] = useState("");
  const [started, setStarted] = useState("");
  const go = (): void =>
    void act(async () => {
      const variables = filled?.();
      if (!variables) throw new Problem(0, parts.fillIn, "");
      setStarted(await start(props.origin.key, variables, businessId.trim()));
    });
  return (
    <Dialog
      title={t.startTitle(props.origin.id, props.origin.version)}
      onClose={props.onClose}
      problem={problem}
      onSubmit={go}
      buttons={
        <>
          <Button onClick={props.onClose}>{t.close}</Button>
          <Button kind="primary" icon="play" type="submit" role="operator" isBusy={isBusy} disabled={!filled}>{t.start}</Button>
        </>
      }
    >
      {props.isChanged && <p class="soft">{t.startChanged}</p>}
      {form.problem && <ProblemBox problem={form.problem} onRetry={form.reload} />}
      <StartVariables schema={form.problem ? null : form.data} onReady={(next) => setFilled(() => next)} />
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
