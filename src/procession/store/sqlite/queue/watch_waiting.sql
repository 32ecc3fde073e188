-- Subscriptions of instances to one message, oldest first.
SELECT key, instance, element_instance, element, definition, process_id, "trigger", name, correlation_key, once, tenant
FROM procession_subscription
WHERE tenant = json_extract(?1, '$[0].tenant') AND name = json_extract(?1, '$[0].name') AND "trigger" = 1
    AND correlation_key = json_extract(?1, '$[0].correlation_key') AND taken = 0
ORDER BY key
LIMIT json_extract(?1, '$[0].limit')
