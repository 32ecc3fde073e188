-- Failed attempts of jobs of an instance stay as long as it does: its history does not tell of them.

ALTER TABLE procession_job_attempt ADD COLUMN instance INTEGER NOT NULL DEFAULT 0;
CREATE INDEX procession_job_attempt_instance ON procession_job_attempt (instance) WHERE instance <> 0;
