SELECT `key`, element, definition, process_id, `trigger`, name, tenant
FROM procession_start_subscription
WHERE name IN (:names) AND tenant IN (:tenants) AND `trigger` = :trigger
ORDER BY process_id, `key`
