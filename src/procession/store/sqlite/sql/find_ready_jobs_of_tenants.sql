-- As find_ready_jobs, of some tenants only.
SELECT json_group_array(
    json_array(
        key, lease + 1, kind, queue, type, instance, element_instance, element, definition, priority,
        attempt + 1, retries, args, tenant
    )
)
FROM (
    SELECT * FROM procession_job
    WHERE state = 0 AND queue = :queue AND tenant IN (SELECT value FROM json_each(:tenants))
    ORDER BY priority DESC, run_at, key
    LIMIT :count
)
