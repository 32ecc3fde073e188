-- The next jobs of a queue in claim order, which is the order of the index; what others hold is skipped.
SELECT
    `key`, lease, kind, queue, type, instance, element_instance, element, definition, -negative_priority, attempt, retries,
    args, tenant, crashes
FROM procession_job FORCE INDEX (ready)
WHERE state = 0 AND queue = :queue
ORDER BY negative_priority, run_at, `key`
LIMIT :count
FOR UPDATE SKIP LOCKED
