// Forms: the editor of form-js, with its own palette and panel.

import "@bpmn-io/form-js/dist/assets/form-js.css";
import "@bpmn-io/form-js/dist/assets/form-js-editor.css";
import "@/parts/bpmn-io/bpmn-io.css";

import { FormEditor } from "@bpmn-io/form-js-editor";
import { overwrite } from "@/parts/bpmn-io/overwrite";
import { FORMS } from "@/parts/bpmn-io/russian-forms";
import type { Editor, Places, Told } from "./editor";

interface Stack {
  canUndo(): boolean;
  canRedo(): boolean;
  undo(): void;
  redo(): void;
}

/** The editor of forms. */
export function formEditor(places: Places, told: Told): Editor {
  const editor = new FormEditor({ container: places.canvas, propertiesPanel: { parent: places.panel } });
  const ends = [
    overwrite(places.canvas, FORMS, ".fjs-palette, .fjs-context-pad, .fjs-empty-editor"),
    overwrite(places.panel, FORMS),
  ];
  const stack = (): Stack => editor.get<Stack>("commandStack");
  editor.on("commandStack.changed", ({ trigger }) => trigger !== "clear" && told.changed());
  return {
    kind: "form",
    async open(content) {
      const { warnings } = await editor.importSchema(JSON.parse(content) as object);
      return { warnings: warnings.map((warning) => warning.message), isLaidOut: false };
    },
    content: () => Promise.resolve(`${JSON.stringify(editor.saveSchema(), null, 2)}\n`),
    canUndo: () => stack().canUndo(),
    canRedo: () => stack().canRedo(),
    undo: () => stack().undo(),
    redo: () => stack().redo(),
    select: () => undefined,
    mark: () => undefined,
    fit: () => undefined,
    views: () => [],
    show: () => Promise.resolve(),
    isSimulating: () => false,
    destroy: () => {
      for (const end of ends) end();
      editor.destroy();
    },
  };
}
