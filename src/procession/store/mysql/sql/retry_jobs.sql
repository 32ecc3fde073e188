-- Those with traits go the long way (requeue_jobs).
UPDATE procession_job SET state = 0, retries = :retries, crashes = 0, run_at = @now, ended_at = NULL
WHERE `key` IN (:keys) AND state = 5 AND traits IS NULL
