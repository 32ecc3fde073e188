-- Attempts that failed; one that was written before stays.
INSERT IGNORE INTO procession_job_attempt (job, lease, attempt, at, worker, type, message, instance)
VALUES /* rows */ (?job, ?lease, ?attempt, ?at, ?worker, ?type, ?message, ?instance) /* rows */
