-- The next jobs of a queue in claim order, which is the order of the index; what others hold is skipped.
SELECT
    `key`, lease, kind, queue, type, instance, element_instance, element, definition, -negative_priority, attempt,
    retries, args, tenant, options, checkpoint, crashes
FROM procession_job FORCE INDEX (ready)
WHERE state = 0 AND queue = :queue
    AND NOT EXISTS (SELECT 1 FROM procession_pause WHERE kind = 0 AND name = :queue)
    AND type NOT IN (SELECT name FROM procession_pause WHERE kind = 1)
    AND (type IN (:strangers)) IS NOT TRUE
ORDER BY negative_priority, run_at, `key`
LIMIT :count
FOR UPDATE SKIP LOCKED
