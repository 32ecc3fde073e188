-- Failed attempts of jobs of an instance stay as long as it does: its history does not tell of them.

ALTER TABLE procession_job_attempt ADD COLUMN instance BIGINT NOT NULL DEFAULT 0;
ALTER TABLE procession_job_attempt ADD INDEX instance (instance);
