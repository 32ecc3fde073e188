// A menu behind a button: opens and closes by keyboard, moves with the arrow keys.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { may, type Role } from "@/base/me";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Icon, type IconName } from "@/parts/icons";
import { words } from "@/parts/words";

export interface MenuItem {
  title: string;
  icon?: IconName;
  onClick: () => void;
  role?: Role;
  disabled?: boolean;
  isDangerous?: boolean;
  onRemove?: { label: string; act: () => void };
}

const EDGE = 8; // of the window: a menu stays within

export function Menu(props: { label: string; icon?: IconName; items: MenuItem[]; empty?: string; isBare?: boolean }): JSX.Element {
  const t = useWords(words);
  const [isOpen, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const away = (event: Event): void => {
      if (!place.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    const list = place.current?.querySelector<HTMLElement>(".menu-list");
    const left = list?.getBoundingClientRect().left ?? 0;
    if (list && left < EDGE) list.style.transform = `translateX(${EDGE - left}px)`;
    list?.querySelector<HTMLElement>(".menu-item")?.focus();
    return () => document.removeEventListener("pointerdown", away);
  }, [isOpen]);
  const move = (event: KeyboardEvent): void => {
    const items = [...(place.current?.querySelectorAll<HTMLElement>(".menu-item:not(:disabled)") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Escape" && isOpen) {
      setOpen(false);
      place.current?.querySelector<HTMLElement>("button")?.focus();
    } else if (step && items.length > 0) {
      event.preventDefault();
      items[(at + step + items.length) % items.length]?.focus();
    }
  };
  return (
    <div class="menu" ref={place} onKeyDown={move}>
      <button type="button" class={`button${props.isBare ? " bare ghost" : ""}`} aria-haspopup="true" aria-expanded={isOpen} aria-label={props.isBare ? props.label : undefined} title={props.isBare ? props.label : undefined} onClick={() => setOpen(!isOpen)}>
        {props.icon && <Icon name={props.icon} size={16} />}
        {!props.isBare && props.label}
        {!props.isBare && <Icon name="down" size={14} />}
      </button>
      {isOpen && (
        <div class="menu-list">
          {props.items.length === 0 && <p class="menu-empty">{props.empty}</p>}
          {props.items.map((item) => {
            const isForbidden = item.role !== undefined && !may(item.role);
            return (
              <div class="menu-row" key={item.title}>
                <button
                  type="button"
                  class={`menu-item${item.isDangerous ? " dangerous" : ""}`}
                  disabled={isForbidden || item.disabled}
                  title={isForbidden && item.role ? t.needs(item.role) : undefined}
                  data-role={item.role}
                  onClick={() => {
                    setOpen(false);
                    item.onClick();
                  }}
                >
                  {item.icon && <Icon name={item.icon} size={16} />}
                  {item.title}
                </button>
                {item.onRemove && <Button kind="ghost" icon="close" label={item.onRemove.label} onClick={item.onRemove.act} />}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}
