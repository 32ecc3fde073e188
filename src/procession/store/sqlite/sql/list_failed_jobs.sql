SELECT
    key, kind, state, queue, type, instance, element_instance, element, definition, priority, run_at, attempt,
    retries, lease, owner, error, created_at, CAST(args AS BLOB), crashes, tenant
FROM procession_job INDEXED BY procession_job_failed
WHERE state = 5 AND key > :after
    AND (:kind = -1 OR kind = :kind)
    AND (:queue = '' OR queue = :queue)
    AND (:type = '' OR type = :type)
    AND (:tenant = '' OR tenant = :tenant)
ORDER BY key
LIMIT :limit
