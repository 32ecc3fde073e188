SELECT `key`, queue
FROM procession_job FORCE INDEX (due)
WHERE due_at <= @now
ORDER BY due_at
LIMIT :limit
FOR UPDATE SKIP LOCKED
