// Files of the reader's computer: chosen, read, handed back.

import { kindOf, type Kind } from "./editors/editor";
import type { OpenFile } from "./workbench";

/** Lets the reader choose one file; nothing if they think better of it. */
export function chooseFile(): Promise<File | undefined> {
  return new Promise((resolve) => {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".bpmn,.dmn,.form,.json,.xml";
    input.addEventListener("change", () => resolve(input.files?.[0]));
    input.addEventListener("cancel", () => resolve(undefined));
    input.click();
  });
}

/** A file with its kind; undefined where it is none that can be deployed. */
export async function readFile(file: File): Promise<OpenFile | undefined> {
  const content = await file.text();
  const kind = kindOf(file.name, content);
  return kind && { kind, name: file.name, content };
}

const TYPES: Record<Kind, string> = { bpmn: "application/xml", dmn: "application/xml", form: "application/json" };

/** Hands a file to the browser's downloads. */
export function download(file: OpenFile): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file.content], { type: TYPES[file.kind] }));
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
