-- As find_ready_jobs, of some tenants only.
SELECT
    `key`, lease, kind, queue, type, instance, element_instance, element, definition, -negative_priority, attempt, retries,
    args, tenant, crashes
FROM procession_job FORCE INDEX (ready)
WHERE state = 0 AND queue = :queue AND tenant IN (:tenants)
ORDER BY negative_priority, run_at, `key`
LIMIT :count
FOR UPDATE SKIP LOCKED
