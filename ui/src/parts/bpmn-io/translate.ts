// The words of bpmn.io's own editors in the reader's language.

import { language } from "@/base/words";
import { RUSSIAN } from "./russian";

type Replacements = Record<string, string | number>;

/** A module for bpmn-js and dmn-js that translates what they say. */
export function translateModule(): { translate: [string, typeof translate] } {
  return { translate: ["value", translate] };
}

export function translate(template: string, replacements: Replacements = {}): string {
  const text = language.get() === "ru" ? (RUSSIAN[template] ?? template) : template;
  return text.replace(/{([^}]+)}/g, (whole, name: string) => String(replacements[name] ?? whole));
}
