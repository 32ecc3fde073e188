-- READY jobs with limits, THROTTLED ones without.
SELECT
    `key`, kind, state, queue, type, -negative_priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
    COALESCE(traits, 0), COALESCE(batch, 0), COALESCE(deadline_at, 0), tenant, COALESCE(error, ''),
    COALESCE(waits_for, ''), cancel_reason, options
FROM procession_job
WHERE (state = 0 AND traits & 4 <> 0) OR (state = 4 AND COALESCE(traits, 0) & 4 = 0)
ORDER BY `key`
LIMIT :a
