// Drives graphile-worker: jobs are fetched in batches into a local queue, completions are gathered.
import { handle, load, speak } from './speaking.mjs';

const { makeWorkerUtils, run, runMigrations } = await load('graphile-worker');
const { Logger } = await load('@graphile/logger');
const pg = await load('pg');

const logger = new Logger(() => () => {});

speak(async (order) => {
  const { concurrency, local_queue: localQueue, pool } = order.settings;
  const pgPool = new pg.Pool({ connectionString: order.url, max: Number(pool) });
  pgPool.on('error', () => {});
  pgPool.on('connect', (client) => client.on('error', () => {}));
  const preset = {
    worker: {
      concurrentJobs: Number(concurrency || order.concurrency),
      maxPoolSize: Number(pool),
      localQueue: { size: Number(localQueue) },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      pollInterval: 2000,
    },
  };
  let utils;
  return {
    async open() {
      if (order.fills) await runMigrations({ pgPool, logger });
      utils = await makeWorkerUtils({ pgPool, logger });
    },
    insertMany: (count) => utils.addJobs(
      Array.from({ length: count }, () => ({ identifier: 'bench', payload: { number: 1 } })),
    ),
    insertOne: (payload) => utils.addJob('bench', payload),
    work: () => run({ pgPool, preset, logger, noHandleSignals: true, taskList: { bench: handle } }).then(() => {}),
  };
});
