// The frame of a page: its head, tabs, panels.

import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Icon } from "@/parts/icons";
import { words } from "@/parts/words";

export interface Crumb {
  title: string;
  to?: string;
}

/** The title of the page, the way to it, and what can be done. */
export function PageHead(props: { title: string; crumbs?: Crumb[]; subtitle?: ComponentChildren; actions?: ComponentChildren }): JSX.Element {
  const t = useWords(words);
  useEffect(() => {
    document.title = `${props.title} · Procession`;
  }, [props.title]);
  return (
    <header class="page-head">
      <div class="page-title">
        {props.crumbs && (
          <nav class="crumbs" aria-label={t.crumbs}>
            {props.crumbs.map((crumb) => (
              <span key={crumb.title}>
                {crumb.to ? <Link to={crumb.to}>{crumb.title}</Link> : crumb.title}
                <Icon name="chevron" size={12} />
              </span>
            ))}
          </nav>
        )}
        <h1>{props.title}</h1>
        {props.subtitle && <div class="subtitle">{props.subtitle}</div>}
      </div>
      {props.actions && <div class="actions">{props.actions}</div>}
    </header>
  );
}

export function Panel(props: { title?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; class?: string }): JSX.Element {
  return (
    <section class={`panel ${props.class ?? ""}`}>
      {(props.title || props.actions) && (
        <header class="panel-head">
          {props.title && <h2>{props.title}</h2>}
          {props.actions && <div class="actions">{props.actions}</div>}
        </header>
      )}
      {props.children}
    </section>
  );
}

export interface Tab {
  id: string;
  title: string;
  count?: number | undefined;
}

/** Tabs, moved through with the arrow keys. */
export function Tabs(props: { label: string; tabs: Tab[]; current: string; onChange: (id: string) => void; children: ComponentChildren }): JSX.Element {
  const move = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const index = props.tabs.findIndex((tab) => tab.id === props.current);
    const next = props.tabs[(index + step + props.tabs.length) % props.tabs.length];
    if (!next) return;
    props.onChange(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs-box">
      <div class="tabs" role="tablist" aria-label={props.label} onKeyDown={move}>
        {props.tabs.map((tab) => (
          <button
            key={tab.id}
            id={`tab-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === props.current}
            aria-controls="tab-panel"
            tabIndex={tab.id === props.current ? 0 : -1}
            onClick={() => props.onChange(tab.id)}
          >
            {tab.title}
            {tab.count !== undefined && <span class="tab-count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div class="tab-panel" id="tab-panel" role="tabpanel" aria-labelledby={`tab-${props.current}`}>
        {props.children}
      </div>
    </div>
  );
}
