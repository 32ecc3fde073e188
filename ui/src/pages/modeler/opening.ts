// Opening a file in the place of another one, which may not be lost unasked.

import { navigate } from "@/base/route";
import { wordsNow } from "@/base/words";
import { Problem } from "@/base/api";
import { confirm } from "@/parts/dialog";
import { toastProblem } from "@/parts/feedback";
import { readFile } from "./files";
import { words } from "./words";
import { workbench, type OpenFile } from "./workbench";

/** Whether what is open may be closed: nothing would be lost, or the reader says that it may be. */
export async function mayClose(): Promise<boolean> {
  if (!workbench.isChanged || !workbench.file) return true;
  const t = wordsNow(words);
  return confirm({
    title: t.discardTitle,
    text: t.discardText(workbench.file.name),
    verb: t.discard,
    isDangerous: true,
    act: () => Promise.resolve(workbench.discard()),
  });
}

/** Opens a file of the reader's computer in the modeler. */
export async function openFile(file: File): Promise<void> {
  const read = await readFile(file);
  if (read) await openInstead(read);
  else toastProblem(new Problem(0, `${wordsNow(words).cannotShow}: ${file.name}`, wordsNow(words).notXml));
}

/** Opens a file unless the reader would rather keep the one that is open. */
export async function openInstead(file: OpenFile): Promise<void> {
  if (!(await mayClose())) return;
  void workbench.open(file, { isNew: true });
  navigate("/modeler/edit");
}
