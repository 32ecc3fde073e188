-- Per channel the oldest open subscriptions of each process id, as many as there are messages.
SELECT
    `key`, instance, element_instance, element, definition, process_id, `trigger`, name, correlation_key, once, tenant
FROM (
    SELECT
        subscription.*,
        ROW_NUMBER() OVER (PARTITION BY tenant, name, correlation_key, process_id ORDER BY `key`) AS place
    FROM procession_subscription AS subscription
    WHERE channel IN (:channels) AND taken = 0 AND `trigger` = 1
) AS waiting
WHERE place <= :count
ORDER BY `key`
