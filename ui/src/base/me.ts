// Who the reader is, and what they may do. The server decides; the page only does not offer what it would refuse.

import { useStored } from "@/base/stored";

export type Role = "reader" | "worker" | "operator" | "deployer" | "admin";

export interface Me {
  username: string;
  displayName: string | null;
  roles: Role[];
  tenants: { tenantId: string; name: string }[];
  groups: string[];
  canLogout: boolean;
}

export const me = { current: null as Me | null };

const changes = useStored.create<number>("me", 0, "session");

export function setMe(next: Me | null): void {
  me.current = next;
  changes.set(changes.get() + 1);
}

export function useMe(): Me | null {
  changes.use();
  return me.current;
}

/** Whether the reader may do what this role may do. */
export function may(role: Role): boolean {
  const roles = me.current?.roles ?? [];
  if (roles.includes("admin")) return true;
  return roles.includes(role) || (role === "reader" && (roles.includes("operator") || roles.includes("deployer")));
}
