// Russian where an editor of bpmn.io has no words of its own to be replaced: what it writes into its bars and panels is written anew.

import { language } from "@/base/words";

const ATTRIBUTES = ["title", "placeholder", "aria-label"];

/** From now on, texts that are known appear in Russian below an element, if that is the reader's language; how to end that. */
export function overwrite(root: HTMLElement, words: Readonly<Record<string, string>>, within = "*"): () => void {
  if (language.get() !== "ru") return () => undefined;
  const say = (node: Node): void => {
    if (node instanceof Text) {
      const said = words[node.data.trim()];
      if (said && node.parentElement?.closest(within)) node.data = said;
    } else if (node instanceof HTMLElement) {
      if (node.closest(within)) for (const name of ATTRIBUTES) put(node, name);
      node.childNodes.forEach(say);
    }
  };
  const put = (element: HTMLElement, name: string): void => {
    const said = words[element.getAttribute(name)?.trim() ?? ""];
    if (said) element.setAttribute(name, said);
  };
  say(root);
  const observer = new MutationObserver((records) => {
    for (const record of records) {
      if (record.type === "childList") record.addedNodes.forEach(say);
      else say(record.target);
    }
  });
  observer.observe(root, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ATTRIBUTES });
  return () => observer.disconnect();
}
