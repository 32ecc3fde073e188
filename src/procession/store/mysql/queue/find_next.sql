-- The places of the unlimited jobs that are next in a queue.
SELECT -negative_priority, run_at, `key`
FROM procession_job FORCE INDEX (ready)
WHERE state = 0 AND queue = :queue
    AND type NOT IN (SELECT name FROM procession_pause WHERE kind = 1)
    AND (type IN (:strangers)) IS NOT TRUE
ORDER BY negative_priority, run_at, `key`
LIMIT :b
