-- Limited jobs that wait, in claim order: a rule has changed.
SELECT key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
       coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), tenant, error, coalesce(waits_for, ''),
       cancel_reason, options
FROM procession_job
WHERE state = 4
ORDER BY priority DESC, run_at, key
LIMIT json_extract(?1, '$[0]')
