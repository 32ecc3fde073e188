// Buttons. One that the reader's role does not allow stays where it is, and says which role it needs.

import type { ComponentChildren, JSX } from "preact";
import { may, useMe, type Role } from "@/base/me";
import { useWords } from "@/base/words";
import { Icon, type IconName } from "@/parts/icons";
import { words } from "@/parts/words";

export interface ButtonProps {
  children?: ComponentChildren;
  onClick?: (event: MouseEvent) => void;
  kind?: "plain" | "primary" | "danger" | "ghost";
  icon?: IconName;
  label?: string; // for a button without words
  role?: Role; // what the reader must be for it
  disabled?: boolean;
  isBusy?: boolean;
  type?: "button" | "submit";
  pressed?: boolean;
  title?: string;
  class?: string;
}

export function Button(props: ButtonProps): JSX.Element {
  useMe();
  const t = useWords(words);
  const { kind = "plain", icon, label, role, isBusy = false, type = "button", pressed } = props;
  const isForbidden = role !== undefined && !may(role);
  const title = isForbidden ? t.needs(role) : (props.title ?? label);
  return (
    <button
      type={type}
      class={`button ${kind}${props.children ? "" : " bare"} ${props.class ?? ""}`}
      onClick={props.onClick}
      disabled={isForbidden || props.disabled || isBusy}
      aria-label={label}
      aria-pressed={pressed}
      aria-busy={isBusy || undefined}
      data-role={role}
      title={title}
    >
      {icon && <Icon name={icon} size={16} />}
      {props.children}
    </button>
  );
}
