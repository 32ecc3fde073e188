-- Jobs that wait beyond their deadline.
SELECT
    `key`, kind, state, queue, type, -negative_priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
    COALESCE(traits, 0), COALESCE(batch, 0), COALESCE(deadline_at, 0), tenant, COALESCE(error, ''),
    COALESCE(waits_for, ''), cancel_reason, options
FROM procession_job FORCE INDEX (deadline)
WHERE deadline_at <= :b AND state IN (0, 2, 3, 4)
ORDER BY deadline_at, `key`
LIMIT :a
