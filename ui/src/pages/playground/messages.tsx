// Why a message does not arrive: who waits for it, what differs, what is buffered, where a process would wait.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "@/base/api";
import { useAsk } from "@/base/ask";
import { Link, setQuery, useRoute } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, Key, When } from "@/parts/data";
import { Field } from "@/parts/dialog";
import { Shown } from "@/parts/feedback";
import { Icon } from "@/parts/icons";
import { slipOf, verdictOf, type Explained, type Waiting } from "./verdict";
import { words } from "./words";

export function Messages(): JSX.Element {
  const t = useWords(words);
  const { query } = useRoute();
  const name = query.get("name") ?? "";
  const correlationKey = query.get("key") ?? "";
  const asked = useAsk<Explained>(
    name ? `explain ${name} ${correlationKey}` : null,
    (signal) => api.get("/api/messages/explain", { name, correlationKey }, signal),
  ); // not live: it looks at everything that waits
  return (
    <div class="messages">
      <p class="soft">{t.explainLead}</p>
      <Ask key={`${name} ${correlationKey}`} name={name} correlationKey={correlationKey} onAgain={asked.reload} />
      {name && <Shown asked={asked}>{(explained) => <Explanation explained={explained} name={name} correlationKey={correlationKey} />}</Shown>}
    </div>
  );
}

function Ask(props: { name: string; correlationKey: string; onAgain: () => void }): JSX.Element {
  const t = useWords(words);
  const [name, setName] = useState(props.name);
  const [key, setKey] = useState(props.correlationKey);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (name.trim() === props.name && key === props.correlationKey) props.onAgain();
    else setQuery({ name: name.trim(), key });
  };
  return (
    <form class="messages-ask" onSubmit={submit}>
      <Field label={t.messageName}>
        {(id) => <input id={id} required value={name} placeholder="payment-received" onInput={(event) => setName(event.currentTarget.value)} />}
      </Field>
      <Field label={t.correlationKey} hint={t.correlationHint}>
        {(id) => <input id={id} value={key} placeholder="A-17" onInput={(event) => setKey(event.currentTarget.value)} />}
      </Field>
      <Button kind="primary" icon="search" type="submit">{t.explain}</Button>
    </form>
  );
}

function Explanation(props: { explained: Explained; name: string; correlationKey: string }): JSX.Element {
  const t = useWords(words);
  const { explained, name, correlationKey } = props;
  const show = (next: { name?: string; key?: string }): void => setQuery({ name, key: correlationKey, ...next });
  return (
    <div class="stack" role="status">
      <p class={`verdict ${explained.matches ? "good" : "warn"}`}>
        <Icon name={explained.matches ? "check" : "alert"} />
        <strong>{verdictOf(explained, name, correlationKey)}</strong>
      </p>
      {explained.similarNames.length > 0 && !explained.matches && (
        <Section title={t.similar}>
          <div class="row">
            {explained.similarNames.map((other) => <Button key={other} onClick={() => show({ name: other })}>{other}</Button>)}
          </div>
        </Section>
      )}
      {explained.matching.length > 0 && (
        <Section title={t.matching}>{explained.matching.map((row) => <One key={row.subscriptionKey} row={row} />)}</Section>
      )}
      {explained.nearMisses.length > 0 && (
        <Section title={t.nearMisses}>
          {explained.nearMisses.map((row) => (
            <One key={row.subscriptionKey} row={row} asked={correlationKey} onTry={() => show({ key: row.correlationKey ?? "" })} />
          ))}
        </Section>
      )}
      {explained.buffered.length > 0 && (
        <Section title={t.buffered}>
          {explained.buffered.map((row) => (
            <li key={row.messageKey}>
              <span class="grow"><code>{row.correlationKey || "–"}</code> <small>{t.until} <When at={row.expiresDate} /></small></span>
              {row.isSame && <Badge tone="good">{t.same}</Badge>}
              <Key value={row.messageKey} />
            </li>
          ))}
        </Section>
      )}
      {explained.receivers.length > 0 && (
        <Section title={t.receivers}>
          {explained.receivers.map((row) => (
            <li key={`${row.processDefinitionKey} ${row.elementId}`}>
              <span class="grow">
                <Link to={`/modeler/deployed/bpmn/${row.processDefinitionKey}`}>{row.processDefinitionId}</Link> · {row.elementName ?? row.elementId}
              </span>
              {row.starts ? <Badge tone="active">{t.starts}</Badge> : row.correlationKeyExpression && <code>= {row.correlationKeyExpression}</code>}
            </li>
          ))}
        </Section>
      )}
      {explained.hasMore && <small>{t.hasMore}</small>}
    </div>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="messages-section">
      <h3>{title}</h3>
      <ul>{children}</ul>
    </section>
  );
}

function One({ row, asked, onTry }: { row: Waiting; asked?: string; onTry?: () => void }): JSX.Element {
  const t = useWords(words);
  return (
    <li>
      <span class="grow">
        {row.processInstanceKey ? (
          <Link to={`/instances/${row.processInstanceKey}`}>{row.processDefinitionId} {row.processInstanceKey}</Link>
        ) : (
          <strong>{row.processDefinitionId}</strong>
        )}{" "}
        · {row.elementId}
        {asked !== undefined && <small class="why">{t.differs(row.correlationKey ?? "", asked)} {slipOf(row.correlationKey ?? "", asked)}</small>}
      </span>
      {row.processInstanceKey ? <code>{row.correlationKey ?? "–"}</code> : <Badge tone="active">{t.starts}</Badge>}
      {onTry && row.processInstanceKey && <Button onClick={onTry}>{t.tryKey}</Button>}
    </li>
  );
}
