SELECT
    `key`, kind, state, queue, type, instance, element_instance, element, definition, -negative_priority, run_at, attempt,
    retries, lease, owner, error, created_at, args, crashes, tenant
FROM procession_job
WHERE `key` > :after
    AND (:instance = 0 OR instance = :instance)
    AND (:state = -1 OR state = :state)
    AND (:kind = -1 OR kind = :kind)
    AND (:queue = '' OR queue = :queue)
    AND (:type = '' OR type = :type)
    AND (:tenant = '' OR tenant = :tenant)
ORDER BY `key`
LIMIT :limit
