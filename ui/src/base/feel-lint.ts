// What stands in for `@bpmn-io/feel-lint` in every FEEL editor of the page (see vite.config.ts): the server's own rules say
// what is wrong with an expression, so that nothing is refused here that runs there, and nothing is accepted that does not.

import { syntaxTree } from "@codemirror/language";
import type { Diagnostic } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";
import { feel } from "@/base/feel";

/** A source of problems for CodeMirror. It asks once somebody stops typing. */
export function cmFeelLinter(): (view: EditorView) => Promise<Diagnostic[]> {
  return async (view) => {
    const { doc } = view.state;
    const expression = doc.toString();
    if (!expression.trim()) return [];
    const isTests = syntaxTree(view.state).type.name === "UnaryTests";
    try {
      const { error } = await feel({ expression, isTests, checkOnly: true });
      if (!error) return [];
      const line = doc.line(Math.min(Math.max(1, error.line), doc.lines));
      const at = Math.min(line.to, line.from + Math.max(0, error.column - 1));
      const from = at === doc.length && at > 0 ? at - 1 : at; // what is missing at the end is marked at the last character
      return [{ from, to: Math.min(doc.length, Math.max(from + 1, at)), severity: "error", message: error.message, source: "FEEL" }];
    } catch {
      return []; // the server cannot be asked now; deploying asks it again
    }
  };
}
