// Who are you: a name and a password, or a token. Kept for as long as the tab is open, sent to this server only.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { basic, credentials } from "@/base/api";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Field } from "@/parts/dialog";
import mark from "@/shell/mark.svg";
import { words } from "@/shell/words";

export function LogIn({ isRefused }: { isRefused: boolean }): JSX.Element {
  const t = useWords(words);
  const [isToken, setToken] = useState(false);
  const [name, setName] = useState("");
  const [secret, setSecret] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    credentials.set(isToken ? `Bearer ${secret.trim()}` : basic(name, secret));
  };
  return (
    <main class="log-in">
      <form class="panel" onSubmit={submit}>
        <img src={mark} alt="" width={40} height={40} />
        <h1>Procession</h1>
        <p class="soft">{t.logInText}</p>
        {!isToken && (
          <Field label={t.name}>
            {(id) => <input id={id} value={name} autoComplete="username" required onInput={(event) => setName(event.currentTarget.value)} />}
          </Field>
        )}
        <Field label={isToken ? t.token : t.password} hint={t.forgotten}>
          {(id) => (
            <input id={id} type="password" value={secret} autoComplete={isToken ? "off" : "current-password"} required onInput={(event) => setSecret(event.currentTarget.value)} />
          )}
        </Field>
        {isRefused && <p class="bad" role="alert">{t.refused}</p>}
        <Button kind="primary" type="submit">{t.logIn}</Button>
        <Button kind="ghost" onClick={() => { setToken(!isToken); setSecret(""); }}>{isToken ? t.withPassword : t.withToken}</Button>
        <p class="soft small">{t.howToUser}<br /><code>procession users create ada --role operator</code></p>
      </form>
    </main>
  );
}
