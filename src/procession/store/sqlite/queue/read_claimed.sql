-- What the node of a claimed job gets.
SELECT key, lease, kind, queue, type, instance, element_instance, element, definition, priority, attempt, retries, args,
       tenant, run_at, options, checkpoint, crashes
FROM procession_job
WHERE key IN (SELECT value FROM json_each(?1))
