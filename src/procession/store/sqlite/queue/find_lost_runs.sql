-- Running jobs with traits whose process is gone. Without the hint SQLite walks the whole table, because that
-- order needs no sorting.
SELECT key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
       coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), tenant, error, coalesce(waits_for, ''),
       cancel_reason, options
FROM procession_job INDEXED BY procession_job_running
WHERE state = 1 AND traits IS NOT NULL AND owner NOT IN (SELECT node FROM procession_node)
ORDER BY key
LIMIT json_extract(?1, '$[0]')
