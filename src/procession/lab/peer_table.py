"""The queues and engines that we are compared with: packages, settings, and how their jobs are counted. Plain data.

Settings are those that the documents of each recommend for throughput, as far as they recommend any; `source` is where.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

EVERY_JOB: Final = ("bulk", "single", "single-64", "drain", "drain-1ms", "latency")
EVERY_STEP: Final = ("steps", "steps-64")


class PeerSpec(msgspec.Struct, kw_only=True, frozen=True):
    """One of them. `packages`: the first is the one whose version is shown."""

    name: str
    language: Literal["Python", "Node.js"]
    packages: tuple[str, ...]
    driver: str  # a file of `peers`
    settings: dict[str, str] = {}
    words: str  # the settings for people
    source: str
    workloads: tuple[str, ...] = EVERY_JOB
    open_query: str = ""
    done_query: str = ""
    stores: bool = True  # whether there is a database

    @property
    def package(self) -> str:
        """The name of what is shown, without extras."""
        return self.packages[0].partition("[")[0]


PEERS: Final = (
    PeerSpec(
        name="graphile-worker",
        language="Node.js",
        packages=("graphile-worker", "@graphile/logger", "pg"),
        driver="queue_graphile_worker.mjs",
        settings={"concurrency": "24", "local_queue": "500", "pool": "25"},
        words="concurrentJobs 24, maxPoolSize 25, localQueue.size 500, completeJobBatchDelay 0, failJobBatchDelay 0; "
        "with 1 ms of sleep concurrentJobs 100",
        source="https://worker.graphile.org/docs/performance",
        open_query="select count(*) from graphile_worker._private_jobs",
    ),
    PeerSpec(
        name="pg-boss",
        language="Node.js",
        packages=("pg-boss",),
        driver="queue_pg_boss.mjs",
        settings={"batch_size": "100", "pollers": "4", "pool": "10"},
        words="batchSize 100, localConcurrency 4, burstWhenBatchFull, notify, pollingIntervalSeconds 0.5; "
        "monitoring and scheduling off",
        source="https://github.com/timgit/pg-boss/blob/master/docs/api/workers.md",
        open_query="select count(*) from pgboss.job where name = 'bench' and state < 'completed'",
    ),
    PeerSpec(
        name="PgQueuer",
        language="Python",
        packages=("pgqueuer[asyncpg]", "uvloop"),
        driver="queue_pgqueuer.py",
        settings={"batch_size": "100", "pool": "10"},
        words="asyncpg pool of 10, batch_size 100, uvloop",
        source="https://janbjorge.github.io/pgqueuer/",
        open_query="select count(*) from pgqueuer",
    ),
    PeerSpec(
        name="Procrastinate",
        language="Python",
        packages=("procrastinate", "psycopg[binary]", "uvloop"),
        driver="queue_procrastinate.py",
        settings={"pool": "20"},
        words="one worker, concurrency 100, a pool of 20 connections, psycopg with its C part, uvloop",
        source="https://procrastinate.readthedocs.io/en/stable/howto/production/concurrency.html",
        open_query="select count(*) from procrastinate_jobs where status in ('todo', 'doing')",
    ),
    PeerSpec(
        name="Chancy",
        language="Python",
        packages=("chancy", "psycopg[binary]", "uvloop"),
        driver="queue_chancy.py",
        settings={"pool": "10"},
        words="asyncio executor, concurrency 100, eager polling, notifications, a leader and workflows looked for each "
        "second, a pool of 10 connections, uvloop",
        source="https://tkte.ch/chancy/",
        workloads=(*EVERY_JOB, *EVERY_STEP),
        open_query="select count(*) from chancy_jobs where state not in ('succeeded', 'failed')",
        done_query="select count(*) from chancy_workflows where state = 'completed'",
    ),
    PeerSpec(
        name="oban-py",
        language="Python",
        packages=("oban", "uvloop"),
        driver="queue_oban.py",
        settings={"pool": "10"},
        words="one queue with limit 100, a pool of 10 connections, uvloop",
        source="https://oban.pro/docs/py/",
        open_query="select count(*) from oban_jobs where state not in ('completed', 'cancelled', 'discarded')",
    ),
    PeerSpec(
        name="DBOS",
        language="Python",
        packages=("dbos", "uvloop"),
        driver="queue_dbos.py",
        settings={"pool": "20", "polling_interval": "0.05"},
        words="a queue with worker_concurrency 100, polling_interval_sec 0.05, a pool of 20 connections",
        source="https://docs.dbos.dev/python/tutorials/queue-tutorial",
        workloads=(*EVERY_JOB, *EVERY_STEP),
        open_query="select count(*) from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')",
        done_query="select count(*) from dbos.workflow_status where status = 'SUCCESS'",
    ),
    PeerSpec(
        name="Absurd",
        language="Python",
        packages=("absurd-sdk", "absurdctl", "uvloop"),
        driver="queue_absurd.py",
        settings={"connections": "8", "poll_interval": "0.05"},
        words="one worker with concurrency and batch 100, poll_interval 0.05; callers share 8 connections",
        source="https://github.com/earendil-works/absurd",
        workloads=(*EVERY_JOB, *EVERY_STEP),
        open_query="select count(*) from absurd.t_bench where state not in ('completed', 'failed', 'cancelled')",
        done_query="select count(*) from absurd.t_bench where state = 'completed'",
    ),
    PeerSpec(
        name="SpiffWorkflow",
        language="Python",
        packages=("SpiffWorkflow",),
        driver="engine_spiffworkflow.py",
        words="in memory, nothing stored; two script tasks, the model read once",
        source="https://spiffworkflow.readthedocs.io/",
        workloads=("steps-64",),
        stores=False,
    ),
    PeerSpec(
        name="bpmn-engine",
        language="Node.js",
        packages=("bpmn-engine", "bpmn-moddle@9"),
        driver="engine_bpmn_engine.mjs",
        words="in memory, nothing stored; two service tasks, the model read once",
        source="https://github.com/paed01/bpmn-engine",
        workloads=("steps-64",),
        stores=False,
    ),
)
