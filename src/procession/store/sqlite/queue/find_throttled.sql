-- Limited jobs of a queue and priority that are due and in line.
SELECT key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, owner, created_at, instance,
       coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), tenant, error, coalesce(waits_for, ''),
       cancel_reason, options
FROM procession_job
WHERE queue = json_extract(?1, '$[0].queue') AND priority = ?2 AND state = 4 AND waits_for IS NULL AND run_at <= ?4
    AND type NOT IN (
        SELECT name FROM procession_pause WHERE kind = 1
        UNION ALL
        SELECT value FROM json_each(?1, '$[0].strangers')
    )
ORDER BY run_at, key
LIMIT ?3
