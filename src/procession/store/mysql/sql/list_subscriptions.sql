(SELECT
    `key`, instance, element_instance, element, definition, process_id, `trigger`, name, correlation_key, once, tenant
FROM procession_subscription
WHERE taken = 0 AND `key` > :after AND (:instance = 0 OR instance = :instance)
    AND (:name = '' OR name = :name) AND (:tenant = '' OR tenant = :tenant)
ORDER BY `key`
LIMIT :limit)
UNION ALL
(SELECT `key`, 0, 0, element, definition, process_id, `trigger`, name, '', 0, tenant
FROM procession_start_subscription
WHERE :instance = 0 AND `key` > :after AND (:name = '' OR name = :name) AND (:tenant = '' OR tenant = :tenant)
ORDER BY `key`
LIMIT :limit)
ORDER BY `key`
LIMIT :limit
