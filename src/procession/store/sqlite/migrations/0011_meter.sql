-- What is counted by time for those who ask how much was done: instances, decisions, assignees by the hour; jobs by type
-- and worker by the minute. `id` stands for the texts, which may be long (store/rows/metering.py).

CREATE TABLE procession_meter (
    at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    measure INTEGER NOT NULL,
    times INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    worker TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (at, id)
) STRICT, WITHOUT ROWID;
