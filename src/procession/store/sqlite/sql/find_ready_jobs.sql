-- The next jobs of a queue in claim order, as one JSON value: a row at a time would hand the interpreter's lock over
-- for each, which costs five times as much while the event loop is busy.
SELECT json_group_array(
    json_array(
        key, lease + 1, kind, queue, type, instance, element_instance, element, definition, priority,
        attempt + 1, retries, args, tenant, coalesce(options, ''), coalesce(checkpoint, ''), crashes
    )
)
FROM (
    SELECT * FROM procession_job
    WHERE state = 0 AND queue = :queue
        AND NOT EXISTS (SELECT 1 FROM procession_pause WHERE kind = 0 AND name = :queue)
        AND type NOT IN (
            SELECT name FROM procession_pause WHERE kind = 1
            UNION ALL
            SELECT value FROM json_each(:strangers)
        )
    ORDER BY priority DESC, run_at, key
    LIMIT :count
)
