// What the server found about a message, and the sentence that says it in the reader's language.

import { wordsNow } from "@/base/words";
import { words } from "./words";

export interface Waiting {
  subscriptionKey: string;
  processInstanceKey: string | null;
  processDefinitionId: string;
  elementId: string;
  correlationKey: string | null;
  tenantId: string;
  differs: string | null;
}

export interface Explained {
  matches: boolean;
  matching: Waiting[];
  nearMisses: Waiting[];
  buffered: { messageKey: string; correlationKey: string; expiresDate: string | null; isSame: boolean }[];
  receivers: {
    processDefinitionId: string;
    processDefinitionKey: string;
    elementId: string;
    elementName: string | null;
    starts: boolean;
    correlationKeyExpression: string | null;
  }[];
  similarNames: string[];
  hasMore: boolean;
}

/** Whom the message reaches, or what comes nearest. */
export function verdictOf(explained: Explained, name: string, key: string): string {
  const t = wordsNow(words);
  const waiting = explained.matching.find((row) => row.processInstanceKey);
  if (waiting) return t.reaches(name, waiting.processInstanceKey ?? "", waiting.elementId);
  const starting = explained.matching[0];
  if (starting) return t.startsOne(name, starting.processDefinitionId);
  const nearest = explained.nearMisses[0];
  if (nearest) return t.otherKey(explained.nearMisses.length, nearest.correlationKey ?? "", key);
  const receiver = explained.receivers[0];
  if (receiver) return t.notThere(receiver.processDefinitionId, receiver.elementName ?? receiver.elementId);
  return explained.similarNames.length ? t.nameUnknownBut(name, explained.similarNames[0] ?? "") : t.nameUnknown(name);
}

/** What two keys differ in, where that is easily overlooked; perhaps in several ways at once. */
export function slipOf(one: string, other: string): string {
  const t = wordsNow(words);
  if (one === other) return "";
  const ways: [said: string, plain: (text: string) => string][] = [
    [t.slipQuotes, (text) => text.replaceAll('"', "")],
    [t.slipSpace, (text) => text.trim()],
    [t.slipCase, (text) => text.toLowerCase()],
  ];
  const plain = (text: string, but?: string): string => ways.reduce((left, [said, way]) => (said === but ? left : way(left)), text);
  if (plain(one) !== plain(other)) return one !== "" && other !== "" && Number(one) === Number(other) ? t.slipNumber : "";
  const needed = ways.filter(([said]) => plain(one, said) !== plain(other, said));
  return (needed.length > 0 ? needed : ways.filter(([, way]) => way(one) === way(other))).map(([said]) => said).join(" ");
}
