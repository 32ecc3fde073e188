-- Timers and follow-ups (kinds 3 and 4) that have been tried before.
SELECT `key`, queue
FROM procession_job
WHERE instance = :instance AND instance <> 0 AND state = 2 AND kind IN (3, 4) AND attempt > 0
ORDER BY `key`
FOR UPDATE
