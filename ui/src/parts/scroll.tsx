// Text that may be longer than its place: where it scrolls, the keyboard reaches it, and it has a name.

import { type ComponentChildren, h, type JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface ScrollProps {
  label: string;
  class: string;
  as?: "pre" | "div" | "ul" | "p";
  children: ComponentChildren;
}

export function Scroll({ label, class: name, as = "div", children }: ScrollProps): JSX.Element {
  const place = useRef<HTMLElement>(null);
  const [isScrolled, setScrolled] = useState(false);
  useLayoutEffect(() => {
    const own = place.current;
    if (!own) return;
    const look = (): void => setScrolled(own.scrollHeight > own.clientHeight + 1 || own.scrollWidth > own.clientWidth + 1);
    const watcher = new ResizeObserver(look);
    watcher.observe(own);
    look();
    return () => watcher.disconnect();
  }, [children]);
  const reached = isScrolled ? { tabIndex: 0, "aria-label": label, ...(as === "ul" ? {} : { role: "group" }) } : {};
  return h(as, { ref: place, class: name, ...reached }, children);
}
