-- What operators see: the attempts of a job that failed, each with its error; flows that have a title, among the batches.

CREATE TABLE procession_job_attempt (
    job INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    worker TEXT NOT NULL,
    type TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (job, lease)
) STRICT, WITHOUT ROWID;

ALTER TABLE procession_job_batch ADD COLUMN is_flow INTEGER NOT NULL DEFAULT 0;
CREATE INDEX procession_job_batch_flows ON procession_job_batch (key) WHERE is_flow = 1;
