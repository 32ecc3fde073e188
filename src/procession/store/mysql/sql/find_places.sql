-- Where instances stand before their steps: the guard. Locked in key order until the commit.
SELECT `key`, rev, definition, status, process_id, tenant
FROM procession_instance
WHERE `key` IN (:keys)
ORDER BY `key`
FOR UPDATE
