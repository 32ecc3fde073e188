// What happens, as it happens: hints by server-sent events, and polling behind for when there are none.
//
// A hint says that something changed under a topic, never what: whoever shows it asks again. So nothing depends on a hint
// that was lost. The stream is read by fetch, because EventSource cannot say who asks.

import { useEffect, useRef } from "preact/hooks";
import { api, credentials, Problem, withQuery } from "@/base/api";
import { useStored } from "@/base/stored";

type Kind = "counts" | "instances" | "jobs" | "incidents" | "tasks" | "definitions" | "decisions" | "batches" | "nodes" | "recurring" | "limits";
/** `instance:KEY` is one instance alone: the server watches those that somebody looks at. */
export type Topic = Kind | `instance:${string}`;

interface Hint {
  topic: Topic | "all";
  [more: string]: unknown;
}

const POLL_MS = 5_000;
const GATHER_MS = 200; // many hints in a row are one question
const APART_MS = 1_000; // and while they keep coming, one a second
const RETRY_MS_MAX = 30_000;

/** "live": events arrive; "polling": they do not, and everything is asked again every few seconds. */
export const liveness = useStored.create<"off" | "live" | "polling">("liveness", "off", "session");
liveness.set("off"); // what was true of the page before says nothing about this one

type Reader = { topics: ReadonlySet<string>; call: () => void };
const readers = new Set<Reader>();
let isRunning = false;
let control: AbortController | undefined;

/** Calls back when something happens under one of the topics, once a second at most. */
export function useLive(topics: Topic[], call: () => void): void {
  const latest = useRef(call);
  latest.current = call;
  const key = topics.join();
  useEffect(() => {
    if (!key) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const reader: Reader = {
      topics: new Set(key.split(",")),
      call: () => {
        if (document.hidden) return; // asked anew when it is looked at again
        timer ??= setTimeout(() => {
          timer = undefined;
          last = Date.now();
          latest.current();
        }, Math.max(GATHER_MS, last + APART_MS - Date.now()));
      },
    };
    readers.add(reader);
    start();
    setTimeout(watchInstances); // once all that is shown has said what it is about
    return () => {
      readers.delete(reader);
      clearTimeout(timer);
    };
  }, [key]);
}

function tell(hint: Hint): void {
  for (const reader of readers) if (hint.topic === "all" || reader.topics.has(hint.topic)) reader.call();
}

function start(): void {
  if (isRunning) return;
  isRunning = true;
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) tell({ topic: "all" });
  });
  setInterval(() => {
    if (liveness.get() !== "live") tell({ topic: "all" });
  }, POLL_MS);
  credentials.listen(() => control?.abort());
  void listen();
}

const INSTANCES_MAX = 20; // that the server watches for one listener
let watched = new Set<string>(); // of the stream that is open
let lastId = ""; // how far was heard
let isAgain = false; // the stream was closed by us, to be opened with other instances

function instancesShown(): string[] {
  const topics = [...readers].flatMap((reader) => [...reader.topics]).filter((topic) => topic.startsWith("instance:"));
  return [...new Set(topics.map((topic) => topic.slice("instance:".length)))].slice(0, INSTANCES_MAX);
}

/** Opens the stream anew if an instance is shown that it does not watch. */
function watchInstances(): void {
  if (control === undefined || instancesShown().every((key) => watched.has(key))) return;
  isAgain = true;
  control.abort();
}

async function listen(): Promise<void> {
  let pause = 1_000;
  for (;;) {
    control = new AbortController();
    isAgain = false;
    const began = Date.now();
    const shown = instancesShown();
    watched = new Set(shown);
    try {
      const path = withQuery("/api/events", { instance: shown.join(","), lastEventId: lastId });
      const answer = await api.raw(path, control.signal, { accept: "text/event-stream" });
      if (!answer.headers.get("content-type")?.startsWith("text/event-stream") || !answer.body) {
        throw new Problem(501, "No events", "");
      }
      liveness.set("live");
      if (!lastId) tell({ topic: "all" });
      await read(answer.body);
    } catch {
      // polling goes on meanwhile
    }
    if (isAgain) continue;
    liveness.set("polling");
    pause = Date.now() - began > 10_000 ? 1_000 : Math.min(pause * 2, RETRY_MS_MAX);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function read(body: ReadableStream<Uint8Array>): Promise<void> {
  const stream = body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await stream.read();
    if (done) return;
    text += value;
    const parts = text.split(/\r?\n\r?\n/);
    text = parts.pop() ?? "";
    for (const part of parts) hear(part);
  }
}

function hear(event: string): void {
  lastId = /^id: ?(.*)$/m.exec(event)?.[1] ?? lastId;
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  const data = lines.map((line) => line.slice(5).trimStart()).join("\n");
  if (!data) return;
  try {
    tell(JSON.parse(data) as Hint);
  } catch {
    tell({ topic: "all" });
  }
}
