-- Timers and follow-ups (kinds 3 and 4) that have been tried before.
UPDATE procession_job SET state = 0, run_at = :now
WHERE instance = :instance AND instance <> 0 AND state = 2 AND kind IN (3, 4) AND attempt > 0
RETURNING queue
