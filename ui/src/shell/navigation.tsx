// The way to the pages: on the left, or at the bottom of a narrow screen.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { credentials } from "@/base/api";
import { liveness } from "@/base/live";
import { useMe } from "@/base/me";
import { Link } from "@/base/route";
import { language, useLanguage, useWords } from "@/base/words";
import { pages } from "@/pages";
import { Icon } from "@/parts/icons";
import mark from "@/shell/mark.svg";
import { theme, type Theme } from "@/shell/settings";
import { words } from "@/shell/words";

const AT_BOTTOM = 4; // further pages stand behind "more" on a narrow screen

export function Navigation({ current }: { current: string | undefined }): JSX.Element {
  const t = useWords(words);
  const tongue = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const shown = pages.filter((page) => page.home);
  return (
    <nav class={`navigation${isOpen ? " open" : ""}`} aria-label={t.main}>
      <Link to={shown[0]?.home ?? "/"} class="brand" onClick={() => setOpen(false)}>
        <img src={mark} alt="" width={26} height={26} />
        <span>Procession</span>
      </Link>
      <ul>
        {shown.map((page, index) => (
          <li key={page.id} class={index < AT_BOTTOM ? "" : "further"}>
            <Link to={page.home ?? "/"} aria-current={page.id === current ? "page" : undefined} onClick={() => setOpen(false)}>
              <Icon name={page.icon} />
              <span>{page.title[tongue]}</span>
            </Link>
          </li>
        ))}
        <li class="more">
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name="menu" />
            <span>{t.more}</span>
          </button>
        </li>
      </ul>
      <Foot />
    </nav>
  );
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

/** Logs out. The page is loaded anew: nothing that was open stays for whoever comes next. */
function leave(): void {
  credentials.set(null);
  location.reload();
}

function Foot(): JSX.Element {
  const t = useWords(words);
  const chosen = theme.use();
  const tongue = useLanguage();
  const me = useMe();
  const state = liveness.use();
  const label = { system: t.themeSystem, light: t.themeLight, dark: t.themeDark }[chosen];
  return (
    <div class="navigation-foot">
      {state !== "off" && (
        <p class={`liveness ${state}`}><span class="dot" aria-hidden="true" />{state === "live" ? t.live : t.polling}</p>
      )}
      {me && <p class="me" title={t.me(me.username, me.roles.join(", "))}><Icon name="user" size={16} /><span>{me.username}</span></p>}
      <div class="row">
        <button type="button" class="tool" aria-label={label} title={label} onClick={() => theme.set(NEXT[chosen])}>
          <Icon name={chosen === "system" ? "auto" : chosen === "light" ? "sun" : "moon"} size={18} />
        </button>
        <button type="button" class="tool" lang={tongue === "en" ? "ru" : "en"} aria-label={t.toRussian} title={t.toRussian} onClick={() => language.set(tongue === "en" ? "ru" : "en")}>
          <Icon name="language" size={18} />
        </button>
        {credentials.get() && (
          <button type="button" class="tool" aria-label={t.logOut} title={t.logOut} onClick={leave}>
            <Icon name="out" size={18} />
          </button>
        )}
      </div>
    </div>
  );
}
