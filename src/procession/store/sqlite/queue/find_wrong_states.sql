-- READY jobs with limits, THROTTLED ones without.
SELECT key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
       coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), tenant, error, coalesce(waits_for, ''),
       cancel_reason, options
FROM procession_job
WHERE (state = 0 AND traits & 4 <> 0) OR (state = 4 AND coalesce(traits, 0) & 4 = 0)
ORDER BY key
LIMIT json_extract(?1, '$[0]')
