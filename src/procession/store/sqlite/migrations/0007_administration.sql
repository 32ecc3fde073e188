-- What operators see: what was enqueued is counted, too, and a recurring job remembers its last firings.

CREATE INDEX procession_job_suspended ON procession_job (key) WHERE state = 6;
ALTER TABLE procession_job_stat ADD COLUMN enqueued INTEGER NOT NULL DEFAULT 0;
ALTER TABLE procession_recurring ADD COLUMN firings TEXT;
