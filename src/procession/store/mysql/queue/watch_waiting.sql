-- Subscriptions of instances to one message, oldest first.
SELECT
    `key`, instance, element_instance, element, definition, process_id, `trigger`, name, correlation_key, once, tenant
FROM procession_subscription
WHERE tenant = :tenant AND name = :name AND `trigger` = 1 AND correlation_key = :correlation_key AND taken = 0
ORDER BY `key`
LIMIT :limit
