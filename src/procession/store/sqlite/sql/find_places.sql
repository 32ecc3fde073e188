SELECT json_group_array(json_array(key, rev, definition, status, process_id))
FROM procession_instance
WHERE key IN (SELECT value FROM json_each(:keys))
