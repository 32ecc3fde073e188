-- Jobs of the queue with everything.
SELECT key, kind, state, queue, type, instance, priority, run_at, attempt, retries, crashes, lease, owner, error, created_at,
       coalesce(ended_at, 0), args, '', options, coalesce(traits, 0), coalesce(progress, 0.0),
       coalesce(progress_text, ''), checkpoint, cancel_reason, coalesce(waits_for, ''), tenant
FROM procession_job
WHERE key IN (SELECT value FROM json_each(?1))
ORDER BY key
