SELECT key, element, definition, process_id, "trigger", name, tenant
FROM procession_start_subscription
WHERE process_id = :process_id AND tenant = :tenant AND "trigger" = 1
ORDER BY key
