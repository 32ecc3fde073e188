-- 3: model.Trigger.SIGNAL. A signal has no correlation key, whatever its subscriptions say.
SELECT
    `key`, instance, element_instance, element, definition, process_id, `trigger`, name, correlation_key, once, tenant
FROM procession_subscription
WHERE channel = :channel AND name = :name AND tenant = :tenant AND taken = 0 AND `trigger` = 3
ORDER BY `key`
