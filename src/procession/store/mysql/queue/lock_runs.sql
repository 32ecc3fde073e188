-- As lock_jobs, without those that somebody else holds.
SELECT
    `key`, kind, state, queue, type, -negative_priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
    COALESCE(traits, 0), COALESCE(batch, 0), COALESCE(deadline_at, 0), tenant, COALESCE(error, ''),
    COALESCE(waits_for, ''), cancel_reason, options
FROM procession_job
WHERE `key` IN (:a)
ORDER BY `key`
FOR UPDATE SKIP LOCKED
