UPDATE procession_job SET state = 0, retries = :retries, crashes = 0, run_at = :now
WHERE state = 5 AND key IN (SELECT value FROM json_each(:keys))
RETURNING key
