// A file without a diagram is given one, so that it can be looked at and changed.

/** The same file with a diagram; files that have one are left as they are. */
export async function laidOut(xml: string): Promise<string> {
  if (/<(?:\w+:)?BPMNShape[\s>]/.test(xml)) return xml;
  const { layoutProcess } = await import("bpmn-auto-layout");
  try {
    return await layoutProcess(xml);
  } catch {
    return xml; // bpmn-js says better what is wrong with it
  }
}
