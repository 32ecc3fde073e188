// Stands in for `@bpmn-io/cm-theme` in every editor of FEEL (see vite.config.ts): colours that can be read on both grounds.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const KEYWORD = "light-dark(#a31515, #ff9da3)";
const TEXT = "light-dark(#14683e, #7fdba8)";
const OPERATOR = "light-dark(#1d4fa8, #8ec1ff)";
const NAME = "light-dark(#0550ae, #9cc7ff)";
const CALL = "light-dark(#6a36c0, #cdb0ff)";
const COMMENT = "light-dark(#565f73, #a3acbd)";

const style = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.typeName], color: KEYWORD },
  { tag: [tags.string, tags.special(tags.string), tags.number], color: TEXT },
  { tag: [tags.arithmeticOperator, tags.compareOperator], color: OPERATOR },
  { tag: tags.special(tags.bracket), color: KEYWORD, fontWeight: "bold" },
  {
    tag: [tags.variableName, tags.definition(tags.variableName), tags.special(tags.variableName), tags.propertyName, tags.definition(tags.propertyName)],
    color: NAME,
  },
  {
    tag: [
      tags.function(tags.variableName),
      tags.function(tags.special(tags.variableName)),
      tags.function(tags.definition(tags.variableName)),
      tags.function(tags.propertyName),
    ],
    color: CALL,
  },
  { tag: [tags.lineComment, tags.blockComment], color: COMMENT },
]);

/** The one theme, under both names. */
export const feelLight: Extension = [EditorView.theme({ "&": { color: "var(--ink)" } }), syntaxHighlighting(style)];
export const feelDark = feelLight;
