// How a driver of another queue is spoken with, and the workloads in terms of what every queue can do: `speaking.py` in
// JavaScript. A driver gives an object with open, insertMany, insertOne, work, start, close, and calls `handle`.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const PROGRESS_MS = 10;
const LATE_MS_MAX = 10_000;
const ENDS_BY_ITSELF = new Set(['bulk', 'single', 'latency']);

const require = createRequire(`${process.argv[2]}/package.json`);

/** A package of the environment that this driver runs in. */
export const load = (name) => import(pathToFileURL(require.resolve(name)).href).then((found) => found.default ?? found);

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const say = (type, words = {}) => process.stdout.write(`${JSON.stringify({ type, ...words })}\n`);

export const state = { order: {}, done: 0, seconds: 0, latencies: [], notes: [] };

/** What every handler does, first of all look at the time. */
export async function handle(payload) {
  if (payload.sentAt !== undefined) state.latencies.push(performance.now() - payload.sentAt);
  if (state.order.sleep_ms) await sleep(state.order.sleep_ms);
  state.done += 1;
}

const workloads = {
  async bulk(queue, order) {
    const begun = performance.now();
    while (state.done < order.jobs && performance.now() - begun < order.seconds_max * 1000) {
      const count = Math.min(order.bulk, order.jobs - state.done);
      await queue.insertMany(count);
      state.done += count;
    }
    state.seconds = (performance.now() - begun) / 1000;
  },
  async single(queue, order) {
    const begun = performance.now();
    let left = order.jobs;
    const call = async () => {
      while (left > 0 && performance.now() - begun < order.seconds_max * 1000) {
        left -= 1;
        const at = performance.now();
        await queue.insertOne({ number: 1 });
        state.latencies.push(performance.now() - at);
        state.done += 1;
      }
    };
    await Promise.all(Array.from({ length: order.callers }, call));
    state.seconds = (performance.now() - begun) / 1000;
  },
  drain: (queue) => queue.work(),
  async latency(queue, order) {
    await queue.work();
    await sleep(1000); // until it listens
    const begun = performance.now();
    const waiting = [];
    let late = 0;
    for (let number = 0; number < order.jobs; number += 1) {
      const due = begun + number * order.every_ms;
      if (due > performance.now()) await sleep(due - performance.now());
      late = Math.max(late, performance.now() - due);
      waiting.push(queue.insertOne({ sentAt: performance.now() }));
    }
    await Promise.all(waiting);
    const end = performance.now() + LATE_MS_MAX;
    while (state.done < order.jobs && performance.now() < end) await sleep(10);
    state.seconds = (performance.now() - begun) / 1000;
    state.latencies = state.latencies.slice(order.dropped);
    state.notes.push(`the open loop was at most ${late.toFixed(1)} ms late`);
  },
  async steps(queue, order) {
    let left = order.jobs;
    await queue.work?.();
    const call = async () => {
      while (left > 0) {
        left -= 1;
        await queue.start();
      }
    };
    await Promise.all(Array.from({ length: order.callers }, call));
  },
};

/** Be the driver: `make` gives the queue for an order. */
export async function speak(make) {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  try {
    state.order = JSON.parse(await next());
    const queue = await make(state.order);
    await queue.open?.();
    if (state.order.workload === 'drain' && state.order.fills) {
      for (let begin = 0; begin < state.order.jobs; begin += state.order.bulk) {
        await queue.insertMany(Math.min(state.order.bulk, state.order.jobs - begin));
      }
    }
    say('ready');
    if ((await next()) !== undefined) await go(queue, next);
    process.exit(0);
  } catch (error) {
    say('failed', { error: String(error?.stack ?? error).slice(0, 400) });
    process.exitCode = 1;
    setTimeout(() => process.exit(1), 100);
  }
}

async function go(queue, next) {
  const cpuBefore = process.cpuUsage();
  const telling = setInterval(() => say('progress', { done: state.done }), PROGRESS_MS);
  const stopped = next();
  const going = workloads[state.order.workload](queue, state.order);
  await (ENDS_BY_ITSELF.has(state.order.workload) ? going : Promise.race([stopped, going.then(() => stopped)]));
  clearInterval(telling);
  const used = process.cpuUsage(cpuBefore);
  say('done', {
    done: state.done,
    seconds: Number(state.seconds.toFixed(4)),
    cpu_s: Number(((used.user + used.system) / 1e6).toFixed(3)),
    latencies_ms: state.latencies.map((ms) => Number(ms.toFixed(4))),
    notes: state.notes,
  });
  await stopped;
}
