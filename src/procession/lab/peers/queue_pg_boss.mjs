// Drives pg-boss: several pollers of one process, each fetching a batch, and again at once while batches come back full.
import { handle, load, speak } from './speaking.mjs';

const { PgBoss } = await load('pg-boss');

speak(async (order) => {
  const { batch_size: batchSize, pollers, pool } = order.settings;
  const boss = new PgBoss({
    connectionString: order.url, max: Number(pool), supervise: false, schedule: false, useListenNotify: true,
  });
  boss.on('error', (error) => process.stderr.write(`${error.message}\n`));
  return {
    async open() {
      await boss.start();
      if (order.fills) await boss.createQueue('bench', { notify: true });
    },
    insertMany: (count) => boss.insert('bench', Array.from({ length: count }, () => ({ data: { number: 1 } }))),
    insertOne: (payload) => boss.send('bench', payload),
    async work() {
      const options = {
        batchSize: Number(batchSize),
        localConcurrency: Number(pollers),
        pollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
      };
      await boss.work('bench', options, (jobs) => Promise.all(jobs.map((job) => handle(job.data))));
    },
  };
});
