SELECT json_group_array(json_array(key, rev))
FROM instance
WHERE key IN (SELECT value FROM json_each(:keys))
