-- The queue beyond plain jobs. The new columns of a job are null where it has no options; instants are milliseconds.

ALTER TABLE procession_job ADD COLUMN traits INTEGER;
ALTER TABLE procession_job ADD COLUMN options TEXT;
ALTER TABLE procession_job ADD COLUMN batch INTEGER;
ALTER TABLE procession_job ADD COLUMN deadline_at INTEGER;
ALTER TABLE procession_job ADD COLUMN ended_at INTEGER;
ALTER TABLE procession_job ADD COLUMN waits_for TEXT;
ALTER TABLE procession_job ADD COLUMN cancel_reason TEXT;
ALTER TABLE procession_job ADD COLUMN progress REAL;
ALTER TABLE procession_job ADD COLUMN progress_text TEXT;
ALTER TABLE procession_job ADD COLUMN checkpoint TEXT;

CREATE INDEX procession_job_throttled ON procession_job (queue, run_at, key) WHERE state = 4 AND waits_for IS NULL;
CREATE INDEX procession_job_throttled_due ON procession_job (run_at) WHERE state = 4 AND waits_for IS NULL;
CREATE INDEX procession_job_parked ON procession_job (waits_for, priority DESC, run_at, key)
WHERE state = 4 AND waits_for IS NOT NULL;
CREATE INDEX procession_job_deadline ON procession_job (deadline_at)
WHERE deadline_at IS NOT NULL AND state IN (0, 2, 3, 4);
CREATE INDEX procession_job_of_batch ON procession_job (batch, key) WHERE batch IS NOT NULL;
CREATE INDEX procession_job_canceling ON procession_job (owner) WHERE cancel_reason IS NOT NULL;
CREATE INDEX procession_job_awaiting ON procession_job (key) WHERE state = 3;

CREATE TABLE procession_job_archive (
    key INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    state INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    batch INTEGER,
    progress REAL,
    queue TEXT NOT NULL,
    type TEXT NOT NULL,
    tenant TEXT NOT NULL,
    error TEXT NOT NULL,
    args TEXT NOT NULL,
    output TEXT,
    options TEXT,
    progress_text TEXT
) STRICT;
CREATE INDEX procession_job_archive_expiry ON procession_job_archive (expires_at);

CREATE TABLE procession_unique_key (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    job INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX procession_unique_key_job ON procession_unique_key (job);
CREATE INDEX procession_unique_key_expiry ON procession_unique_key (until) WHERE until IS NOT NULL;

-- The three lines of a rate are in microseconds; see jobs/limits.py.
CREATE TABLE procession_limit (
    key TEXT PRIMARY KEY,
    most INTEGER NOT NULL,
    rate INTEGER NOT NULL,
    per_ms INTEGER NOT NULL,
    burst INTEGER NOT NULL,
    reserved_us INTEGER NOT NULL,
    started_us INTEGER NOT NULL,
    moved_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE procession_slot (
    limit_key TEXT NOT NULL,
    job INTEGER NOT NULL,
    node INTEGER NOT NULL,
    PRIMARY KEY (limit_key, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX procession_slot_job ON procession_slot (job);

CREATE TABLE procession_dependency (
    child INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    either INTEGER NOT NULL,
    resolved INTEGER NOT NULL,
    PRIMARY KEY (child, parent)
) STRICT, WITHOUT ROWID;
CREATE INDEX procession_dependency_parent ON procession_dependency (parent, child);

CREATE TABLE procession_job_batch (
    key INTEGER PRIMARY KEY,
    state INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    total INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    title TEXT NOT NULL,
    tenant TEXT NOT NULL
) STRICT;
CREATE INDEX procession_job_batch_parent ON procession_job_batch (parent) WHERE parent <> 0;

CREATE TABLE procession_recurring (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    next_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    last_job INTEGER NOT NULL,
    fired INTEGER NOT NULL,
    version INTEGER NOT NULL,
    missed INTEGER NOT NULL,
    overlap INTEGER NOT NULL,
    paused INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    cycle TEXT NOT NULL,
    sync_group TEXT NOT NULL,
    job TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX procession_recurring_due ON procession_recurring (next_at) WHERE paused = 0 AND next_at > 0;

CREATE TABLE procession_job_log (
    job INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    level INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE procession_pause (
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    since INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- The last place in line that a key of a queue was given; see fair_key in jobs/options.py.
CREATE TABLE procession_fair_place (
    queue TEXT NOT NULL,
    key TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE procession_job_stat (
    minute INTEGER NOT NULL,
    queue TEXT NOT NULL,
    type TEXT NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    retried INTEGER NOT NULL,
    run_ms INTEGER NOT NULL,
    PRIMARY KEY (minute, queue, type)
) STRICT, WITHOUT ROWID;
