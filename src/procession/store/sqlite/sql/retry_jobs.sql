-- Those with traits go the long way (requeue_jobs).
UPDATE procession_job SET state = 0, retries = :retries, crashes = 0, run_at = :now, ended_at = NULL
WHERE state = 5 AND traits IS NULL AND key IN (SELECT value FROM json_each(:keys))
RETURNING key
