-- Running jobs with traits of a process.
SELECT key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
       coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), tenant, error, coalesce(waits_for, ''),
       cancel_reason, options
FROM procession_job
WHERE state = 1 AND owner = json_extract(?1, '$[0]') AND traits IS NOT NULL
ORDER BY key
