// How the reader wants it: dark or light.

import { useStored } from "@/base/stored";

export type Theme = "system" | "light" | "dark";

export const theme = useStored.create<Theme>("theme", "system");

export function followTheme(): void {
  const apply = (value: Theme): void => {
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  };
  apply(theme.get());
  theme.listen(apply);
}

/** Whether it is dark now, for what draws on a canvas. */
export function isDark(): boolean {
  const value = theme.get();
  return value === "dark" || (value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
}
