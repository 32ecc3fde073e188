-- Add to the counts per minute.
INSERT INTO procession_job_stat (`minute`, queue, type, enqueued, succeeded, failed, retried, run_ms)
VALUES /* rows */ (?minute, ?queue, ?type, ?enqueued, ?succeeded, ?failed, ?retried, ?run_ms) /* rows */
ON DUPLICATE KEY UPDATE
    enqueued = enqueued + VALUES(enqueued), succeeded = succeeded + VALUES(succeeded), failed = failed + VALUES(failed),
    retried = retried + VALUES(retried), run_ms = run_ms + VALUES(run_ms)
