-- One with limits is THROTTLED; one that ages gives its priority for a place in line (jobs.options.due_of).
UPDATE procession_job
SET
    state = CASE WHEN traits & 4 THEN 4 ELSE 0 END,
    owner = 0,
    priority = CASE WHEN traits & 68 = 64 THEN 0 ELSE priority END,
    run_at = CASE
        WHEN traits & 68 = 64
            THEN max(1, run_at - coalesce(options ->> 'priority', 0) * (options ->> 'ageing_ms'))
        ELSE run_at
    END
WHERE key IN (SELECT value FROM json_each(:keys))
