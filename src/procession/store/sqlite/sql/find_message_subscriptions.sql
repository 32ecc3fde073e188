-- 1: model.Trigger.MESSAGE
SELECT
    key, instance, element_instance, element, definition, process_id, "trigger", name, correlation_key, once, tenant
FROM procession_subscription
WHERE name = :name AND correlation_key = :correlation_key AND tenant = :tenant AND taken = 0 AND "trigger" = 1
ORDER BY created_at, key
