// The server: one function per HTTP method, problem documents as exceptions, searches page by page.

import { useStored } from "@/base/stored";

/** What the server says about a request that it did not carry out. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly more: Record<string, unknown> = {},
  ) {
    super(detail || title);
  }
}

/** An `Authorization` header, for as long as the tab is open. */
export const credentials = useStored.create<string | null>("authorization", null, "session");

export interface Page<T> {
  items: T[];
  page?: { totalItems?: number; hasMoreTotalItems?: boolean; startCursor?: string | null; endCursor?: string | null };
}

export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) => ask<T>("GET", withQuery(path, query), undefined, signal),
  post: <T>(path: string, body?: unknown, signal?: AbortSignal) => ask<T>("POST", path, body ?? {}, signal),
  put: <T>(path: string, body?: unknown) => ask<T>("PUT", path, body ?? {}),
  patch: <T>(path: string, body?: unknown) => ask<T>("PATCH", path, body ?? {}),
  delete: <T>(path: string) => ask<T>("DELETE", path, undefined),
  /** A text that is no JSON: the XML of a diagram. */
  text: async (path: string, signal?: AbortSignal) => (await send("GET", path, undefined, signal)).text(),
  /** Multipart: files to deploy. */
  upload: <T>(path: string, files: File[], part = "resources", fields: Record<string, string> = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const file of files) form.append(part, file, file.name);
    return ask<T>("POST", path, form);
  },
  /** A page of one of Camunda's searches. */
  search: <T>(path: string, body: SearchBody = {}, signal?: AbortSignal) => ask<Page<T>>("POST", path, body, signal),
  raw: (path: string, signal?: AbortSignal, headers: Record<string, string> = {}) =>
    send("GET", path, undefined, signal, headers),
};

export interface SearchBody {
  filter?: Record<string, unknown>;
  sort?: { field: string; order?: "ASC" | "DESC" }[];
  page?: { limit?: number; after?: string; from?: number; count?: number };
}

type Query = Record<string, string | number | boolean | undefined | null>;

export function withQuery(path: string, query?: Query): string {
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}${path.includes("?") ? "&" : "?"}${text}` : path;
}

let onStranger = (): void => undefined;

/** Calls back when the server does not know the reader any more: a token may have ended. */
export function whenUnknown(call: () => void): void {
  onStranger = call;
}

async function ask<T>(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const answer = await send(method, path, body, signal);
  if (answer.status === 204) return undefined as T;
  return (await answer.json()) as T;
}

async function send(
  method: string,
  path: string,
  body: unknown,
  signal?: AbortSignal,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers: Record<string, string> = { ...more };
  const authorization = credentials.get();
  if (authorization) headers.authorization = authorization;
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers["content-type"] = "application/json";
  const content = body === undefined ? undefined : isForm ? body : JSON.stringify(body);
  let answer: Response;
  try {
    // Credentials stay out of the browser's hands: it would ask for a password in a window of its own.
    answer = await fetch(path, { method, headers, body: content, signal: signal ?? null, credentials: "omit" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "Unreachable", "");
  }
  if (answer.status === 401) onStranger();
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

async function problemOf(answer: Response): Promise<Problem> {
  try {
    const document = (await answer.json()) as Record<string, unknown>;
    return new Problem(answer.status, String(document.title ?? answer.status), String(document.detail ?? ""), document);
  } catch {
    return new Problem(answer.status, String(answer.status), answer.statusText);
  }
}

export function basic(name: string, password: string): string {
  const bytes = new TextEncoder().encode(`${name}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
