SELECT
    key, instance, element_instance, element, definition, process_id, "trigger", name, correlation_key, once, tenant
FROM procession_subscription
WHERE taken = 0 AND (:name = '' OR name = :name)
UNION ALL
SELECT key, 0, 0, element, definition, process_id, "trigger", name, '', 0, tenant
FROM procession_start_subscription
WHERE :name = '' OR name = :name
ORDER BY key
LIMIT :limit
