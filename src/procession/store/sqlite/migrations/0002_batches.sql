-- Operations over many instances: where each stands, which jobs of its items are not known to have ended, what failed.

CREATE TABLE procession_batch (
    key INTEGER PRIMARY KEY,
    created_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL DEFAULT 0,
    state INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL,
    emitted INTEGER NOT NULL DEFAULT 0,
    cursor INTEGER NOT NULL DEFAULT 0,
    kind TEXT NOT NULL,
    tenant TEXT NOT NULL,
    request TEXT NOT NULL,
    jobs TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE TABLE procession_batch_error (
    batch INTEGER NOT NULL,
    item INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (batch, item)
) STRICT, WITHOUT ROWID;
