-- The places of the unlimited jobs that are next in a queue.
SELECT -negative_priority, run_at, `key`
FROM procession_job FORCE INDEX (ready)
WHERE state = 0 AND queue = :a AND type NOT IN (SELECT name FROM procession_pause WHERE kind = 1)
ORDER BY negative_priority, run_at, `key`
LIMIT :b
