SELECT
    `key`, instance, element_instance, element, definition, process_id, kind, message, job, created_at, fingerprint, tenant
FROM procession_incident
WHERE `key` > :after
    AND (:instance = 0 OR instance = :instance)
    AND (:process_id = '' OR process_id = :process_id)
    AND (:tenant = '' OR tenant = :tenant)
ORDER BY `key`
LIMIT :limit
