// JSON without loss: a number that JavaScript cannot hold (a 64-bit key, a long decimal) stays as it was written.

type RawJson = { rawJSON?: (text: string) => unknown };
type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown;

/** A number as it was written. */
export class Exact {
  constructor(readonly text: string) {}

  /** What `JSON.stringify` writes; a browser before 2025 rounds it. */
  toJSON(): unknown {
    return (JSON as RawJson).rawJSON?.(this.text) ?? Number(this.text);
  }
}

/** Reads JSON; numbers that would be rounded are `Exact`. Throws SyntaxError. */
export function readJson(text: string): unknown {
  const keep: Reviver = (_, value, context) =>
    typeof value === "number" && context?.source !== undefined && isRounded(value, context.source) ? new Exact(context.source) : value;
  return JSON.parse(text, keep as Parameters<typeof JSON.parse>[1]) as unknown;
}

const DIGITS_HELD = 15; // of any decimal number, in a double

function isRounded(value: number, source: string): boolean {
  if (Number.isInteger(value) && /^-?\d+$/.test(source)) return !Number.isSafeInteger(value);
  return source.replace(/[eE].*$/, "").replace(/\D/g, "").replace(/^0+/, "").length > DIGITS_HELD && String(value) !== source;
}
