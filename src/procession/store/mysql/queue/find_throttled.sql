-- Limited jobs of a queue and priority that are due and in line.
SELECT
    `key`, kind, state, queue, type, -negative_priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
    COALESCE(traits, 0), COALESCE(batch, 0), COALESCE(deadline_at, 0), tenant, COALESCE(error, ''),
    COALESCE(waits_for, ''), cancel_reason, options
FROM procession_job FORCE INDEX (line)
WHERE line = CONCAT('queue ', :queue) AND negative_priority = 0 - :b AND run_at <= :d
    AND type NOT IN (SELECT name FROM procession_pause WHERE kind = 1)
    AND (type IN (:strangers)) IS NOT TRUE
ORDER BY run_at, `key`
LIMIT :c
