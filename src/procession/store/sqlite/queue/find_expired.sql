-- Jobs that wait beyond their deadline.
SELECT key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
       coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), tenant, error, coalesce(waits_for, ''),
       cancel_reason, options
FROM procession_job
WHERE deadline_at IS NOT NULL AND state IN (0, 2, 3, 4) AND deadline_at <= ?2
ORDER BY deadline_at, key
LIMIT json_extract(?1, '$[0]')
