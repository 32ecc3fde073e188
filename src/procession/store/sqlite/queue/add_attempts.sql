-- Attempts that failed; one that was written before stays.
INSERT OR IGNORE INTO procession_job_attempt (job, lease, attempt, at, worker, type, message, instance)
SELECT value ->> 'job', value ->> 'lease', value ->> 'attempt', value ->> 'at', value ->> 'worker', value ->> 'type',
    value ->> 'message', value ->> 'instance'
FROM json_each(?1)
