-- Running jobs with traits of a process.
SELECT
    `key`, kind, state, queue, type, -negative_priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
    COALESCE(traits, 0), COALESCE(batch, 0), COALESCE(deadline_at, 0), tenant, COALESCE(error, ''),
    COALESCE(waits_for, ''), cancel_reason, options
FROM procession_job FORCE INDEX (ready)
WHERE state = 1 AND owner = :a AND traits IS NOT NULL
ORDER BY `key`
