// Words in English and Russian. Each page has a catalogue of its own; the types hold that no language lacks a word.

import { useStored } from "@/base/stored";

export type Language = "en" | "ru";
type Message = string | ((...given: never[]) => string) | Record<string, string>;
type SameKeys<T> = { [K in keyof T]: T[K] extends string ? string : T[K] extends Record<string, string> ? Record<keyof T[K], string> : T[K] };
export type Catalogue<T> = { en: T; ru: SameKeys<T> };

/** Declares the words of a page: `catalogue({ en: { title: "Jobs" }, ru: { title: "Задания" } })`. */
export function catalogue<T extends Record<string, Message>>(words: { en: T; ru: SameKeys<T> }): Catalogue<T> {
  return words;
}

/** The words in the reader's language. */
export function useWords<T>(words: Catalogue<T>): T {
  return words[useLanguage()] as T;
}

/** The same outside of components. */
export function wordsNow<T>(words: Catalogue<T>): T {
  return words[language.get()] as T;
}

export const language = useStored.create<Language>("language", systemLanguage());

export function useLanguage(): Language {
  return language.use();
}

/** One of the forms that a number needs: `plural("ru", 3, { one: "задание", few: "задания", other: "заданий" })`. */
export function plural(tongue: Language, count: number, forms: { one: string; few?: string; other: string }): string {
  const rule = new Intl.PluralRules(tongue).select(count);
  return rule === "one" ? forms.one : rule === "few" ? (forms.few ?? forms.other) : forms.other;
}

/** How the reader writes dates and numbers: their browser's region, where it speaks the language of the page. */
export function locale(): string {
  const tongue = language.get();
  const own = navigator.languages.find((tag) => tag.toLowerCase().split("-")[0] === tongue && tag.includes("-"));
  return own ?? (tongue === "en" ? "en-GB" : tongue);
}

/** A number as the reader writes it. */
export function number(value: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(locale(), options).format(value);
}

function systemLanguage(): Language {
  return navigator.languages.some((tag) => tag.toLowerCase().startsWith("ru")) ? "ru" : "en";
}
